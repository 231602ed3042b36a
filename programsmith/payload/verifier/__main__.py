"""The verifier's command line.

Ends with 0: graded; 2: infra, no reward; 3: wrong input, or not a verifier's place; 4, 5: infra, no disk, no memory: an
exit code needs neither.

`verify.pyz --tests DIR --launcher FILE --submission DIR --out DIR`, or `--replay ORACLE_DIR PROGRAM` for a submission.
Several submissions, each with its own `--out`, are graded one after the other and share what precedes a grading run:
tests read and unsealed once, launchers opened and proven once. The exit code is then that of the worst.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from programsmith.payload.verifier.faults import End, Fault, exit_of, fault_of
from programsmith.payload.verifier.grade import BundleError, Tests, grade, read_tests, replay
from programsmith.payload.verifier.launcher import LauncherError
from programsmith.payload.verifier.launchers import Launchers, opened
from programsmith.payload.verifier.report import Report, infra, write
from programsmith.payload.verifier.seccomp import filters
from programsmith.payload.verifier.unseal import SealError, libraries, refuse_dumps, take_secret

AGENT_MARK = "/app/check"  # the public runner lies in an agent's container and nowhere else


def warm() -> None:
    """Do what every run does alike, for runs that are forks of this process."""
    libraries()
    filters()


def main(words: Sequence[str] | None = None) -> int:
    """Grade; the exit code."""
    asked = _arguments(words)
    try:
        return _main(asked)
    except (OSError, MemoryError) as fault:
        _say(f"verify.pyz: {fault!r}")
        return exit_of(fault_of(fault))


def _main(asked: argparse.Namespace) -> int:
    if os.path.lexists(AGENT_MARK):
        return _refuse(f"{AGENT_MARK} is here: this is an agent's container, and nothing is scored in it")
    try:
        secret = take_secret()
        refuse_dumps()
        with ThreadPoolExecutor(1) as beside:  # isolation is proven meanwhile
            reports = _reports(asked, beside.submit(read_tests, asked.tests, secret))
    except (BundleError, SealError) as fault:
        return _refuse(str(fault))
    for out, report in zip(asked.out, reports, strict=True):
        write(out, report)
        _say(f"{report.word}: {report.reason}")
    faults = [report.fault_class for report in reports if report.reward is None]
    return exit_of(faults[0]) if faults else End.GRADED


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="verify.pyz", allow_abbrev=False, description="Grade submissions.")
    parser.add_argument("--tests", required=True, metavar="DIR", help="the bundle's tests folder")
    parser.add_argument("--submission", action="append", metavar="DIR", help="what the agent left")
    parser.add_argument(
        "--out", required=True, action="append", metavar="DIR", help="where reward.json and details.json go"
    )
    parser.add_argument("--launcher", required=True, metavar="FILE", help="the environment file")
    parser.add_argument(
        "--replay", nargs=2, metavar=("ORACLE_DIR", "PROGRAM"), help="run the oracle instead of a submission"
    )
    asked = parser.parse_args(words)
    if (asked.submission is None) == (asked.replay is None):
        parser.exit(End.REFUSED, "verify.pyz: wanted either --submission or --replay\n")
    if len(asked.out) != len(asked.submission or ["the oracle"]):
        parser.exit(End.REFUSED, "verify.pyz: wanted one --out for each submission\n")
    return asked


def _reports(asked: argparse.Namespace, reading: Future[Tests]) -> list[Report]:
    """One report for each `--out`. Raises what `reading` does."""
    try:
        with open(asked.launcher, "rb") as source:
            environment = source.read()
        with opened(environment) as launchers:
            tests = reading.result()
            return [_report(asked, number, tests, launchers) for number in range(len(asked.out))]
    except (LauncherError, OSError, MemoryError) as fault:
        reading.result()  # where this is no bundle either, that is told
        return [_broken(fault)] * len(asked.out)


def _report(asked: argparse.Namespace, number: int, tests: Tests, launchers: Launchers) -> Report:
    try:
        if asked.replay is not None:
            oracle, program = asked.replay
            return replay(tests, oracle, program, launchers.original(), enforced=launchers.enforced)
        return grade(tests, asked.submission[number], launchers, enforced=launchers.enforced)
    except (LauncherError, OSError, MemoryError) as fault:
        return _broken(fault)


def _broken(fault: LauncherError | OSError | MemoryError) -> Report:
    own = Fault.NO_ISOLATION if isinstance(fault, LauncherError) else Fault.HOST_FAULT
    return infra(fault_of(fault) or own, str(fault) or repr(fault))


def _refuse(why: str) -> int:
    _say(f"verify.pyz: {why}")
    return End.REFUSED


def _say(line: str) -> None:
    """Tell a person; no grade depends on whether there is room for it."""
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
