"""Launches of the oracle in the grading environment. A case goes in, what the oracle did comes out.

Capture is grading with an empty expected side: same launcher, same environment, same limits for every case. A fault
of the launcher is an InfraError, never a result.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from programsmith.errors import InfraError
from programsmith.payload.verifier.compare import same_tree
from programsmith.payload.verifier.environment import BASE_ENV, ORACLE
from programsmith.payload.verifier.launcher import Launcher, Mount, Request, Result, Surroundings
from programsmith.payload.verifier.model import Case, Expected, Limits
from programsmith.records.lock import OracleFacts

Env = tuple[tuple[bytes, bytes], ...]
RELEASE = "release"
AT_WORK = 0.05  # of the wall time: a program that used less CPU time waited for something
PATIENCE = 10  # times the wall limit, for a launch that met it at work


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One way of starting the oracle: its program, what is mounted for it, and the launcher whose view it needs.

    `env` and `memory_bytes` are what a build of its kind takes besides what cases have.
    """

    launcher: Launcher
    program: str
    mounts: tuple[Mount, ...]
    env: Env = ()
    memory_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """Grading values changed for one launch. A case's own variables are never overridden by `env`."""

    env: Env = ()
    surroundings: Surroundings = field(default_factory=Surroundings)
    form: str = RELEASE


class Capture:
    """Runs cases against the oracle and counts the launches. Safe to use from several threads."""

    def __init__(
        self,
        launcher: Launcher,
        facts: OracleFacts,
        oracle_dir: Path,
        limits: Limits,
        forms: Mapping[str, Form] | None = None,
    ) -> None:
        release = Form(launcher=launcher, program=facts.program, mounts=(Mount(source=str(oracle_dir), target=ORACLE),))
        self.forms: Mapping[str, Form] = {**(forms or {}), RELEASE: release}
        self.limits = limits
        self.launches = 0
        self._tool = facts.tool.encode()
        self._lock = threading.Lock()

    def run(self, case: Case, surroundings: Surroundings | None = None, env_changes: Env = ()) -> Result:
        """One launch in the grading environment with these changes. Raises InfraError."""
        return self.vary(case, Variation(env=env_changes, surroundings=surroundings or Surroundings()))

    def vary(self, case: Case, variation: Variation) -> Result:
        """One launch under a variation. Raises InfraError."""
        form = self.forms.get(variation.form, self.forms[RELEASE])
        request = Request(
            program=form.program,
            argv=(self._tool, *case.argv),
            env=tuple({**dict(BASE_ENV), **dict(form.env), **dict(variation.env), **dict(case.env)}.items()),
            limits=replace(self.limits, memory_bytes=max(form.memory_bytes, self.limits.memory_bytes)),
            stdin=case.stdin,
            files=case.files,
            mounts=form.mounts,
            surroundings=variation.surroundings,
        )
        result = self._launch(case, form, request)
        if not slowed(result):
            return result
        patient = replace(request.limits, wall_seconds=PATIENCE * request.limits.wall_seconds)
        result = self._launch(case, form, replace(request, limits=patient))
        if slowed(result):
            raise InfraError(
                f"capture of {case.id}: {result.cpu_seconds:.1f} s of CPU time in {result.wall_seconds:.0f} s, so the "
                "host is too busy; run again when it is less so"
            )
        return result

    def _launch(self, case: Case, form: Form, request: Request) -> Result:
        with self._lock:
            self.launches += 1
        result = form.launcher.run(request)
        if result.fault is not None:
            raise InfraError(f"capture of {case.id} by {form.launcher.name}: {result.fault}; run again to resume")
        return result


def slowed(result: Result) -> bool:
    """Whether a launch met its wall limit at work, so that a host with more time for it would have seen its end."""
    return result.limits_hit == {"wall"} and result.cpu_seconds > AT_WORK * result.wall_seconds


def expected_of(case: Case, result: Result) -> Expected:
    """The expected side that a sound result is. Files are None where the case left its directory as it was."""
    files = result.files
    return Expected(
        exit_code=result.exit_code,
        signal=result.signal,
        stdout=result.stdout,
        stderr_empty=not result.stderr,
        files=None if files is None or same_tree(case.files, files) else tuple(sorted(files)),
    )


def same(a: Expected, b: Expected) -> bool:
    """Whether two expected sides are equal in everything that the verifier compares by default."""
    if (a.exit_code, a.signal, a.stdout, a.stderr_empty) != (b.exit_code, b.signal, b.stdout, b.stderr_empty):
        return False
    if a.files is None or b.files is None:
        return a.files is b.files
    return same_tree(a.files, b.files)


def unsound(result: Result) -> str | None:
    """Why a result can be no golden: a closed word, or None."""
    if not result.started:
        return "not_started"
    if result.limits_hit:
        return f"limit_{min(result.limits_hit)}"
    if result.exit_code is None:
        return "signal"
    return "files_unreadable" if result.files is None else None


def inputs_of(case: Case) -> bytes:
    """Everything that a case brings, joined by NUL."""
    parts: Sequence[bytes] = (
        *case.argv,
        case.stdin,
        *(part for pair in case.env for part in pair),
        *(part for f in case.files for part in (f.path, f.content)),
    )
    return b"\0".join(parts)


def outputs_of(expected: Expected) -> bytes:
    """Everything that an expected side shows, joined by NUL."""
    return b"\0".join((expected.stdout, *(part for f in expected.files or () for part in (f.path, f.content))))
