"""A bundle that is not whole is not graded: no reward comes out of a verifier whose tests were tampered with.

The bundle's verifier is given its own tests with a case missing, a sealed byte altered, another seal, an unknown word
in the policy, and a place that cannot isolate. Each time it must refuse, without a reward.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from programsmith.checks.asked import asked, wanted
from programsmith.checks.base import Row, Scene, first


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Compare how it ended each time."""
    got = asked(scene)
    found = [
        f"tests/verify.pyz: {name}: wanted exit code {wanted(name)}, got {code}"
        for name, code in got.ends.items()
        if code != wanted(name)
    ]
    found += [f"tests/verify.pyz: {name}: wanted no reward, got one" for name in got.rewards]
    return Row(
        passed=not found,
        reason=first(found, f"{len(got.ends)} broken bundles get no reward", "broken bundle"),
        evidence={"faults": found, "ends": dict(got.ends)},
    )
