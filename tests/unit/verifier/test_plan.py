"""policy.json, plan.json and case lines: what is read back, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from programsmith.payload.verifier.limits import case_limits, timeout_seconds
from programsmith.payload.verifier.model import FileEntry, GradedCase
from programsmith.payload.verifier.plan import (
    Plan,
    Policy,
    decode_cases,
    decode_plan,
    decode_policy,
    encode_cases,
    encode_plan,
    encode_policy,
)


def test_policy_and_plan_read_back_equal(policy: Policy, plan_of: Callable[..., Plan], case_of) -> None:
    plan = plan_of([case_of(b"a")], [case_of(b"b")], reward="threshold", threshold=0.5, notes={"k": [1]}, waived="x")
    assert decode_policy(encode_policy(policy)) == policy
    assert decode_plan(encode_plan(plan)) == plan


def changed(raw: bytes, **more: object) -> bytes:
    return json.dumps({**json.loads(raw), **more}).encode()


@pytest.mark.parametrize(
    "more",
    [
        {"compiled": "no"},
        {"unknown": 1},
        {"cpu_factor": "1"},
        {"cpu_factor": -1},
        {"cpu_factor": float("nan")},
        {"languages": "python"},
        {"languages": [1]},
        {"case": {}},
        {"build": []},
        {"submission": {"files": 1, "bytes": 1.5, "depth": 1}},
        {"submission": {"files": True, "bytes": 1, "depth": 1}},
    ],
)
def test_a_broken_policy_is_refused(policy: Policy, more: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="wanted"):
        decode_policy(changed(encode_policy(policy), **more))


@pytest.mark.parametrize(
    "more",
    [
        {"reward": "sum"},
        {"threshold": None},
        {"slots": 1.5},
        {"held_out": []},
        {"held_out": ["a", "a"]},
        {"public": ["a"], "held_out": ["a"]},
        {"public": {}},
        {"timeout_seconds": float("inf")},
        {"more": 0},
    ],
)
def test_a_broken_plan_is_refused(plan_of: Callable[..., Plan], case_of, more: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"plan|wanted"):
        decode_plan(changed(encode_plan(plan_of([case_of(b"a")], [])), **more))


def test_a_missing_field_is_refused(policy: Policy) -> None:
    value = json.loads(encode_policy(policy))
    del value["tool"]
    with pytest.raises(ValueError, match="wanted the fields"):
        decode_policy(json.dumps(value).encode())


def odd(case_of: Callable[..., GradedCase]) -> list[GradedCase]:
    files = (FileEntry(b"\xff\n", "file", 0o755, b"\0"), FileEntry(b"l", "link", 0o777, b"x"))
    return [case_of(b"\xff", b"", stdout=b"\0\xfe", files=files, signal=6, exit_code=None), case_of(b"b")]


def test_case_lines_read_back_equal_in_id_order(case_of) -> None:
    cases = odd(case_of)
    ids = [c.case.id for c in cases]
    assert list(decode_cases(encode_cases(cases), ids)) == sorted(cases, key=lambda c: c.case.id)
    assert encode_cases(cases) == encode_cases(reversed(cases))


def test_case_lines_join_the_closed_set_of_ids_in_both_directions(case_of) -> None:
    cases = odd(case_of)
    ids = [c.case.id for c in cases]
    for wanted in (ids[:1], [*ids, "c0"], [ids[0], "c0"]):
        with pytest.raises(ValueError, match="differ in"):
            decode_cases(encode_cases(cases), wanted)
    with pytest.raises(ValueError, match="twice"):
        decode_cases(encode_cases(cases) * 2, ids)


def test_a_cases_limits_follow_from_its_golden(policy: Policy, case_of) -> None:
    small = case_limits(case_of(b"a"), policy.case, 1.0)
    assert (small.cpu_seconds, small.wall_seconds, small.output_bytes) == (2, 12, 1 << 16)
    slow = replace(case_of(b"a", stdout=bytes(1000)), cpu_seconds=0.5)
    assert case_limits(slow, policy.case, 3.0).cpu_seconds == 15
    assert case_limits(slow, policy.case, 3.0).wall_seconds == 75
    assert case_limits(slow, policy.case, 3.0).output_bytes == 4000 + (1 << 16)


def test_the_verifiers_time_covers_every_case_at_its_wall_limit(policy: Policy, case_of) -> None:
    limits = [case_limits(case_of(b"%d" % n), policy.case, 1.0) for n in range(10)]
    seconds = timeout_seconds(limits, policy, slots=2)
    assert seconds >= policy.build.wall_seconds + 5 * 12 + 2 * policy.case.reruns * 12
    assert timeout_seconds(limits, policy, slots=1) > seconds
