"""The time that a verifier gets is the longest that its own limits allow, as caps and slots give it."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from typing import Any

from programsmith.checks.base import Row, Scene, first
from programsmith.payload.verifier.limits import case_limits, timeout_seconds


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Compute it again and compare what plan and task.toml say."""
    sides = scene.sides
    limits = [case_limits(case, sides.policy.case, sides.policy.cpu_factor) for case in sides.all]
    wanted = timeout_seconds(limits, sides.policy, slots=sides.plan.slots)
    said = tomllib.loads(scene.content("task.toml").decode("utf-8", "replace")).get("verifier", {}).get("timeout_sec")
    got = {
        "tests/plan.json: timeout_seconds": (wanted, sides.plan.timeout_seconds),
        "task.toml: verifier.timeout_sec": (float(math.ceil(wanted)), said),
    }
    found = [f"{where}: wanted {right}, got {value}" for where, (right, value) in got.items() if right != value]
    return Row(
        passed=not found,
        reason=first(found, f"{wanted:.0f} s for {len(limits)} cases in {sides.plan.slots} slots", "timeout"),
        evidence={"faults": found, "seconds": wanted, "slots": sides.plan.slots},
    )
