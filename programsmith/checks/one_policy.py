"""Agent, verifier and instruction have one policy and one list of public cases, byte for byte.

The policy is in its one form, and it is about the tool and the languages that the manifest names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.bundle.tree import APP
from programsmith.checks.base import Row, Scene, first
from programsmith.payload.verifier.plan import decode_policy

SHARED = ("policy.json", "public.jsonl")


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Compare the copies, then the policy with what is said of it."""
    found = [
        f"{APP}{name}: wanted the bytes of tests/{name}, got others"
        for name in SHARED
        if scene.content(APP + name) != scene.content(f"tests/{name}")
    ]
    found += _faults(scene, scene.content("tests/policy.json"))
    return Row(
        passed=not found,
        reason=first(found, "one policy, one list of public cases", "policy"),
        evidence={"faults": found},
    )


def _faults(scene: Scene, raw: bytes) -> Iterator[str]:
    try:
        policy = decode_policy(raw)
    except ValueError as fault:
        yield f"tests/policy.json: {fault}"
        return
    if raw != json.dumps(json.loads(raw), indent=1, sort_keys=True).encode("ascii") + b"\n":
        yield "tests/policy.json: wanted the one form of a policy, got another"
    if raw not in scene.content("instruction.md"):
        yield "instruction.md: wanted the policy word for word, got another or none"
    said = (policy.tool, "/".join(policy.languages))
    wanted = (scene.manifest.tool, scene.manifest.target_language)
    if said != wanted:
        yield f"tests/policy.json: wanted tool and language {wanted}, got {said}"
