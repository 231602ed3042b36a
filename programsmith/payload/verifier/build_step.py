"""The build: received files go in, the tree with its executable comes out, or one build word with its reason.

compile.sh runs in the build view, offline, at the place where the agent worked. Whatever it does within its limits
can only change what comes back: the tree is collected after its last process is gone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from programsmith.payload.verifier.environment import BASE_ENV, COMPILE, EXECUTABLE, SUBMISSION
from programsmith.payload.verifier.launcher import Launcher, Request, Result, Surroundings
from programsmith.payload.verifier.limits import build_limits
from programsmith.payload.verifier.magic import ELF, begins_with_code
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import Policy
from programsmith.payload.verifier.tree import LONGEST
from programsmith.payload.verifier.words import BuildWord

SHELL = "/bin/sh"
TREE_KINDS = ("dir", "file", "link")  # a build may leave fifos or sockets; they are not part of what it built
LOG_BYTES = 65536  # the end of the log, as much of it as a report keeps


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What a build left. `word` is None exactly when `tree` holds a regular, non-empty executable."""

    word: BuildWord | None
    reason: str
    tree: tuple[FileEntry, ...] = ()
    log: bytes = b""
    fault: str | None = None


def build(files: Iterable[FileEntry], policy: Policy, launcher: Launcher) -> Built:
    """Run compile.sh over the received files. A fault of the launcher is in `fault`, and is no build word."""
    laid = tuple(files)
    if not any(e.path == COMPILE.encode() and e.kind == "file" for e in laid):
        return Built(word=BuildWord.NO_BUILD, reason=f"no {COMPILE} was handed in")
    request = Request(
        program=SHELL,
        argv=(b"sh", COMPILE.encode()),
        env=build_env(),
        limits=build_limits(policy.build),
        files=laid,
        surroundings=Surroundings(cwd=SUBMISSION),
    )
    return judge_build(launcher.run(request), policy)


def build_env() -> tuple[tuple[bytes, bytes], ...]:
    """The environment of compile.sh: a case's, except that the home directory is the tree being built."""
    return tuple({**dict(BASE_ENV), b"HOME": SUBMISSION.encode()}.items())


def judge_build(result: Result, policy: Policy) -> Built:
    """What the launch of compile.sh comes to."""
    log = (result.stdout + result.stderr)[-LOG_BYTES:]
    fault = result.fault
    if fault is None and not result.started and result.start_error is None:
        fault = "the build was not started, and nobody knows why"
    if fault is not None:
        return Built(word=None, reason="the launcher could not build", log=log, fault=fault)
    failure = _failure(result)
    if failure is not None:
        return Built(word=BuildWord.BUILD_FAIL, reason=failure, log=log)
    missing = _missing(result.files or (), policy.submission.depth)
    if missing is not None:
        return Built(word=BuildWord.NO_BUILD, reason=missing, log=log)
    foreign = None if policy.compiled else _machine_code(result.files or ())
    if foreign is not None:
        return Built(word=BuildWord.POLICY, reason=foreign, log=log)
    tree = tuple(_runnable(e) for e in result.files or () if e.kind in TREE_KINDS)
    return Built(word=None, reason="built", tree=tree, log=log)


def _failure(result: Result) -> str | None:
    if not result.started:
        return f"{COMPILE} could not be executed: errno {result.start_error}"
    if result.limits_hit:
        return f"{COMPILE} overran its limit of {', '.join(sorted(result.limits_hit))}"
    if result.signal is not None:
        return f"{COMPILE} was ended by signal {result.signal}"
    if result.exit_code != 0:
        return f"{COMPILE} ended with exit code {result.exit_code}"
    if result.files is None:
        return f"what {COMPILE} left cannot be read whole"
    return None


def _missing(tree: Iterable[FileEntry], depth: int) -> str | None:
    left = {e.path: e for e in tree}
    found = left.get(EXECUTABLE.encode())
    if found is None:
        return f"{COMPILE} left no {EXECUTABLE}"
    if found.kind != "file" or not found.content:
        return f"{EXECUTABLE} must be a regular file with content, got {found.kind}"
    if any(path.count(b"/") > depth for path in left):
        return f"{COMPILE} left directories deeper than {depth}"
    if any(len(path) > LONGEST for path in left):
        return f"{COMPILE} left a path of more than {LONGEST} bytes"
    return None


def _machine_code(tree: Iterable[FileEntry]) -> str | None:
    """Why the tree of an interpreted language is none: a program came packed so that no magic told it."""
    found = sorted(e.path for e in tree if e.kind == "file" and begins_with_code(e.content) == ELF)
    return f"{COMPILE} left machine code: {os.fsdecode(found[0])!a}" if found else None


def _runnable(entry: FileEntry) -> FileEntry:
    if entry.path != EXECUTABLE.encode():
        return entry
    return FileEntry(entry.path, entry.kind, 0o755, entry.content)
