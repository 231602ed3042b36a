"""The bundle's verifier, started on tests that are not whole and among modules that tell when they are imported.

In: a scene. Out: how it ended each time, what it left, and what the system showed of it. One process answers for every
check of a run. Raises InfraError where that process itself breaks.
"""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programsmith.bundle.ready import ENVIRONMENT
from programsmith.bundle.render import PAYLOAD
from programsmith.checks.base import Scene
from programsmith.errors import InfraError
from programsmith.payload.verifier.unseal import SECRET_NAME

SECONDS = 60.0
RANDOM_BYTES = 32
NEAR = ("argparse", "tempfile", "hashlib", "concurrent", "cryptography", "usercustomize")
TELLING = "import os\nos.close(os.open({place!r}, os.O_CREAT | os.O_WRONLY))\n"
REFUSED, INFRA = 3, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """`ends` maps what was wrong to the exit code, `rewards` names those that got a reward all the same.

    `secret` is the key that the verifier was given, `environment` what the system showed of it, `dumpable` whether
    others may trace it, `imported` whether a module beside the submission was taken in.
    """

    ends: Mapping[str, int | None]
    rewards: tuple[str, ...]
    secret: bytes
    environment: bytes
    dumpable: bool
    imported: bool


def asked(scene: Scene) -> Asked:
    """Ask once for all checks. Raises InfraError."""
    return scene.once("asked", lambda: _ask(scene, scene.scratch / "asked"))


def wanted(name: str) -> int:
    """The exit code that what is wrong must lead to."""
    return INFRA if name == BROKEN_PLACE else REFUSED


def _ask(scene: Scene, folder: Path) -> Asked:
    near, marker = folder / "submission", folder / "imported"
    near.mkdir(parents=True)
    for name in NEAR:
        (near / f"{name}.py").write_text(TELLING.format(place=str(marker)), "ascii")
    (folder / "environment.json").write_text("{}", "ascii")
    outs = {name: folder / f"out{number}" for number, name in enumerate(BREAKS)}
    lines = []
    for number, (name, spoil) in enumerate(BREAKS.items()):
        tests = folder / f"tests{number}"
        _lay(scene, tests, spoil(scene))
        places = {
            "--tests": tests,
            "--launcher": folder / "environment.json",
            "--submission": near,
            "--out": outs[name],
        }
        lines.append([str(word) for pair in places.items() for word in pair])
    secret = scene.owner_secret or secrets.token_bytes(RANDOM_BYTES)
    said = _run(scene, near, lines, secret)
    return Asked(
        ends=dict(zip(BREAKS, said["codes"], strict=True)),
        rewards=tuple(name for name, out in outs.items() if any(out.glob("reward*"))),
        secret=secret,
        environment=bytes.fromhex(said["environment"]),
        dumpable=bool(said["dumpable"]),
        imported=marker.exists(),
    )


def _run(scene: Scene, near: Path, lines: list[list[str]], secret: bytes) -> Mapping[str, Any]:
    words = [sys.executable, "-I", str(PAYLOAD / "probes" / "asked.py"), str(scene.bundle / "tests" / "verify.pyz")]
    words.append(SECRET_NAME)
    env = {**ENVIRONMENT, SECRET_NAME: secret.hex(), "PYTHONPATH": str(near), "TMPDIR": str(near.parent)}
    try:
        ended = subprocess.run(
            words, input=json.dumps(lines).encode(), capture_output=True, check=True, timeout=SECONDS, env=env, cwd=near
        )
        value: Mapping[str, Any] = json.loads(ended.stdout)
    except (subprocess.SubprocessError, OSError, ValueError) as fault:
        raise InfraError(
            f"{words[-2]}: cannot be asked: {fault} {getattr(fault, 'stderr', None) or b''!r}"[-2000:]
        ) from fault
    return value


def _lay(scene: Scene, tests: Path, spoiled: Mapping[str, bytes | None]) -> None:
    """The bundle's tests folder, its files linked, those apart that are spoiled; None is for a file that is gone."""
    tests.mkdir()
    for path in (scene.bundle / "tests").iterdir():
        if path.name not in spoiled:
            (tests / path.name).symlink_to(path.resolve())
    for name, content in spoiled.items():
        if content is not None:
            (tests / name).write_bytes(content)


def _missing_case(scene: Scene) -> dict[str, bytes | None]:
    plan = json.loads(scene.content("tests/plan.json"))
    plan["held_out"] = [*plan["held_out"][1:], "c0000000000000000"]
    return {"plan.json": json.dumps(plan).encode("ascii")}


def _altered_byte(scene: Scene) -> dict[str, bytes | None]:
    sealed = bytearray(scene.content("tests/held_out.sealed"))
    sealed[len(sealed) // 2] ^= 1
    return {"held_out.sealed": bytes(sealed)}


def _other_seal(scene: Scene) -> dict[str, bytes | None]:
    return {"seal.json": scene.content("solution/seal.json")}


def _unknown_word(scene: Scene) -> dict[str, bytes | None]:
    policy = json.loads(scene.content("tests/policy.json"))
    return {"policy.json": json.dumps({**policy, "accept_all": True}).encode("ascii")}


def _gone(scene: Scene) -> dict[str, bytes | None]:  # noqa: ARG001 - every way of spoiling has the same form
    return {"held_out.sealed": None}


def _whole(scene: Scene) -> dict[str, bytes | None]:  # noqa: ARG001 - every way of spoiling has the same form
    """The tests stay as they are: what is broken is the file that says how to isolate."""
    return {}


BROKEN_PLACE = "an environment file without a launcher"
BREAKS: Mapping[str, Callable[[Scene], dict[str, bytes | None]]] = {
    "a case that the sealed lines lack": _missing_case,
    "a sealed byte altered": _altered_byte,
    "the seal of the solution": _other_seal,
    "a word in the policy that nobody knows": _unknown_word,
    "no sealed cases": _gone,
    BROKEN_PLACE: _whole,
}
