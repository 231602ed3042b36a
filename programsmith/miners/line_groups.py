"""Groups of lines: a program, its input, its outputs; blank lines and comments between them.

A group that `%%FAIL` opens is a program that must be refused, followed by one line of message. The file does not say
how the program is handed over: templates are tried, and outputs are JSON values, so they are compared as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from programsmith.miners.base import MineContext, folder_of, show
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

_TEMPLATES: tuple[tuple[str, tuple[bytes, ...]], ...] = (("compact", (b"-c",)), ("plain", ()))
_FOREIGN = (b">>>", b"<<<", b">=", b"$ ", b"@test", b"test_")
_MIN_GROUPS = 5
_MIN_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class Group:
    """One test: where it starts, its program, and what the file says of it."""

    line: int
    program: bytes
    subject: bytes | None
    outputs: tuple[bytes, ...]
    fails: bool


class LineGroups:
    """The miner."""

    name = "line_groups"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every `.test` file that reads as line groups."""
        for entry in tree.files(b".test"):
            groups = list(read_groups(entry.content))
            whole = [g for g in groups if g.fails or g.subject is not None]
            if len(groups) < _MIN_GROUPS or len(whole) < _MIN_SHARE * len(groups) or _is_foreign(entry.content):
                context.skipped["not_line_groups"] += 1
                continue
            context.skipped["incomplete_group"] += len(groups) - len(whole)
            for group in whole:
                yield from self._cases(entry, group, context)

    def _cases(self, entry: FileEntry, group: Group, context: MineContext) -> Iterator[MinedCase]:
        where = f"{show(entry.path)}:{group.line}"
        recorded = Recorded(fails=True) if group.fails else Recorded(stdout=_lines(group.outputs), match="json")
        stdin = b"" if group.subject is None else group.subject + b"\n"
        for template, prefix in _TEMPLATES:
            yield MinedCase(
                case=Case(argv=(*prefix, group.program), stdin=stdin),
                provenance=context.provenance(self.name, entry, group.line),
                group=where,
                recorded=recorded,
                template_set=f"{self.name}:{show(folder_of(entry.path))}",
                template=template,
                source=where,
            )


def read_groups(text: bytes) -> Iterator[Group]:
    """The groups of a file, in order, as the original runner reads them."""
    lines = [(n, ln.removesuffix(b"\r")) for n, ln in enumerate(text.split(b"\n"), 1)]
    rest = iter(lines)
    fails = False
    for number, line in rest:
        if _is_blank(line):
            continue
        if line.startswith(b"%%FAIL"):
            fails = True
            continue
        if fails:
            yield _failing(rest, number, line)
            fails = False
            continue
        _, subject = next(rest, (0, b""))
        outputs = _until_blank(rest) if not _is_empty(subject) else ()
        yield Group(number, line, None if _is_empty(subject) else subject, tuple(outputs), fails=False)


def _failing(rest: Iterator[tuple[int, bytes]], number: int, line: bytes) -> Group:
    """The message may run over several lines: all up to the blank one belong to it."""
    _until_blank(rest)
    return Group(number, line, None, (), fails=True)


def _until_blank(rest: Iterator[tuple[int, bytes]]) -> list[bytes]:
    out = []
    for _, line in rest:
        if _is_blank(line):
            break
        out.append(line)
    return out


def _is_blank(line: bytes) -> bool:
    return _is_empty(line) or line.lstrip(b" \t").startswith(b"#")


def _is_empty(line: bytes) -> bool:
    return not line.strip(b" \t")


def _is_foreign(text: bytes) -> bool:
    """Other formats use the same suffix; their markers at line starts give them away."""
    return any(line.startswith(_FOREIGN) for line in text.split(b"\n"))


def _lines(outputs: tuple[bytes, ...]) -> bytes:
    return b"".join(o + b"\n" for o in outputs)
