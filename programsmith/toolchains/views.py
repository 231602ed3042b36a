"""The root views of a language: what a build may see and start, and what a case may.

In: a toolchain and what a spec adds. Out: list-built views. Refuses a host that lacks a program, naming the package.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache

from programsmith.errors import PrerequisiteError
from programsmith.payload.verifier.launcher import View
from programsmith.sandboxes.view import list_view
from programsmith.toolchains.homes import asked, home_parts
from programsmith.toolchains.model import Interpreter, Toolchain
from programsmith.toolchains.packages import (
    alternatives,
    closure,
    database_exists,
    files_of,
    fold,
    matching,
    prefer_archives,
)
from programsmith.toolchains.versions import at_least, dotted

LIBRARY = re.compile(r"^/usr/lib/(?:[^/]+-linux-gnu/)?lib[^/]+\.so\.[0-9.]+$")
PROGRAM_FOLDERS = ("/usr/bin/", "/usr/sbin/")
PYTHON = "python3"
_agent_views: dict[tuple[str, tuple[str, ...]], View] = {}


def build_view(tc: Toolchain, extra_programs: Sequence[str] = (), packages: Sequence[str] = ()) -> View:
    """What a build sees: the shell's programs, the toolchain, its headers and archives, and `packages` of the host.

    Raises PrerequisiteError where a program or a package is absent.
    """
    added = _package_files(tc, packages)
    programs = [f for f in added if f.startswith(PROGRAM_FOLDERS)]
    named = [*tc.common.shell, *tc.build_programs, *extra_programs]
    parts = _parts(tc)
    started = [path for path in parts if os.access(path, os.X_OK)]
    rest = prefer_archives([f for f in added if not f.startswith(PROGRAM_FOLDERS)])
    loaded = [path for path in parts if path not in started]
    paths = fold({*_toolchain_files(tc), *rest, *loaded})
    shown = [*paths, *_run_paths(tc)]
    return _view(tc, [*named, *programs, *started], shown, optional=tc.common.shell, moved=home_parts(tc))


def agent_view(tc: Toolchain, packages: Sequence[str] = ()) -> View:
    """What an agent sees: the build's view, and the Python that /app/check runs on. Raises PrerequisiteError.

    One view of each kind is made per run of this program: an agent's place costs little more than its files then.
    """
    key = (repr(tc), tuple(packages))
    if key not in _agent_views:
        _agent_views[key] = build_view(tc, () if _brings_python(tc) else (os.path.realpath(sys.executable),), packages)
    return _agent_views[key]


def agent_toolchains(tc: Toolchain) -> dict[str, str]:
    """Versions of what an agent builds and works with in a view, by name."""
    ours = {} if _brings_python(tc) else {PYTHON: ".".join(map(str, sys.version_info[:3]))}
    return {tc.language: toolchain_version(tc), **ours}


def version_commands(tc: Toolchain) -> dict[str, tuple[str, ...]]:
    """How to ask for the same versions where programs have their usual names."""
    ours = {} if _brings_python(tc) else {PYTHON: (PYTHON, "--version")}
    return {tc.language: (tc.interpreter.program, "--version") if tc.interpreter else tc.version_command, **ours}


def _brings_python(tc: Toolchain) -> bool:
    return tc.interpreter is not None and tc.interpreter.program == PYTHON


def run_view(tc: Toolchain, exec_allowed: Sequence[str] = (), packages: Sequence[str] = ()) -> View:
    """What a case sees: the language's interpreter if it has one, `exec_allowed`, the C library's files.

    Of `packages`, which a build could link with, it sees the shared libraries. Raises PrerequisiteError.
    """
    libraries = [f for f in _package_files(tc, packages) if LIBRARY.search(f)]
    shown = [*libraries, *_run_paths(tc)]
    return _view(tc, [*tc.run_programs, *exec_allowed], shown, optional=(), moved=home_parts(tc, runs=True))


def shell_view(tc: Toolchain) -> View:
    """What a test script sees that is played with the tool as a stub: the shell's programs."""
    return _view(tc, tc.common.shell, _run_paths(tc), optional=tc.common.shell)


def original_view(source: Toolchain, target: Toolchain, exec_allowed: Sequence[str] = ()) -> View:
    """What a case sees of the original behind a program of another language. Raises PrerequisiteError."""
    own = [_program(tc, name) for tc in (source, target) for name in tc.run_programs]
    shown = [*_run_paths(source), *_run_paths(target)]
    moved = [*home_parts(source, runs=True), *home_parts(target, runs=True)]
    return _view(source, [*own, *exec_allowed], shown, optional=(), moved=moved)


def _program(tc: Toolchain, name: str) -> str:
    """The interpreter of the language as a path; another name as it is."""
    return interpreter_path(tc.interpreter) if tc.interpreter and name == tc.interpreter.program else name


def _view(
    tc: Toolchain,
    programs: Iterable[str],
    paths: Iterable[str],
    optional: Sequence[str],
    moved: Sequence[tuple[str, str]] = (),
) -> View:
    """Names become paths in the searched folders; `optional` ones may be absent."""
    found: list[str] = []
    homely = {os.path.basename(inside) for _, inside in moved}
    for name in dict.fromkeys(_program(tc, name) for name in programs):
        if name in homely:
            continue
        if name.startswith("/"):
            found.append(name)
        elif path := shutil.which(name, path=":".join(tc.common.search)):
            found.append(path)
        elif name not in optional:
            raise PrerequisiteError(
                f"{tc.language}: {name!r} is not in {', '.join(tc.common.search)}; "
                f"run: apt-get install -y {' '.join(tc.packages)}"
            )
    return list_view(programs=found, paths=[glob.escape(path) for path in dict.fromkeys(paths)], moved=moved)


@lru_cache(maxsize=8)
def interpreter_path(interpreter: Interpreter) -> str:
    """The host's interpreter: the shown path where it is new enough, else the one on PATH (Python: that runs this).

    Raises PrerequisiteError where neither will do.
    """
    found = sys.executable if interpreter.program == PYTHON else shutil.which(interpreter.program)
    own = os.path.realpath(found) if found else interpreter.shown
    for path in (interpreter.shown, own):
        if os.path.exists(path) and at_least(program_version((path, "--version")), interpreter.minimum):
            return path
    raise PrerequisiteError(f"{interpreter.program}: wanted {interpreter.minimum} or newer at {interpreter.shown}")


@lru_cache(maxsize=32)
def program_version(command: tuple[str, ...]) -> str:
    """The first dotted number that a version command prints; empty where it cannot run or prints none."""
    if not shutil.which(command[0]):
        return ""
    done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    return dotted(done.stdout + done.stderr)


def toolchain_version(tc: Toolchain) -> str:
    """The version of the toolchain that views show."""
    if tc.interpreter:
        return program_version((interpreter_path(tc.interpreter), "--version"))
    return program_version(tc.version_command)


def _toolchain_files(tc: Toolchain) -> tuple[str, ...]:
    if database_exists():
        return tuple(f for f in files_of(matching(tc.view.packages)) if not _left(tc, f))
    return tuple(path for pattern in tc.view.paths for path in sorted(glob.glob(pattern)))


def _package_files(tc: Toolchain, packages: Sequence[str]) -> tuple[str, ...]:
    if not packages:
        return ()
    if not database_exists():
        raise PrerequisiteError(f"build.packages {', '.join(packages)}: this host has no dpkg to say what they hold")
    files = tuple(f for f in files_of(closure(packages, stop=tc.common.base)) if not _left(tc, f))
    return (*files, *alternatives(files))


def _left(tc: Toolchain, path: str) -> bool:
    return any(path.startswith(folder + "/") for folder in tc.common.leave)


def _parts(tc: Toolchain) -> list[str]:
    """Paths that the toolchain names when asked; an answer without a slash means that it has none."""
    return [path for command in tc.view.parts if (path := asked(command)).startswith("/")]


def shown_libraries(tc: Toolchain) -> frozenset[str]:
    """Names of the shared libraries that every run view of the toolchain shows."""
    return frozenset(os.path.basename(path) for path in _run_paths(tc) if ".so" in os.path.basename(path))


def _run_paths(tc: Toolchain) -> list[str]:
    return [path for pattern in tc.view.run_paths for path in sorted(glob.glob(pattern))]
