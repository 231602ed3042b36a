"""Shell text of a repository played in a sandbox in which the tool is a stub: every call of it comes out as a case.

In: a script, the files that it may read, the names under which it calls the tool. Out: the calls in order, each with
its words, its stdin, its own variables and the files that lay in its directory then. The shell itself does quoting,
loops, pipes and set-up; nothing of it runs outside the sandbox, and the tool never runs. A stub prints nothing, so
what a script makes from the tool's output is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from programsmith.errors import InfraError
from programsmith.miners.base import MineLimits, Skip
from programsmith.payload.verifier.environment import BASE_ENV, WORK
from programsmith.payload.verifier.launcher import Request, Result
from programsmith.payload.verifier.model import FileEntry, Limits

SHELL = "/usr/bin/bash"
SOURCE = f"{WORK}/src"
_OUT, _RUN = f"{WORK}/out", f"{WORK}/run"
_MAX_CALLS = 4000
_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_.+-]*")
_CALLED = re.compile(rb"(\d{1,6})\.(\d)\.argv")
_OWN = frozenset({b"_", b"PWD", b"OLDPWD", b"SHLVL", b"BASH_ENV", b"BASHOPTS", b"SHELLOPTS"})
_NOTE = rb"""__step=0 __base=$(export -p)
__note() {
  local d i=0
  set -C
  while ! { : >"$__out/$__step.$i.argv"; } 2>/dev/null; do i=$((i+1)); [ $i -lt 9 ] || { set +C; return 0; }; done
  set +C
  d="$__out/$__step.$i"
  builtin printf '%s\0' "$@" >"$d.argv"
  [ /dev/stdin -ef /dev/null ] || command cat >"$d.stdin" 2>/dev/null
  builtin printf '%s' "$PWD" >"$d.cwd"
  [ "$(export -p)" = "$__base" ] || command env -0 >"$d.env"
  compgen -G '*' >/dev/null || compgen -G '.[!.]*' >/dev/null && command cp -R . "$d.files" 2>/dev/null
  return 0
}
"""

Play = Callable[[Request], Result]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The sandbox in which scripts are played: a way to launch, and what one script may use. Raises InfraError."""

    play: Play
    limits: Limits

    def run(self, script: bytes, files: Iterable[FileEntry], source: Iterable[FileEntry]) -> dict[bytes, FileEntry]:
        """What the script noted, by path below its out folder. Raises Skip `script_limit`, InfraError."""
        laid = [
            FileEntry(b"out", "dir", 0o755),
            FileEntry(b"run", "dir", 0o755),
            FileEntry(b"script", "file", 0o644, script),
            *(FileEntry(b"run/" + f.path, f.kind, f.mode, f.content) for f in files),
            *(FileEntry(b"src/" + f.path, f.kind, f.mode, f.content) for f in source),
        ]
        result = self.play(
            Request(
                program=SHELL,
                argv=(b"bash", WORK.encode() + b"/script"),
                env=BASE_ENV,
                limits=self.limits,
                files=tuple(laid),
            )
        )
        if result.fault is not None:
            raise InfraError(f"a test script in the sandbox: {result.fault}; run again to resume")
        if result.files is None or not result.started:
            raise Skip("script_limit")
        return {f.path[4:]: f for f in result.files if f.path.startswith(b"out/")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of the tool. `step` is the number of the test that it belongs to; `argv[0]` the name that was called."""

    step: int
    argv: tuple[bytes, ...]
    stdin: bytes
    env: tuple[tuple[bytes, bytes], ...]
    files: tuple[FileEntry, ...]


def prelude(names: Sequence[bytes], variables: Mapping[bytes, bytes]) -> bytes:
    """Shell text that makes every name a stub, and sets variables. Raises Skip `odd_name`."""
    if not all(_NAME.fullmatch(n) for n in (*names, *variables)):
        raise Skip("odd_name")
    stubs = b"".join(b'%s() { __note %s "$@"; }\n' % (n, n) for n in names)
    values = b"".join(b"%s=%s\n" % (n, quoted(v)) for n, v in variables.items())
    return (
        b"__out=%s\n" % _OUT.encode()
        + _NOTE
        + stubs
        + values
        + b"cd %s\nexec </dev/null >/dev/null 2>&1\n" % _RUN.encode()
    )


def quoted(text: bytes) -> bytes:
    """The text as one word of a shell."""
    return b"'" + text.replace(b"'", b"'\\''") + b"'"


def calls(noted: Mapping[bytes, FileEntry], limits: MineLimits, skipped: Callable[[str], None]) -> list[Call]:
    """The calls that a script noted, in order; what is no case is counted."""
    folders = sorted({(int(m[1]), int(m[2])) for p in noted if (m := _CALLED.fullmatch(p))})
    found = []
    for step, number in folders[:_MAX_CALLS]:
        try:
            found.append(_call(noted, step, number, limits))
        except Skip as skip:
            skipped(str(skip))
    return found


def _call(noted: Mapping[bytes, FileEntry], step: int, number: int, limits: MineLimits) -> Call:
    at = b"%d.%d" % (step, number)
    argv, stdin, cwd, env = (_content(noted, at + name) for name in (b".argv", b".stdin", b".cwd", b".env"))
    place = at + b".files/"
    files = [FileEntry(p[len(place) :], f.kind, f.mode, f.content) for p, f in noted.items() if p.startswith(place)]
    if b"\0" not in argv:
        raise Skip("script_limit")
    if not (cwd + b"/").startswith(_RUN.encode() + b"/"):
        raise Skip("outside_path")
    if len(files) > limits.fixture_files or sum(len(f.content) for f in files) > limits.fixture_bytes:
        raise Skip("fixture_too_large")
    if any(f.kind == "link" and _leads_out(f.content) for f in files):
        raise Skip("link_fixture")
    return Call(
        step=step,
        argv=tuple(argv.split(b"\0")[:-1]),
        stdin=stdin,
        env=_changed(env),
        files=tuple(sorted(_plain(f) for f in files)),
    )


def _plain(entry: FileEntry) -> FileEntry:
    """With one of the modes that matter."""
    return FileEntry(
        entry.path, entry.kind, 0o755 if entry.mode & 0o100 or entry.kind == "dir" else 0o644, entry.content
    )


def _leads_out(target: bytes) -> bool:
    return target.startswith(b"/") or b".." in target.split(b"/")


def _content(noted: Mapping[bytes, FileEntry], path: bytes) -> bytes:
    """What was noted; nothing where the stub had nothing to note."""
    entry = noted.get(path)
    return entry.content if entry is not None and entry.kind == "file" else b""


def _changed(env: bytes) -> tuple[tuple[bytes, bytes], ...]:
    """Variables that the script set and that the grading environment does not have so."""
    base = dict(BASE_ENV)
    pairs = (p.partition(b"=")[::2] for p in env.split(b"\0") if b"=" in p)
    return tuple(
        sorted((n, v) for n, v in pairs if base.get(n) != v and n not in _OWN and not n.startswith(b"BASH_FUNC"))
    )
