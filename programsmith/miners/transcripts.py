"""Transcripts of a shell: cram (`.t`) and tesh (`.tesh`). Commands with what they print, one shell per file.

Later commands need what earlier ones made, so a file is played in the sandbox with the tool as a stub: each call comes
out with the files that lay there. Where the tool's own output went into a file or a variable, what follows is counted
`chained`, for the stub has no output to give.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from programsmith.miners.base import MineContext, Skip, folder_of, name_of, show
from programsmith.miners.fixtures import Fixtures
from programsmith.miners.patterns import globbed, literal, whole
from programsmith.miners.shell import MAX_LINE, unescape
from programsmith.miners.sourced_tests import is_plain, staged_case
from programsmith.miners.staged import SOURCE, Call, Stage, calls, prelude, quoted
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

_CODE = re.compile(rb"\[(\d{1,3})\]")
_TESH = re.compile(rb"(\d{0,3})\$ (.*)", re.DOTALL)
_MARK = re.compile(rb"(.*) \((re|glob|esc|no-eol)\)", re.DOTALL)
_KEEPS = (b">", b"$(", b"`", b"=$")
_PARTS = re.compile(rb";|&&|\|\||\n")
_FOLDER_BYTES, _FOLDER_FILES = 8 << 20, 1500


@dataclass(slots=True)
class Step:
    """One command of a transcript: its line, its text, what it prints, feeds and ends with."""

    line: int
    command: bytes
    output: list[bytes] = field(default_factory=list)
    errors: list[bytes] = field(default_factory=list)
    fed: list[bytes] = field(default_factory=list)
    code: int = 0


class Transcripts:
    """The miner."""

    name = "transcripts"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every transcript that calls the tool."""
        readers = {b".t": read_cram, b".tesh": read_tesh}
        fixtures = Fixtures(tree, context.limits)
        for suffix, read in readers.items():
            for entry in tree.files(suffix):
                if len(entry.content) > context.limits.table_bytes:
                    context.skipped["page_too_large"] += 1
                    continue
                steps = read(entry.content)
                if not any(context.tool.encode() in step.command for step in steps):
                    continue
                if context.stage is None:
                    context.skipped["no_stage"] += 1
                    continue
                player = _Player(context, context.stage, fixtures, suffix == b".t")
                try:
                    yield from player.file(tree, entry, steps)
                except Skip as skip:
                    context.skipped[str(skip)] += 1


def read_cram(text: bytes) -> list[Step]:
    """Commands are indented by two blanks and `$ `, what goes on by `> `; what else is indented is output."""
    steps: list[Step] = []
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.startswith(b"  $ "):
            steps.append(Step(number, line[4:]))
        elif line.startswith(b"  > ") and steps and not steps[-1].output and len(steps[-1].command) < MAX_LINE:
            steps[-1].command += b"\n" + line[4:]
        elif line.startswith(b"  ") and steps:
            code = _CODE.fullmatch(line[2:])
            if code:
                steps[-1].code = int(code[1])
            else:
                steps[-1].output.append(line[2:])
    return steps


def read_tesh(text: bytes) -> list[Step]:
    """Commands at the margin after `$ ` or `N$ `, output after `>`, errors after `2>`, stdin after `<`."""
    steps: list[Step] = []
    for number, line in enumerate(text.split(b"\n"), 1):
        start = _TESH.fullmatch(line)
        if start:
            steps.append(Step(number, start[2], code=int(start[1] or b"0")))
        elif steps and line.startswith(b"2>"):
            steps[-1].errors.append(line[2:])
        elif steps and line.startswith((b">", b"<")):
            (steps[-1].output if line[:1] == b">" else steps[-1].fed).append(line[1:])
    return steps


@dataclass(frozen=True, slots=True)
class _Player:
    context: MineContext
    stage: Stage
    fixtures: Fixtures
    merged: bool

    def file(self, tree: SourceTree, entry: FileEntry, steps: list[Step]) -> Iterator[MinedCase]:
        """Cases of one transcript, in order."""
        folder = f"{SOURCE}/".encode() + folder_of(entry.path)
        tool = self.context.tool.encode()
        variables = {b"TESTDIR": folder, b"CRAMTMP": b"/work/run", b"TMPDIR": b"/work/run"}
        script = prelude([tool], variables) + b"shopt -s expand_aliases\n"
        for number, step in enumerate(steps):
            fed = b"".join(line + b"\n" for line in step.fed)
            source = b"<<<" + quoted(fed.removesuffix(b"\n")) if fed else b"</dev/null"
            script += b"__step=%d\neval %s %s\n" % (number, quoted(plain_name(step.command, tool)), source)
        noted = self.stage.run(script, (), _beside(tree, entry, tool))
        by_step: dict[int, list[Call]] = {}
        for call in calls(noted, self.context.limits, self._count):
            by_step.setdefault(call.step, []).append(call)
        yield from self._cases(entry, steps, by_step)

    def _count(self, word: str) -> None:
        self.context.skipped[word] += 1

    def _cases(self, entry: FileEntry, steps: list[Step], by_step: dict[int, list[Call]]) -> Iterator[MinedCase]:
        chained = False
        for number, made in sorted((n, made) for n, made in by_step.items() if n < len(steps)):
            step = steps[number]
            try:
                yield MinedCase(
                    case=self._one(made, chained=chained),
                    provenance=self.context.provenance(Transcripts.name, entry, step.line),
                    group=f"{show(entry.path)}:{step.line}",
                    recorded=self._recorded(step) if is_plain(step.command) else Recorded(),
                )
            except Skip as skip:
                self._count(str(skip))
            chained = chained or _keeps(step.command, self.context.tool.encode())

    def _one(self, made: list[Call], *, chained: bool) -> Case:
        if chained or len(made) != 1:
            raise Skip("chained" if chained else "several_calls")
        return staged_case(made[0], self.fixtures, made[0].argv[1:])

    def _recorded(self, step: Step) -> Recorded:
        lines = [_line(line) for line in step.output] if self.merged else None
        if lines is None:
            text = b"".join(line + b"\n" for line in step.output)
            errors = b"".join(line + b"\n" for line in step.errors) if step.errors else None
            return Recorded(stdout=text, stderr=errors, exit_code=step.code)
        return Recorded(stdout=whole(lines), exit_code=step.code, match="whole", merged=True)


def _keeps(command: bytes, tool: bytes) -> bool:
    """Whether the tool's own output goes into a file or a variable, as far as the text tells."""
    parts = [part for part in _PARTS.split(command) if tool in part and not is_plain(part)]
    return any(keep in part for part in parts for keep in _KEEPS)


def _line(line: bytes) -> bytes:
    """The pattern of a line of cram's output, by the mark at its end."""
    mark = _MARK.fullmatch(line)
    if mark is None or mark[2] == b"no-eol":
        return literal(mark[1] if mark else line)
    if mark[2] == b"esc":
        return literal(unescape(mark[1].replace(b'"', b'\\"')))
    return mark[1] if mark[2] == b"re" else globbed(mark[1])


def plain_name(text: bytes, tool: bytes) -> bytes:
    """The text with paths that end in the tool's name cut to the name, so that the stub is what they call."""
    return re.sub(rb"(?<![\w./$}{-])[\w./${}-]+/" + re.escape(tool) + rb"(?![\w./-])", tool, text)


def _beside(tree: SourceTree, entry: FileEntry, tool: bytes) -> list[FileEntry]:
    """The transcript's folder, its scripts with the tool by name; nothing where that is too large."""
    found = [e for e in tree.below(folder_of(entry.path)) if e.kind == "file"]
    if len(found) > _FOLDER_FILES or sum(len(e.content) for e in found) > _FOLDER_BYTES:
        return []
    return [
        replace(e, content=plain_name(e.content, tool)) if name_of(e.path).endswith((b".sh", b".bash")) else e
        for e in found
    ]
