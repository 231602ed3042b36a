"""The launcher contract: what starts submitted code in isolation, and what it reports.

A launcher promises five properties: a case cannot read the grader, its key, sealed files or other cases' files;
cannot signal or see others; leaves nothing behind; has no network; executes only what its view lists.
Facts about the launch travel on a status channel that the launched program cannot reach: no status is a fault
of ours (infra), never a result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from programsmith.payload.verifier.model import FileEntry, Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A host path shown read-only at `target` inside.

    `scripts` are paths inside, each a text that an interpreter reads, where nothing else of the mount may be executed:
    then no machine code runs but that of the view, neither a file of the mount nor what the program has in memory; the
    latter does where it `makes_code`. None: all of it may be executed, and the program may make code.
    """

    source: str
    target: str
    scripts: tuple[str, ...] | None = None
    makes_code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The list-built root of a sandbox: nothing is visible that is not listed.

    `mounts` are read-only binds, `links` are symlinks (path, target), `dirs` empty directories. `executables`
    are the paths inside that a launch may execute besides what lies in a mounted submission tree.
    `fingerprint` is the SHA-256 over every file shown (path, mode, content) and is part of every key.
    """

    mounts: tuple[Mount, ...]
    links: tuple[tuple[str, str], ...] = ()
    dirs: tuple[str, ...] = ()
    executables: tuple[str, ...] = ()
    fingerprint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a program can sense of its surroundings apart from its case. The defaults are the grading values."""

    hostname: str = "sandbox"
    cwd: str = "/work"
    umask: int = 0o022
    one_cpu: bool = False
    reverse_files: bool = False  # lay the files down in reverse, which turns directory order around
    clock: int = 0  # seconds that the clock is ahead; works where `sandboxes.clock` proves it, else a fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One launch.

    `program` is the absolute path inside that is executed, `argv[0]` the name that it is given. `env` is the whole
    environment. `files` fill the fresh work directory. `stdin` is fed through a pipe. With `collect` the work
    directory comes back, up to `collect_bytes`: it is held in memory, and one that is larger counts as unreadable.
    `mounts` are added to the view for this launch (a submission tree). `hidden` are executables of the view that this
    launch must neither see nor start: what the oracle was not seen to start in this case.
    """

    program: str
    argv: tuple[bytes, ...]
    env: tuple[tuple[bytes, bytes], ...]
    limits: Limits
    stdin: bytes = b""
    files: tuple[FileEntry, ...] = ()
    mounts: tuple[Mount, ...] = ()
    hidden: tuple[str, ...] = ()
    collect: bool = True
    collect_bytes: int = 256 << 20
    surroundings: Surroundings = field(default_factory=Surroundings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a launch did.

    `fault` is set where the launcher could not do its work (infra); then nothing else counts. `started` says that
    the program itself was executed; `start_error` is the errno of a failed exec (the submission's doing). Exactly one
    of `exit_code` and `signal` is set when it started and ended. `limits_hit` is a subset of `cpu`, `wall`,
    `memory`, `pids`, `output`, `work`. `files` is None where it was not collected or could not be read whole.
    `cpu_seconds` counts all processes.
    """

    started: bool = False
    start_error: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    files: tuple[FileEntry, ...] | None = None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    limits_hit: frozenset[str] = frozenset()
    fault: str | None = None


class Launcher(Protocol):
    """One way of starting submitted code. Safe to call from several threads."""

    name: str

    def probe(self) -> tuple[str, ...]:
        """Prove the five properties on this host; return the limits that the kernel enforces.

        Raises LauncherError where a property does not hold (infra `no_isolation`).
        """

    def run(self, request: Request) -> Result:
        """Start the program and wait for the end of all of its processes."""

    def close(self) -> None:
        """Remove whatever the launcher made on the host."""


class LauncherError(Exception):
    """The host cannot isolate a launch. The message says what was tried and what to do."""
