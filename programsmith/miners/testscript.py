"""Go's testscript: a txtar archive whose comment is a script, whose files are what the script finds.

`exec tool …` or the tool's own name calls it, `!` says that it fails, `stdin` feeds the next call. What came out is
said by `stdout`, `stderr` and `cmp stdout file`. A call that names what an earlier one wrote is counted `chained`, a
line under a condition `conditional`; what another command names counts as written by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

from programsmith.miners.base import MineContext, Skip, folder_of, show
from programsmith.miners.fixtures import Fixtures
from programsmith.miners.invocation import own_file
from programsmith.miners.shell import MAX_LINE
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

_MARK = re.compile(rb"-- (.+) --[ \t]*")
_OUTPUTS = (b"-o", b"--output", b"-output", b"-out", b"--out")
_SUFFIXES = (b".txt", b".txtar")


@dataclass(slots=True)
class _Call:
    line: int
    case: Case
    recorded: Recorded


@dataclass(slots=True)
class _State:
    """What the script is at: files that lie there, variables, what feeds the next call, what was written by calls."""

    files: dict[bytes, FileEntry]
    env: dict[bytes, bytes] = field(default_factory=dict)
    stdin: bytes = b""
    written: set[bytes] = field(default_factory=set)
    lost: bool = False


class TestScript:
    """The miner."""

    name = "testscript"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every archive below a folder called testdata or of suffix `.txtar` that calls the tool."""
        fixtures = Fixtures(tree, context.limits)
        for entry in tree.files():
            if not entry.path.endswith(_SUFFIXES) or len(entry.content) > context.limits.table_bytes:
                continue
            if b"testdata" not in entry.path.split(b"/") and not entry.path.endswith(b".txtar"):
                continue
            script, files = read_archive(entry.content)
            if _calls(script, context.tool.encode()):
                yield from _Script(context, fixtures, entry).cases(script, files)


def read_archive(text: bytes) -> tuple[list[bytes], dict[bytes, bytes]]:
    """The lines of the comment, and the files by name."""
    script: list[bytes] = []
    files: dict[bytes, list[bytes]] = {}
    into = script
    for line in text.splitlines(keepends=True):
        mark = _MARK.fullmatch(line.rstrip(b"\r\n"))
        if mark:
            into = files.setdefault(mark[1].strip(), [])
        else:
            into.append(line)
    return [line.rstrip(b"\r\n") for line in script], {name: b"".join(lines) for name, lines in files.items()}


def _calls(script: list[bytes], tool: bytes) -> bool:
    starts = (tool + b" ", b"exec " + tool, b"! " + tool + b" ", b"! exec " + tool, b"? exec " + tool)
    return any(line.startswith(starts) for line in script)


def split_words(  # noqa: C901 - one branch per sign of the language
    line: bytes, env: dict[bytes, bytes]
) -> list[bytes]:
    """Words of a line: blanks part them, single quotes hold them together, `''` inside is one, `$NAME` a value."""
    if len(line) > MAX_LINE:
        raise Skip("line_too_long")
    out: list[bytes] = []
    word, quoted, started, at = b"", False, False, 0
    while at < len(line):
        char = line[at : at + 1]
        at += 1
        if quoted and char == b"'" and line[at : at + 1] == b"'":
            word, at = word + b"'", at + 1
        elif char == b"'":
            quoted, started = not quoted, True
        elif not quoted and char in (b" ", b"\t", b"#"):
            out += [word] if started else []
            word, started = b"", False
            if char == b"#":
                break
        elif not quoted and char == b"$":
            name = re.compile(rb"\{(\w+)\}|(\w+)").match(line, at)
            value = env.get(name[1] or name[2]) if name else None
            if name is None or value is None:
                raise Skip("not_simple")
            word, started, at = word + value, True, name.end()
        else:
            word, started = word + char, True
    if quoted:
        raise Skip("not_simple")
    return [*out, word] if started else out


class _Script:
    def __init__(self, context: MineContext, fixtures: Fixtures, entry: FileEntry) -> None:
        self._context, self._fixtures, self._entry = context, fixtures, entry
        self._tool = context.tool.encode()
        self._last: _Call | None = None

    def cases(self, script: list[bytes], files: dict[bytes, bytes]) -> Iterator[MinedCase]:
        """The cases of one script, in order."""
        try:
            state = _State({name: own_file(name, body) for name, body in files.items()})
        except Skip as skip:
            self._context.skipped[str(skip)] += 1
            return
        found: list[_Call] = []
        compared = {words[-1] for line in script if (words := line.split()) and words[0] == b"cmp"}
        for number, line in enumerate(script, 1):
            try:
                self._line(number, line, state, compared, found)
            except Skip as skip:
                self._last = None
                self._context.skipped[str(skip)] += 1
        for call in found:
            yield MinedCase(
                case=call.case,
                provenance=self._context.provenance(TestScript.name, self._entry, call.line),
                group=f"{show(self._entry.path)}:{call.line}",
                recorded=call.recorded,
            )

    def _line(self, number: int, line: bytes, state: _State, compared: set[bytes], found: list[_Call]) -> None:
        conditional = line.startswith(b"[")
        if not line.strip() or line.lstrip().startswith(b"#"):
            return
        if conditional:
            raise Skip("conditional")
        words = split_words(line, state.env)
        sign = words.pop(0) if words[:1] in ([b"!"], [b"?"]) else b""
        if words[:1] == [b"exec"]:
            words.pop(0)
        elif words and words[0] in (b"stdout", b"stderr", b"cmp"):
            self._checked(words, sign, state)
            return
        if words[:1] == [self._tool]:
            self._last = self._call(number, words[1:], sign, state, compared)
            found.append(self._last)
        else:
            self._other(words, state)

    def _other(self, words: list[bytes], state: _State) -> None:
        """Any other command: what it names, it may have written; where it goes elsewhere, nothing is known any more."""
        if words[:1] == [b"stdin"] and len(words) > 1 and words[1] in state.files:
            state.stdin = state.files[words[1]].content
        elif words[:1] == [b"env"]:
            state.env.update((w.partition(b"=")[0], w.partition(b"=")[2]) for w in words[1:] if b"=" in w)
        else:
            state.written |= {word for word in words[1:] if not word.startswith(b"-")}
            state.lost = state.lost or words[:1] == [b"cd"]

    def _call(self, number: int, argv: list[bytes], sign: bytes, state: _State, compared: set[bytes]) -> _Call:
        stdin, state.stdin = state.stdin, b""
        used = {w.partition(b"=")[2] or w for w in argv}
        chained = state.lost or used & state.written
        state.written |= {value for flag, value in pairwise(argv) if flag in _OUTPUTS}
        if chained:
            raise Skip("chained")
        files = {n: f for n, f in state.files.items() if n not in compared or n in used}
        named = self._fixtures.named_by([w for w in argv if w not in files], (folder_of(self._entry.path),))
        files = {**named, **files}
        self._fixtures.check(files.values())
        env = tuple(sorted(state.env.items()))
        case = Case(argv=tuple(argv), stdin=stdin, env=env, files=tuple(sorted(files.values())))
        fails = None if sign == b"?" else sign == b"!"
        return _Call(number, case, Recorded(fails=fails))

    def _checked(self, words: list[bytes], sign: bytes, state: _State) -> None:
        """What the script says of the last call's streams."""
        if self._last is None or sign:
            return
        recorded = self._last.recorded
        if words[0] == b"cmp" and len(words) > 2 and words[1] in (b"stdout", b"stderr") and words[2] in state.files:  # noqa: PLR2004
            said = state.files[words[2]].content
            out = words[1] == b"stdout"
            self._last.recorded = replace(recorded, stdout=said) if out else replace(recorded, stderr=said)
        elif words[0] == b"stdout" and len(words) > 1 and recorded.stdout is None:
            self._last.recorded = replace(recorded, stdout=b"(?m)" + words[-1], match="search")
