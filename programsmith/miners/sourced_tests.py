"""Shell scripts that call `testing "name" "command" "result" "infile" "stdin"`, or `testcmd` without the tool's name.

Such a script is not parsed: it is sourced in the sandbox with stubs for the functions of its harness. Each test's
command is evaluated there with the tool as a stub, in the files that the script has made by then. Texts are decoded as
`echo -e` does. A tree with scripts for several commands tests a program of many applets: the script's name goes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from programsmith.miners.base import MineContext, Skip, folder_of, name_of, show
from programsmith.miners.fixtures import Fixtures
from programsmith.miners.staged import SOURCE, Call, Stage, calls, prelude, quoted
from programsmith.payload.verifier.environment import WORK
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

_SUFFIXES = (b".test", b".tests")
_CALLS = (b'testing "', b"testing '", b'testcmd "', b"testcmd '")
_MIN_CALLS = 3
_TOLD, _TOLD_PARTS = re.compile(rb"(\d{1,6})\.test"), 4  # line, name, command, and what follows the last NUL
_FOLDER_BYTES, _FOLDER_FILES = 16 << 20, 4000
_OPERATORS = frozenset(b"|;&<>()`")
_STUBS = rb"""testing() {
  local i line=0
  [ $# -eq 5 ] || return 0
  __step=$((__step+1))
  for i in "${!BASH_SOURCE[@]}"; do [ "${BASH_SOURCE[i]}" = "$__file" ] && { line=${BASH_LINENO[i-1]}; break; }; done
  builtin printf '%s\0' "$line" "$1" "$2" >"$__out/$__step.test"
  builtin echo -ne "$3" >"$__out/$__step.want"
  [ -z "$4" ] || builtin echo -ne "$4" >input
  if [ -n "$5" ]; then builtin echo -ne "$5" | builtin eval -- "$2"; else (builtin eval -- "$2") </dev/null; fi
  command rm -f input
}
testcmd() { testing "$1" "\"\$C\" $2" "$3" "$4" "$5"; }
toyonly() { "$@"; }
"""
_NOTHING = (b"optional", b"skipnot", b"txpect", b"utf8locale", b"mkchroot", b"dochroot", b"setupmount", b"unsetupmount")


class SourcedTests:
    """The miner."""

    name = "sourced_tests"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every script that calls `testing` at least three times."""
        scripts = [e for e in tree.files() if e.path.endswith(_SUFFIXES) and _is_one(e.content)]
        applets = len({_stem(e.path) for e in scripts}) > 1
        fixtures = Fixtures(tree, context.limits)
        for script in scripts:
            if context.stage is None:
                context.skipped["no_stage"] += 1
                continue
            reader = _Reader(context, context.stage, fixtures, applets=applets)
            try:
                yield from reader.script(script, _beside(tree, script))
            except Skip as skip:
                context.skipped[str(skip)] += 1


@dataclass(frozen=True, slots=True)
class _Reader:
    context: MineContext
    stage: Stage
    fixtures: Fixtures
    applets: bool

    def script(self, script: FileEntry, beside: list[FileEntry]) -> Iterator[MinedCase]:
        """Cases of one script; a test that calls the tool never or more than once is counted."""
        stem, place = _stem(script.path), SOURCE.encode() + b"/"
        folder = place + folder_of(script.path)
        variables = {b"C": stem, b"CMDNAME": stem, b"FILES": folder + b"/files", b"TESTDIR": folder, b"FAILCOUNT": b"0"}
        names = sorted({stem, self.context.tool.encode()})
        nothing = b"".join(b"%s() { :; }\n" % n for n in _NOTHING)
        start = prelude(names, {**variables, b"__file": place + script.path})
        noted = self.stage.run(start + _STUBS + nothing + b". %s\n" % quoted(place + script.path), (), beside)
        by_step: dict[int, list[Call]] = {}
        for call in calls(noted, self.context.limits, self._count):
            by_step.setdefault(call.step, []).append(call)
        for step in sorted(int(m[1]) for p in noted if (m := _TOLD.fullmatch(p))):
            try:
                yield self._test(script, step, noted, by_step.get(step, []))
            except Skip as skip:
                self._count(str(skip))

    def _count(self, word: str) -> None:
        self.context.skipped[word] += 1

    def _test(self, script: FileEntry, step: int, noted: dict[bytes, FileEntry], made: list[Call]) -> MinedCase:
        if len(made) != 1:
            raise Skip("several_calls" if made else "no_call")
        told = noted[b"%d.test" % step].content.split(b"\0")
        if len(told) < _TOLD_PARTS:
            raise Skip("script_limit")
        line, _, command = told[:3]
        want = noted.get(b"%d.want" % step)
        alone = is_plain(command) and want is not None
        return MinedCase(
            case=self._case(made[0], _stem(script.path)),
            provenance=self.context.provenance(SourcedTests.name, script, int(line) if line.isdigit() else 0),
            group=f"{show(script.path)}:{step}",
            recorded=Recorded(stdout=want.content) if alone and want is not None else Recorded(),
        )

    def _case(self, call: Call, stem: bytes) -> Case:
        """The call as a case; the applet's name goes first."""
        applet = self.applets and call.argv[0] == stem != self.context.tool.encode()
        return staged_case(call, self.fixtures, call.argv if applet else call.argv[1:])


def staged_case(call: Call, fixtures: Fixtures, argv: tuple[bytes, ...]) -> Case:
    """A case of a played call: files of the tree that its words name are laid at the same path. Raises Skip."""
    place = SOURCE.encode() + b"/"
    words = tuple(word.replace(place, b"") for word in argv)
    moved = [word for old, word in zip(argv, words, strict=True) if old != word]
    named = {p: e for p, e in fixtures.named_by(moved, (b"",)).items() if any(p in word for word in moved)}
    inside = (*words, call.stdin, *(value for _, value in call.env))
    if any(WORK.encode() + b"/" in text for text in inside):
        raise Skip("outside_path")
    files = {f.path: f for f in call.files} | named
    return Case(argv=words, stdin=call.stdin, env=call.env, files=tuple(sorted(files.values())))


def is_plain(command: bytes) -> bool:
    """Whether a command line is one command whose output goes where it goes, `2>/dev/null` aside."""
    quote = 0
    text = iter(command.replace(b"2>/dev/null", b""))
    for char in text:
        if char == ord("\\") and quote != ord("'"):
            next(text, None)
        elif quote:
            quote = 0 if char == quote else quote
            if quote == ord('"') and char == ord("`"):
                return False
        elif char in b"'\"":
            quote = char
        elif char in _OPERATORS:
            return False
    return b"$(" not in command


def _is_one(text: bytes) -> bool:
    lines = [line for line in text.split(b"\n") if not line.lstrip().startswith(b"#")]
    return sum(any(call in line for call in _CALLS) for line in lines) >= _MIN_CALLS


def _stem(path: bytes) -> bytes:
    return name_of(path).rpartition(b".")[0]


def _beside(tree: SourceTree, script: FileEntry) -> list[FileEntry]:
    """What the script may read: its folder, as far as that is not too large."""
    folder = [replace(e, mode=0o755 if e.mode & 0o100 else 0o644) for e in tree.below(folder_of(script.path))]
    folder = [e for e in folder if e.kind == "file"]
    if len(folder) > _FOLDER_FILES or sum(len(e.content) for e in folder) > _FOLDER_BYTES:
        return [script]
    return folder
