"""insta's `.snap` files: those of insta-cmd tell program, words, variables and both streams; plain ones an input file.

A plain snapshot tells no command: where it names an input file, the ways to hand that over are tried and the one that
agrees with the oracle is taken; where it names none, it is counted `no_argv`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from programsmith.miners.base import MineContext, Skip, exit_code_of, folder_of, name_of, show
from programsmith.miners.fixtures import Fixtures, ancestors, laid
from programsmith.miners.table_text import TableError, read_table
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

_STREAMS = re.compile(
    rb"success: (true|false)\nexit_code: (\d{1,3})\n----- stdout -----\n(.*)\n----- stderr -----(?:\n(.*))?", re.DOTALL
)


class Snapshots:
    """The miner."""

    name = "snapshots"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every snapshot that tells how it was made."""
        fixtures = Fixtures(tree, context.limits)
        for entry in tree.files(b".snap"):
            try:
                yield from _snapshot(entry, tree, fixtures, context)
            except Skip as skip:
                context.skipped[str(skip)] += 1


def _snapshot(entry: FileEntry, tree: SourceTree, fixtures: Fixtures, context: MineContext) -> Iterator[MinedCase]:
    head, body = _parts(entry, context)
    told = head.get("info")
    if isinstance(told, dict) and told.get("args") is not None:
        forms = [("", _commanded(told, entry, fixtures, context))]
        recorded = _streams(body)
    elif isinstance(head.get("input_file"), str):
        forms, recorded = _handed(head["input_file"].encode(), entry, tree), Recorded(stdout=body)
    else:
        raise Skip("no_argv")
    for template, case in forms:
        yield MinedCase(
            case=case,
            provenance=context.provenance(Snapshots.name, entry, 1),
            group=show(entry.path),
            recorded=recorded,
            template_set=f"{Snapshots.name}:{show(folder_of(entry.path))}" if template else "",
            template=template,
            source=show(entry.path),
        )


def _parts(entry: FileEntry, context: MineContext) -> tuple[dict[str, Any], bytes]:
    """The head's mapping and the body."""
    pieces = entry.content.replace(b"\r\n", b"\n").split(b"---\n", 2)
    if len(pieces) != 3 or pieces[0].strip():  # noqa: PLR2004 - nothing, head, body
        raise Skip("bad_table")
    try:
        found = read_table(FileEntry(b"head.yaml", "file", 0o644, pieces[1]), context.limits)
    except TableError as error:
        raise Skip(str(error)) from error
    head = found[0] if found and isinstance(found[0], dict) else {}
    return head, pieces[2]


def _commanded(told: dict[str, Any], entry: FileEntry, fixtures: Fixtures, context: MineContext) -> Case:
    if name_of(_text(told.get("program", ""))).removesuffix(b".exe") != context.tool.encode():
        raise Skip("other_program")
    args, env = told["args"], told.get("env") or {}
    if not isinstance(args, list) or not isinstance(env, dict):
        raise Skip("not_text")
    argv = tuple(_text(a) for a in args)
    files = fixtures.named_by(argv, ancestors(folder_of(entry.path)))
    stdin = _text(told["stdin"], nul=True) if told.get("stdin") is not None else b""
    pairs = tuple(sorted((_text(k), _text(v)) for k, v in env.items()))
    return Case(argv=argv, stdin=stdin, env=pairs, files=tuple(sorted(files.values())))


def _streams(body: bytes) -> Recorded:
    match = _STREAMS.fullmatch(body.removesuffix(b"\n"))
    if match is None:
        return Recorded()
    return Recorded(stdout=match[3], stderr=match[4] or b"", exit_code=exit_code_of(match[2]))


def _handed(path: bytes, entry: FileEntry, tree: SourceTree) -> list[tuple[str, Case]]:
    """The input as an operand, or as stdin. Raises Skip `missing_file`."""
    for base in ancestors(folder_of(entry.path)):
        found = tree.get(base + b"/" + path if base else path)
        if found is not None and found.kind == "file" and b".." not in path.split(b"/"):
            at = name_of(path)
            return [
                ("operand", Case(argv=(at,), files=(laid(found, at),))),
                ("stdin", Case(argv=(), stdin=found.content)),
            ]
    raise Skip("missing_file")


def _text(value: Any, *, nul: bool = False) -> bytes:
    if not isinstance(value, str) or ("\0" in value and not nul):
        raise Skip("not_text")
    return value.encode("utf-8")
