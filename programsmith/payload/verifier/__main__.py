"""The verifier's command line. Ends with 0: graded; 2: infra, no reward; 3: wrong input, or not a verifier's place.

`verify.pyz --tests DIR --launcher FILE --submission DIR --out DIR`, or `--replay ORACLE_DIR PROGRAM` for a submission.
Several submissions, each with its own `--out`, are graded one after the other and share what precedes a grading run:
tests read and unsealed once, launchers opened and proven once. The exit code is then that of the worst.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from enum import IntEnum

from programsmith.payload.verifier.grade import BundleError, Tests, grade, read_tests, replay
from programsmith.payload.verifier.launcher import LauncherError
from programsmith.payload.verifier.launchers import Launchers, opened
from programsmith.payload.verifier.report import Report, infra, write
from programsmith.payload.verifier.unseal import SealError, refuse_dumps, take_secret

AGENT_MARK = "/app/check"  # the public runner lies in an agent's container and nowhere else


class End(IntEnum):
    """Exit codes of the verifier."""

    GRADED = 0
    INFRA = 2
    REFUSED = 3


def main(words: Sequence[str] | None = None) -> int:
    """Grade; the exit code."""
    asked = _arguments(words)
    if os.path.lexists(AGENT_MARK):
        return _refuse(f"{AGENT_MARK} is here: this is an agent's container, and nothing is scored in it")
    try:
        secret = take_secret()
        refuse_dumps()
        tests = read_tests(asked.tests, secret)
    except (BundleError, SealError) as fault:
        return _refuse(str(fault))
    reports = _reports(asked, tests)
    for out, report in zip(asked.out, reports, strict=True):
        write(out, report)
        print(f"{report.word}: {report.reason}", file=sys.stderr)
    return End.INFRA if any(report.reward is None for report in reports) else End.GRADED


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


def _reports(asked: argparse.Namespace, tests: Tests) -> list[Report]:
    """One report for each `--out`."""
    try:
        with open(asked.launcher, "rb") as source:
            environment = source.read()
        with opened(environment) as launchers:
            return [_report(asked, number, tests, launchers) for number in range(len(asked.out))]
    except (LauncherError, OSError) as fault:
        return [_broken(fault)] * len(asked.out)


def _report(asked: argparse.Namespace, number: int, tests: Tests, launchers: Launchers) -> Report:
    try:
        if asked.replay is not None:
            oracle, program = asked.replay
            return replay(tests, oracle, program, launchers.run, enforced=launchers.enforced)
        return grade(tests, asked.submission[number], launchers.build, launchers.run, enforced=launchers.enforced)
    except (LauncherError, OSError) as fault:
        return _broken(fault)


def _broken(fault: LauncherError | OSError) -> Report:
    return infra("no_isolation" if isinstance(fault, LauncherError) else "host_fault", str(fault))


def _refuse(why: str) -> int:
    print(f"verify.pyz: {why}", file=sys.stderr)
    return End.REFUSED


if __name__ == "__main__":
    sys.exit(main())
