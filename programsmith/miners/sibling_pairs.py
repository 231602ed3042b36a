"""Pairs of files that share a stem: an input, and what should come out. The invocation is a template of the folder.

Per-stem files may add options, a recorded stderr or an exit code. Which template is meant is settled by agreement
with the oracle; a stem whose input cannot be told from its other files is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from programsmith.miners.base import MineContext, Skip, exit_code_of, folder_of, name_of, show
from programsmith.miners.fixtures import Fixtures, ancestors, laid
from programsmith.miners.shell import simple_command, tool_lookup, words
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

_EXPECTED = (b".out", b".expected", b".golden", b".right", b".exp", b".ok", b".stdout")
_OPTIONS = (b".args", b".opts", b".options", b".flags")
_COMMAND = (b".cmd",)
_STDERR = (b".err", b".stderr", b".experr")
_CODE = (b".code", b".exit", b".status")
_INPUT = (b".in", b".input", b".stdin", b".txt")
_NOT_INPUT = _EXPECTED + _OPTIONS + _COMMAND + _STDERR + _CODE
_MIN_PAIRS = 2


class SiblingPairs:
    """The miner."""

    name = "sibling_pairs"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every stem that has an expected side, in folders that hold at least two."""
        fixtures = Fixtures(tree, context.limits)
        for folder, stems in sorted(_stems(tree).items()):
            pairs = {s: p for s, p in stems.items() if any(x in p for x in _EXPECTED) and len(p) > 1}
            if len(pairs) < _MIN_PAIRS:
                context.skipped["lone_pair"] += len(pairs)
                continue
            for _, parts in sorted(pairs.items()):
                try:
                    yield from self._pair(folder, parts, fixtures, context)
                except Skip as skip:
                    context.skipped[str(skip)] += 1

    def _pair(
        self, folder: bytes, parts: dict[bytes, FileEntry], fixtures: Fixtures, context: MineContext
    ) -> Iterator[MinedCase]:
        expected = next(parts[x] for x in _EXPECTED if x in parts)
        suffix = next(x for x in _EXPECTED if x in parts)
        stem = show(expected.path.removesuffix(suffix))
        command = _first(parts, _COMMAND)
        if command is not None:
            forms, subject = [("command", self._commanded(command, folder, fixtures, context))], command
        else:
            subject = _subject(parts)
            options = _first(parts, _OPTIONS)
            argv = words(options.content, tool_lookup(context.tool, {})) if options else ()
            forms = _templates(subject, argv, fixtures.named_by(argv, ancestors(folder)))
            fixtures.check(forms[-1][1].files)
        for template, case in forms:
            yield MinedCase(
                case=case,
                provenance=context.provenance(self.name, subject),
                group=stem,
                recorded=_recorded(expected, parts),
                template_set=f"{self.name}:{show(folder)}:{show(suffix)}" if len(forms) > 1 else "",
                template=template,
                source=stem,
            )

    def _commanded(self, command: FileEntry, folder: bytes, fixtures: Fixtures, context: MineContext) -> Case:
        call = simple_command(command.content, context.tool, tool_lookup(context.tool, {}))
        bases = ancestors(folder)
        stdin = fixtures.read(call.stdin_path, bases) if call.stdin_path is not None else call.stdin or b""
        files = fixtures.named_by(call.argv, bases)
        return Case(argv=call.argv, stdin=stdin, env=call.env, files=tuple(sorted(files.values())))


def _templates(subject: FileEntry, argv: tuple[bytes, ...], named: dict[bytes, FileEntry]) -> list[tuple[str, Case]]:
    """The ways in which the input may be handed over; the options settle it where they name it."""
    at = name_of(subject.path)
    with_input = tuple(sorted({**named, at: laid(subject, at)}.values()))
    if at in argv:
        return [("named", Case(argv=argv, files=with_input))]
    return [
        ("stdin", Case(argv=argv, stdin=subject.content, files=tuple(sorted(named.values())))),
        ("operand", Case(argv=(*argv, at), files=with_input)),
    ]


def _stems(tree: SourceTree) -> dict[bytes, dict[bytes, dict[bytes, FileEntry]]]:
    """Files by folder, stem and suffix."""
    found: dict[bytes, dict[bytes, dict[bytes, FileEntry]]] = {}
    for entry in tree.files():
        name = name_of(entry.path)
        stem, dot, suffix = name.rpartition(b".")
        if stem and dot:
            found.setdefault(folder_of(entry.path), {}).setdefault(stem, {})[b"." + suffix] = entry
    return found


def _subject(parts: dict[bytes, FileEntry]) -> FileEntry:
    """The input among the files of a stem: the known suffix, else the only one left. Raises Skip."""
    known = _first(parts, _INPUT)
    left = [e for s, e in sorted(parts.items()) if s not in _NOT_INPUT]
    if known is not None:
        return known
    if len(left) != 1:
        raise Skip("ambiguous_input")
    return left[0]


def _recorded(expected: FileEntry, parts: dict[bytes, FileEntry]) -> Recorded:
    err, code = _first(parts, _STDERR), _first(parts, _CODE)
    return Recorded(
        stdout=expected.content,
        stderr=err.content if err else None,
        exit_code=exit_code_of(code.content) if code else None,
    )


def _first(parts: dict[bytes, FileEntry], suffixes: tuple[bytes, ...]) -> FileEntry | None:
    return next((parts[s] for s in suffixes if s in parts), None)
