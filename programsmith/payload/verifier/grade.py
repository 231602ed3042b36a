"""One grading run: a bundle's tests folder, a submission and launchers go in, a report comes out.

The order is fixed: receive, policy, build, cases, compare. Nothing here starts submitted code; launchers do. What a
submission causes ends in a word of its own; a fault that it cannot have caused ends in INFRA without a reward.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from programsmith.payload.verifier.build_step import Built, build
from programsmith.payload.verifier.cases import Subject, run_cases
from programsmith.payload.verifier.compare import choice
from programsmith.payload.verifier.environment import ORACLE
from programsmith.payload.verifier.faults import Fault
from programsmith.payload.verifier.launcher import Launcher, Mount
from programsmith.payload.verifier.launchers import Launchers
from programsmith.payload.verifier.model import FileEntry, GradedCase
from programsmith.payload.verifier.plan import Plan, Policy, decode_cases, decode_plan, decode_policy
from programsmith.payload.verifier.policy import findings
from programsmith.payload.verifier.receive import receive
from programsmith.payload.verifier.report import Report, infra, judged, unbuilt
from programsmith.payload.verifier.scripts import subject
from programsmith.payload.verifier.tree import TreeError, TreeReading, tree_digest, write_tree
from programsmith.payload.verifier.unseal import SealError, decode_seal, unseal
from programsmith.payload.verifier.words import BuildWord, CaseWord, named

CARRIED = "oracle"
"""The folder of a built wrapper that holds the original's tree, which is shown at ORACLE."""
ROOM = 1 << 26  # bytes that a disk has left that is not nearly full


class BundleError(Exception):
    """The tests folder is not one of a verifier, or it is broken. The message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tests:
    """What a grading run measures by: policy, plan, and all cases of both sides."""

    policy: Policy
    plan: Plan
    cases: tuple[GradedCase, ...]


def read_tests(folder: str, owner_secret: bytes | None) -> Tests:
    """Read and unseal a tests folder. Raises BundleError where it is no verifier's, or not whole."""
    try:
        policy = decode_policy(_read(folder, "policy.json"))
        plan = decode_plan(_read(folder, "plan.json"))
        public = decode_cases(_read(folder, "public.jsonl"), plan.public)
        sealed, seal = _read(folder, "held_out.sealed"), decode_seal(_read(folder, "seal.json"))
        held_out = decode_cases(unseal(sealed, seal, owner_secret), plan.held_out)
        for graded in (*held_out, *public):
            choice(graded.compare)
    except FileNotFoundError as fault:
        raise BundleError(f"{fault.filename} is not here: only the verifier's own environment can score") from fault
    except (OSError, ValueError, KeyError, TypeError, SealError) as fault:
        raise BundleError(f"{folder}: {fault}") from fault
    return Tests(policy=policy, plan=plan, cases=(*held_out, *public))


def _read(folder: str, name: str) -> bytes:
    with open(os.path.join(folder, name), "rb") as source:
        return source.read()


def grade(tests: Tests, submission: str, launchers: Launchers, **more: Any) -> Report:
    """Grade one submission. Raises LauncherError, OSError."""
    try:
        received = receive(submission, tests.policy.submission)
    except TreeError as fault:
        return unbuilt(BuildWord.POLICY, f"the submission has {fault}", tests.cases, tests.plan, **more)
    except (FileNotFoundError, NotADirectoryError) as fault:
        return unbuilt(BuildWord.NO_BUILD, f"no submission folder: {fault.strerror}", tests.cases, tests.plan, **more)
    more["left_out"] = tuple(received.left_out)
    waived, policy, refused = _held_to(received, tests)
    if refused:
        reason = f"{len(refused)} files are not source: the first is {named(refused[0][0])}: {refused[0][1]}"
        return unbuilt(BuildWord.POLICY, reason, tests.cases, tests.plan, refused=refused, **more)
    launchers.ahead(tests.plan.slots)  # they get ready while the submission is built
    scarce = _is_scarce()
    built = _built(received.entries, policy, launchers.build)
    if built.fault is not None:
        return infra(Fault.LAUNCHER_FAULT, f"build: {built.fault}")
    more["log"] = built.log
    if built.word is not None:
        _require_room(scarce=scarce)
        return unbuilt(built.word, built.reason, tests.cases, tests.plan, **more)

    def run(folder: str) -> Report:
        write_tree(folder, built.tree)
        runner = launchers.original() if waived else launchers.run
        return _run(tests, runner, _shown(subject(built.tree, folder, policy), folder, waived=waived), **more)

    report = _in_private_folder(run)
    if report.word != CaseWord.AC:
        _require_room(scarce=scarce)
    return report


def _built(files: Sequence[FileEntry], policy: Policy, launcher: Launcher) -> Built:
    """What the build leaves; one that the launcher could not run has a second try."""
    first = build(files, policy, launcher)
    return first if first.fault is None else build(files, policy, launcher)


def _require_room(*, scarce: bool) -> None:
    """Raise OSError where the disk is nearly full, or was when the build began.

    In a container a build lies on it too, in some a case does; neither can be blamed for that. Others may have made
    room by the time that anybody looks.
    """
    if scarce or _is_scarce():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), tempfile.gettempdir())


def _is_scarce() -> bool:
    """Whether the disk has next to no room."""
    rest = os.statvfs(tempfile.gettempdir())
    return rest.f_bavail * rest.f_frsize < ROOM or bool(rest.f_files and not rest.f_favail)


def replay(tests: Tests, oracle: str, program: str, runner: Launcher, **more: Any) -> Report:
    """Run every case on the oracle's tree instead of a built submission. Raises LauncherError."""
    return _run(tests, runner, Subject(program=program, mounts=(Mount(source=oracle, target=ORACLE),)), **more)


def _held_to(received: TreeReading, tests: Tests) -> tuple[bool, Policy, tuple[tuple[bytes, str], ...]]:
    """Whether it is the waived tree, the policy that the submission must keep to, and the files that it refuses."""
    if tests.plan.waived and tree_digest(received.entries) == tests.plan.waived:
        return True, dataclasses.replace(tests.policy, compiled=True), ()
    return False, tests.policy, tuple((found.path, found.why) for found in findings(received.entries, tests.policy))


def _shown(what: Subject, folder: str, *, waived: bool) -> Subject:
    """The original that the waived tree carries lies where it was captured, too."""
    carried = os.path.join(folder, CARRIED)
    if not waived or not os.path.isdir(carried):
        return what
    return dataclasses.replace(what, mounts=(*what.mounts, Mount(source=carried, target=ORACLE)))


def _run(tests: Tests, runner: Launcher, what: Subject, **more: Any) -> Report:
    ran = run_cases(tests.cases, what, tests.policy, runner, slots=tests.plan.slots)
    return judged(tests.cases, ran, tests.plan, **more)


def _in_private_folder(use: Callable[[str], Report]) -> Report:
    """Give `use` a path that does not exist yet in a folder that only the grader may enter."""
    with tempfile.TemporaryDirectory(prefix="graded-") as private:
        return use(os.path.join(private, "tree"))
