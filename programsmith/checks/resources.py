"""Resources are declared, suffice for what the policy promises, and ask for no more than anybody has.

Both containers get the same; every slot has a processor, its memory fits, and so does a build's.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.checks.base import Row, Scene, first

MIB = 1 << 20


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:
    """Compare task.toml with policy, plan and the rule's caps."""
    task = tomllib.loads(scene.content("task.toml").decode("utf-8", "replace"))
    found = [f"task.toml: {fault}" for fault in (*_declared(task, parameters), *_suffices(task, scene))]
    return Row(
        passed=not found,
        reason=first(found, "resources suffice and keep to the caps", "resources"),
        evidence={"faults": found, "caps": dict(parameters)},
    )


def _declared(task: Mapping[str, Any], caps: Mapping[str, Any]) -> Iterator[str]:
    agent, verifier = task.get("environment", {}), task.get("verifier", {})
    values = {
        "environment.cpus": (agent.get("cpus"), caps["cpus"]),
        "environment.memory_mb": (agent.get("memory_mb"), caps["memory_mb"]),
        "environment.build_timeout_sec": (agent.get("build_timeout_sec"), caps["build_seconds"]),
        "agent.timeout_sec": (task.get("agent", {}).get("timeout_sec"), caps["agent_seconds"]),
        "verifier.timeout_sec": (verifier.get("timeout_sec"), caps["verifier_seconds"]),
    }
    for name, (value, most) in values.items():
        if value is None or not 0 < value <= most:
            yield f"{name}: wanted more than 0, at most {most}, got {value}"
    for name in ("cpus", "memory_mb", "build_timeout_sec", "network_mode"):
        one, other = agent.get(name), verifier.get("environment", {}).get(name)
        if one != other:
            yield f"verifier.environment.{name}: wanted the agent's {one}, got {other}"


def _suffices(task: Mapping[str, Any], scene: Scene) -> Iterator[str]:
    given, policy, slots = task.get("environment", {}), scene.sides.policy, scene.sides.plan.slots
    memory = given.get("memory_mb", 0) * MIB
    needs = {"one build": policy.build.memory_bytes, f"{slots} cases": slots * policy.case.memory_bytes}
    yield from (
        f"environment.memory_mb: wanted {need} bytes for {what}, got {memory}"
        for what, need in needs.items()
        if need > memory
    )
    if slots > given.get("cpus", 0):
        yield f"environment.cpus: wanted {slots}, one for each slot, got {given.get('cpus')}"
