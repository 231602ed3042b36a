"""What the bundle's policy.json and plan.json say, typed; and the bundle's case lines.

policy.json is the same file in tests/ and in the agent's /app: tool, languages, allowed programs, limits.
plan.json lies in tests/ alone: reward mode, the closed sets of case ids, slots. A missing, unknown or ill-typed
field is a ValueError: the bundle is broken, and nothing is graded.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from programsmith.payload.verifier.model import GradedCase, canonical, decode_graded, encode_graded


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRule:
    """How the limits of one graded case follow from the oracle's measurements. Seconds and bytes.

    CPU = max(floor, factor x the oracle's slowest x the language's factor); wall = max(factor x CPU, CPU + extra);
    output = factor x golden + extra, per stream. `reruns` bounds how many wall-only overruns run again alone.
    """

    cpu_floor_seconds: float
    cpu_factor: float
    wall_factor: float
    wall_extra_seconds: float
    memory_bytes: int
    pids: int
    output_factor: float
    output_extra_bytes: int
    work_bytes: int
    work_files: int
    reruns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRule:
    """What building a submission may use. `output_bytes` caps each of its streams, `work_*` its tree."""

    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int
    pids: int
    output_bytes: int
    work_bytes: int
    work_files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptRule:
    """What is received of a submission: entries, bytes in all, directory levels."""

    files: int
    bytes: int
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the agent may know and must keep to.

    `languages` are the languages that the task allows; `refused_suffixes` (with dot, lower case) mark source files of
    others. `run_programs` are executables outside the submission that every case may start (an interpreter); what
    the oracle was seen to start comes on top, case by case. `cpu_factor` is the language's. Where the languages are not
    `compiled`, a build may leave no machine code.
    """

    tool: str
    languages: tuple[str, ...]
    refused_suffixes: tuple[str, ...]
    build_programs: tuple[str, ...]
    run_programs: tuple[str, ...]
    cpu_factor: float
    case: CaseRule
    build: BuildRule
    submission: ReceiptRule
    compiled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How one bundle is graded. `reward` is binary, fraction or threshold; `threshold` counts with the last only.

    `timeout_seconds` is the longest that a run takes. `waived` is the tree digest of the one received tree for which
    the source policy is waived (a solution that embeds the oracle), empty where there is none. `families` maps a
    family to what a report shows of it and is not read here, nor is `notes`.
    """

    reward: str
    threshold: float
    slots: int
    timeout_seconds: float
    public: tuple[str, ...]
    held_out: tuple[str, ...]
    families: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    notes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    waived: str = ""


REWARDS = ("binary", "fraction", "threshold")


def encode_policy(policy: Policy) -> bytes:
    """The bytes of policy.json: readable, stable."""
    return _readable(dataclasses.asdict(policy))


def encode_plan(plan: Plan) -> bytes:
    """The bytes of plan.json: readable, stable."""
    return _readable(dataclasses.asdict(plan))


def decode_policy(raw: bytes) -> Policy:
    """Policy of policy.json. Raises ValueError."""
    value = _fields(Policy, json.loads(raw))
    for name in ("languages", "refused_suffixes", "build_programs", "run_programs"):
        value[name] = _texts(name, value[name])
    value["case"] = _numbers(CaseRule, value["case"])
    value["build"] = _numbers(BuildRule, value["build"])
    value["submission"] = _numbers(ReceiptRule, value["submission"])
    value["cpu_factor"] = _number("cpu_factor", "float", value["cpu_factor"])
    if value["compiled"] not in (True, False):
        raise ValueError(f"compiled: wanted true or false, got {value['compiled']!r}")
    return Policy(**value)


def decode_plan(raw: bytes) -> Plan:
    """Plan of plan.json. Raises ValueError."""
    value = _fields(Plan, json.loads(raw))
    if value["reward"] not in REWARDS:
        raise ValueError(f"plan.json: reward: wanted one of {', '.join(REWARDS)}, got {value['reward']!r}")
    value["threshold"] = _number("threshold", "float", value["threshold"])
    value["timeout_seconds"] = _number("timeout_seconds", "float", value["timeout_seconds"])
    value["slots"] = int(_number("slots", "int", value["slots"]))
    for name in ("public", "held_out"):
        value[name] = _texts(name, value[name])
        if len(set(value[name])) != len(value[name]):
            raise ValueError(f"plan.json: {name}: an id stands there twice")
    if not value["held_out"]:
        raise ValueError("plan.json: held_out: wanted at least one id, got none")
    if set(value["held_out"]) & set(value["public"]):
        raise ValueError("plan.json: an id is both public and held out")
    return Plan(**value)


def encode_cases(cases: Iterable[GradedCase]) -> bytes:
    """The bytes of public.jsonl, and of held_out.sealed in clear: one case a line, by id."""
    return b"".join(canonical(encode_graded(c)) + b"\n" for c in sorted(cases, key=lambda c: c.case.id))


def decode_cases(raw: bytes, wanted: Iterable[str] | None = None) -> tuple[GradedCase, ...]:
    """Cases of their lines, by id. Raises ValueError where their ids are not exactly `wanted`, in both directions."""
    given = [decode_graded(json.loads(line)) for line in raw.splitlines()]
    cases = {c.case.id: c for c in given}
    odd = [] if wanted is None else sorted(set(cases) ^ set(wanted))
    if len(cases) != len(given):
        raise ValueError("case lines: one case stands there twice")
    if odd:
        raise ValueError(f"case lines and plan.json differ in {len(odd)} ids, the first is {odd[0]}")
    return tuple(cases[i] for i in sorted(cases))


def _readable(value: dict[str, Any]) -> bytes:
    return json.dumps(value, indent=1, sort_keys=True, allow_nan=False).encode("ascii") + b"\n"


def _fields(kind: type, value: Any) -> dict[str, Any]:
    wanted = {f.name for f in dataclasses.fields(kind)}
    if not isinstance(value, dict) or set(value) != wanted:
        got = sorted(value) if isinstance(value, dict) else type(value).__name__
        raise ValueError(f"{kind.__name__}: wanted the fields {sorted(wanted)}, got {got}")
    return dict(value)


def _numbers(kind: type, value: Any) -> Any:
    given = _fields(kind, value)
    return kind(**{f.name: _number(f.name, str(f.type), given[f.name]) for f in dataclasses.fields(kind)})


def _number(name: str, kind: str, value: Any) -> float:
    accepted = (int,) if kind == "int" else (int, float)
    if isinstance(value, bool) or not isinstance(value, accepted) or not 0 <= value < math.inf:
        raise ValueError(f"{name}: wanted a number of kind {kind}, at least 0, got {value!r}")
    return float(value) if kind == "float" else value


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise ValueError(f"{name}: wanted a list of strings, got {value!r}")
    return tuple(value)
