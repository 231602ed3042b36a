"""A small policy and small cases for the verifier's tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from programsmith.payload.verifier.model import Case, Expected, GradedCase
from programsmith.payload.verifier.plan import BuildRule, CaseRule, Plan, Policy, ReceiptRule

SMALL = Policy(
    tool="twice",
    languages=("python",),
    refused_suffixes=(".c", ".rb"),
    build_programs=("sh", "cat", "chmod", "python3"),
    run_programs=("python3",),
    cpu_factor=1.0,
    case=CaseRule(
        cpu_floor_seconds=2,
        cpu_factor=10,
        wall_factor=5,
        wall_extra_seconds=10,
        memory_bytes=256 << 20,
        pids=16,
        output_factor=4,
        output_extra_bytes=1 << 16,
        work_bytes=8 << 20,
        work_files=256,
        reruns=2,
    ),
    build=BuildRule(
        cpu_seconds=10,
        wall_seconds=20,
        memory_bytes=512 << 20,
        pids=64,
        output_bytes=1 << 20,
        work_bytes=32 << 20,
        work_files=1000,
    ),
    submission=ReceiptRule(files=200, bytes=4 << 20, depth=8),
)


@pytest.fixture
def policy() -> Policy:
    return SMALL


@pytest.fixture
def plan_of() -> Callable[..., Plan]:
    def make(held_out: list[GradedCase], public: list[GradedCase], **more: object) -> Plan:
        plan = Plan(
            reward="binary",
            threshold=0.0,
            slots=2,
            timeout_seconds=120.0,
            public=tuple(c.case.id for c in public),
            held_out=tuple(c.case.id for c in held_out),
        )
        return replace(plan, **more)

    return make


@pytest.fixture
def case_of() -> Callable[..., GradedCase]:
    def make(*argv: bytes, stdout: bytes = b"", family: str = "f", **more: object) -> GradedCase:
        case = Case(argv=argv, stdin=more.pop("stdin", b""), files=more.pop("files", ()))
        expected = replace(Expected(exit_code=0, stdout=stdout), **more)
        return GradedCase(case=case, expected=expected, family=family, cpu_seconds=0.01)

    return make
