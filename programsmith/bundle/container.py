"""Grading in a container: the bundle's verifier image runs its own test.sh over what an agent left.

In: a bundle, the environment of kind `docker`, a subject as the verifier's words name it. Out: the verifier's files.
Only the submission crosses, as a copy. Where the bundle's tests folder is not the one that the image was built from (a
twin, a weakened one), it lies over the image's. No container of an agent exists when this one is made.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from programsmith.bundle.abnormal import AbnormalError, ended_by, no_grade, overran
from programsmith.bundle.images import Side, context
from programsmith.bundle.places import scratch
from programsmith.errors import InfraError, boundary
from programsmith.payload.verifier.environment import ORACLE, SUBMISSION
from programsmith.payload.verifier.faults import Fault
from programsmith.payload.verifier.plan import decode_policy
from programsmith.payload.verifier.tree import tree_digest
from programsmith.payload.verifier.unseal import SECRET_NAME
from programsmith.records import codec
from programsmith.sandboxes.base import Image
from programsmith.sandboxes.docker_verifier import OUT, Verifier, verify

TESTS = "/tests"
ENVIRONMENT = f"{TESTS}/environment.json"
SCRATCH = "/tmp"  # noqa: S108 - a place inside
LEFT = ("reward.json", "details.json", "build.log")
"""What a verifier leaves; whatever else lies beside it is not taken."""
SIGNALLED = 128  # what an engine adds to the signal that ended a container
SAYS = 2000  # characters of what it said


def contained(
    bundle: Path, place: Mapping[str, Any], subject: Sequence[str], out: Path, secret: bytes | None, seconds: float
) -> str:
    """Run the verifier once; the end of what it said. `out` gets its files. Raises InfraError, AbnormalError."""
    with boundary(InfraError, f"{bundle}: no bundle for a container", OSError, ValueError, KeyError, TypeError):
        verifier = verifier_of(place, bundle)
        shown = {SUBMISSION: Path(subject[1])} if subject[0] == "--submission" else {ORACLE: Path(subject[1])}
        if tests_digest(bundle) != place["tests"]:
            shown[TESTS] = bundle / "tests"
    env = {} if secret is None else {SECRET_NAME: secret.hex()}
    ended, left = verify(verifier, _command(subject), shown, env, seconds)
    said = (bytes(ended.flow.stdout) + bytes(ended.flow.stderr))[-SAYS:].decode("utf-8", "backslashreplace").strip()
    for entry in left:
        name = entry.path.decode("utf-8", "surrogateescape")
        if name in LEFT and entry.kind == "file":
            (out / name).write_bytes(entry.content)
    if ended.flow.over == "wall":
        raise AbnormalError(Fault.TIMEOUT_OURS, overran(seconds))
    if ended.out_of_memory and ended.status:
        raise AbnormalError(Fault.OOM_OURS, f"the verifier's container ran out of memory: {said}; grade again")
    if ended.status:
        code = -signal.SIGKILL if ended.status == SIGNALLED + signal.SIGKILL else ended.status
        raise AbnormalError(ended_by(code, out, lacked_memory=False), no_grade(code, said))
    return said


def tests_digest(bundle: Path) -> str:
    """Digest of a bundle's tests folder, as an image holds it."""
    return tree_digest(context(bundle, Side.VERIFIER))


def _command(subject: Sequence[str]) -> list[str]:
    """The bundle's own script for a submission; a replay has no other way than the verifier's words."""
    if subject[0] == "--submission":
        return [f"{TESTS}/test.sh"]
    words = ["--tests", TESTS, "--replay", ORACLE, subject[2], "--out", OUT, "--launcher", ENVIRONMENT]
    return ["python3", "-I", f"{TESTS}/verify.pyz", *words]


def verifier_of(place: Mapping[str, Any], bundle: Path) -> Verifier:
    """The container that an environment of kind `docker` describes, with room for a case as the bundle's policy says.

    Raises OSError, ValueError, KeyError, TypeError.
    """
    policy = decode_policy((bundle / "tests" / "policy.json").read_bytes())
    inside: Mapping[str, Any] = json.loads((bundle / "tests" / "environment.json").read_bytes())
    return Verifier(
        image=codec.decode(Image, place["image"]),
        workdir=TESTS,
        memory_bytes=place["memory_mb"] << 20,
        cpus=place["cpus"],
        pids=place["pids"],
        scratch=scratch(len(inside["run"]["places"]), policy),
        writable=(ORACLE,) if "original" in inside else (),
    )
