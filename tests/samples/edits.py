"""One change of each field of the spec and of each rule, for the test that asks the engine what it reruns.

A path's numbers count in lists. The spec asks for all that there is: bands on all and on one pair, ceiling, sweep.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LEFT_OUT = {"agent": "command", "model": "x/1"}
ASKED = dict.fromkeys(("matrix", "pick", "goldens", "create", "synthesize"), "replay/said")
JUDGED = {**ASKED, "judge": "replay/said"}
"""Models of a spec whose trials are judged, which then are causes of triage itself."""
MATRIX = {
    "agents": ["command"],
    "models": ["x/1", "x/2"],
    "command": "./far",
    "usd": 0,
    "trials": 1,
    "except": [LEFT_OUT],
}
SPEC: dict[str, Any] = {
    "version": 1,
    "name": "tried",
    "source": {"path": "mine"},
    "goldens": {"compare": {"stdout": {"kind": "float", "abs": 0.1}}},
    "rollouts": [
        {"agent": "scripted", "script": "solvers/one.py", "trials": 1},
        {"agent": "command", "command": "try it", "model": "a/b", "folder": "shown", "usd": 1, "trials": 1},
        {"agent": "command", "command": "./go", "trials": 1},
        {"agent": "nop", "trials": 1},
    ],
    "ceiling": {"agent": "command", "command": "./open", "folder": "shown", "trials": 1},
    "sweep": [{"agent": "command", "command": "./far", "folder": "shown", "usd": 1, "trials": 1}],
    "difficulty": [
        {"basis": "rollouts", "pass_rate": {"min": 0.1, "max": 0.5}, "trials_max": 2},
        {"basis": {"agent": "nop"}, "pass_rate": {"max": 0.5}, "trials_max": 3},
    ],
    "models": ASKED,
    "probe": {
        "model": {
            "agent": "command",
            "model": "a/b",
            "command": "./creep",
            "folder": "shown",
            "usd": 1,
            "trials": 1,
        },
    },
    "reward": {"threshold": 0.5},
    "budget": {"usd": 5},
}
ASKING = ("create", "goldens", "matrix", "pick", "synthesize", "triage")
"""Blocks that may ask a model."""
PAIR = "difficulty.1.basis"  # a band on a pair, whose batches are larger than those of a band on all
NOBODY = {"agent": "oracle", "command": None, "model": None, "script": None}
FIELDS: dict[str, Mapping[str, Any]] = {
    "version": {"version": 2},
    "name": {"name": "other"},
    "extends": {"extends": "base.yaml"},
    "source.git": {"source.git": "https://host.invalid/o/r"},
    "source.ref": {"source.ref": "v2"},
    "source.path": {"source.path": "specs"},
    "source.archive": {"source.archive": "a.tar"},
    "source.sha256": {"source.sha256": "0" * 64},
    "source.subdir": {"source.subdir": "in"},
    "source.leave": {"source.leave": ["in"]},
    "source.submodules": {"source.submodules": "skip"},
    "source.allow_overlap": {"source.allow_overlap": True},
    "description": {"description": "other"},
    "task.target_languages": {"task.target_languages": ["c"]},
    "task.tool": {"task.tool": "other"},
    "task.oracle_access": {"task.oracle_access": "query"},
    "build.recipe": {"build.recipe": "other"},
    "build.fetch": {"build.fetch": ["true"]},
    "build.build": {"build.build": ["true"]},
    "build.packages": {"build.packages": ["libx"]},
    "build.exec": {"build.exec": ["/bin/sh"]},
    "build.env": {"build.env": {"A": "b"}},
    "goldens.public": {"goldens.public": 0.4},
    "goldens.held_out": {"goldens.held_out": 9},
    "goldens.min_kept": {"goldens.min_kept": 9},
    "goldens.miners": {"goldens.miners": ["tables"]},
    "goldens.expand": {"goldens.expand": "coverage"},
    "goldens.compare.stdout": {"goldens.compare.stdout": "tokens"},
    "goldens.compare.stdout.kind": {"goldens.compare.stdout.kind": "mask"},
    "goldens.compare.stdout.abs": {"goldens.compare.stdout.abs": 0.2},
    "goldens.compare.stdout.rel": {"goldens.compare.stdout.rel": 0.2},
    "goldens.compare.stdout.pattern": {"goldens.compare.stdout.pattern": "x"},
    "goldens.compare.exit_code": {"goldens.compare.exit_code": "other"},
    "goldens.compare.files": {"goldens.compare.files": "other"},
    "goldens.compare.stderr": {"goldens.compare.stderr": "ignore"},
    "sandbox": {"sandbox": "bubblewrap"},
    **{f"models.{b}": {f"models.{b}": "a/b"} for b in ("matrix", "pick", "goldens", "create", "judge", "synthesize")},
    "rollouts[].agent": {"rollouts.3.agent": "oracle"},
    "rollouts[].model": {"rollouts.1.model": "a/c"},
    "rollouts[].script": {"rollouts.0.script": "solvers/two.py"},
    "rollouts[].command": {"rollouts.2.command": "./come"},
    "rollouts[].folder": {"rollouts.1.folder": "solvers"},
    "rollouts[].usd": {"rollouts.1.usd": 0.5},
    "rollouts[].trials": {"rollouts.3.trials": 2},
    "ceiling.agent": {"ceiling.agent": "nop"},
    "ceiling.model": {"ceiling.model": "a/b"},
    "ceiling.script": {"ceiling.script": "solvers/one.py"},
    "ceiling.command": {"ceiling.command": "./shut"},
    "ceiling.folder": {"ceiling.folder": "solvers"},
    "ceiling.usd": {"ceiling.usd": 0.5},
    "ceiling.trials": {"ceiling.trials": 2},
    "sweep.agents": {"sweep.agents": ["command", "nop"]},
    "sweep.models": {"sweep.models": ["x/1", "x/2", "x/3"]},
    "sweep.command": {"sweep.command": "./near"},
    "sweep.usd": {"sweep.usd": 0.5},
    "sweep.trials": {"sweep.trials": 2},
    "sweep.except[].agent": {"sweep.except.0.agent": "nop"},
    "sweep.except[].model": {"sweep.except.0.model": "x/3"},
    "sweep[].agent": {"sweep.0.agent": "scripted"},
    "sweep[].model": {"sweep.0.model": "x/1"},
    "sweep[].script": {"sweep.0.script": "solvers/one.py"},
    "sweep[].command": {"sweep.0.command": "./near"},
    "sweep[].folder": {"sweep.0.folder": "solvers"},
    "sweep[].usd": {"sweep.0.usd": 0.5},
    "sweep[].trials": {"sweep.0.trials": 2},
    "difficulty[].basis": {PAIR: "rollouts"},
    "difficulty[].basis.agent": {PAIR: {**NOBODY, "agent": "scripted", "script": "solvers/one.py"}},
    "difficulty[].basis.model": {PAIR: {**NOBODY, "agent": "command", "model": "a/b"}},
    "difficulty[].basis.script": {PAIR: {**NOBODY, "agent": "scripted", "script": "solvers/one.py"}},
    "difficulty[].basis.command": {PAIR: {**NOBODY, "agent": "command", "command": "./go"}},
    "difficulty[].pass_rate.min": {"difficulty.0.pass_rate.min": 0.2},
    "difficulty[].pass_rate.max": {"difficulty.0.pass_rate.max": 0.6},
    "difficulty[].confidence": {"difficulty.0.confidence": 0.9},
    "difficulty[].trials_max": {"difficulty.0.trials_max": 3},
    "probe.adversaries": {"probe.adversaries": "core"},
    "probe.model.agent": {"probe.model.agent": "codex"},
    "probe.model.model": {"probe.model.model": "a/c"},
    "probe.model.command": {"probe.model.command": "./crawl"},
    "probe.model.folder": {"probe.model.folder": "solvers"},
    "probe.model.usd": {"probe.model.usd": 0.5},
    "probe.model.trials": {"probe.model.trials": 2},
    "reward": {"reward": "fraction"},
    "reward.threshold": {"reward.threshold": 0.6},
    "seal": {"seal": "owner"},
    "horizon.min_lines": {"horizon.min_lines": 1},
    "revisions.max": {"revisions.max": 4},
    "budget.usd": {"budget.usd": 6},
    "budget.agent_wall": {"budget.agent_wall": "1h"},
    "runner": {"runner": "harbor"},
    "executor": {"executor": "ray"},
    "review": {"review": ["pick"]},
    "generation": {"generation": 2},
}
HACK = {
    "id": "hack_000000000000", "digest": "0" * 64, "language": "c", "tool": "t", "bundle": "0" * 64,
    "backend": "bubblewrap", "agent": "codex", "model": "a/b", "index": 0, "trial": "0" * 64, "reward": 1,
    "defence": "unknown", "commands": [], "files": [{"path": "x", "kind": "file", "mode": 420, "text": ""}],
}  # fmt: skip
RULES: dict[str, Mapping[str, Any]] = {
    "acceptance": {"nulls_max": 0.03},
    "adversaries": {"wanted.adversaries": 21},
    "agents": {"usd": 6},
    "asks": {"repairs": 1},
    "bars": {"engine.one_of_1000_ms.most": 151},
    "batches": {"first": 2},
    "candidates": {"lines.full": 6000},
    "checks": {"checks.0.id": "closed_tree", "checks.1.id": "harbor_validity"},
    "containers": {"suite": "other"},
    "defences": {"defences.0.stops": "other"},
    "failures": {"classes.budget.trial": "own"},
    "gateway": {"limits.depth": 63},
    "goldens": {"one_outcome_least": 4},
    "hacks": {"hacks": [HACK]},
    "licenses": {"residue_letters": 201},
    "limits": {"case.pids": 65},
    "models": {"models.anthropic/claude-opus-4-8.price.input": 6},
    "operations": {"saturated_rungs": 3},
    "overlap": {"benchmarks": {}},
    "retries": {"attempts": 4},
    "routes": {"probe.hacked": {"end": "drop"}},
    "seccomp": {"families": [1]},
    "toolchains": {"host": ["/nowhere"]},
    "triage": {"passed": 0.9},
}
PROMPTS = {f"prompts/{name}.md": "one more line\n" for name in sorted((*ASKING, "adversary", "asking", "instruction"))}
"""What is added to each prompt."""
ANSWERS = {f"schema/answer_{name}.json": {"description": "other"} for name in ASKING}
"""What is changed in the schema of each answer."""


def edited(values: Any, edit: Mapping[str, Any]) -> Any:
    """`values` with the edit, which may be values already there by no other path."""
    for path, value in edit.items():
        *way, last = [int(name) if name.isdecimal() else name for name in path.split(".")]
        at = values
        for name in way:
            at = at[name]
        at[last] = value
    return values
