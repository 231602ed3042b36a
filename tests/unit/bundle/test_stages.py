"""Launches at a stage of the verifier's container: their forms, and that they are those that grade there."""

from __future__ import annotations

import json

import pytest

from programsmith.bundle.stages import opened_stages
from programsmith.payload.stage.launch import decode_request, decode_result, encode_request, encode_result
from programsmith.payload.verifier.launcher import LauncherError, Mount, Request, Result, Surroundings
from programsmith.payload.verifier.model import FileEntry, Limits
from tests.unit.bundle.conftest import Toy

LIMITS = Limits(cpu_seconds=5, wall_seconds=20, memory_bytes=1 << 28, pids=16, output_bytes=1 << 16,
                work_bytes=1 << 20, work_files=64)  # fmt: skip
REQUEST = Request(
    program="/usr/bin/python3",
    argv=(b"python3", b"\xff\n"),
    env=((b"A", b"\xfe"),),
    limits=LIMITS,
    stdin=b"\0\xff",
    files=(FileEntry(b"\xff", "file", 0o640, b"\0"), FileEntry(b"l", "link", 0o777, b"/x")),
    mounts=(Mount(source="/a", target="/b"),),
    hidden=("/usr/bin/sort",),
    collect=False,
    collect_bytes=7,
    surroundings=Surroundings(cwd="/app", umask=0o77, one_cpu=True),
)
RESULT = Result(
    started=True,
    exit_code=None,
    signal=9,
    stdout=b"\xff\0",
    stderr=b"\xfe",
    files=(FileEntry(b"\xff", "special", 0o600),),
    cpu_seconds=0.25,
    wall_seconds=1.5,
    limits_hit=frozenset({"cpu", "wall"}),
)


def test_every_field_of_a_request_crosses_the_border() -> None:
    assert decode_request(json.loads(json.dumps(encode_request(REQUEST)))) == REQUEST


@pytest.mark.parametrize("result", [RESULT, Result(), Result(fault="why"), Result(started=False, start_error=2)])
def test_every_field_of_a_result_crosses_the_border(result: Result) -> None:
    assert decode_result(json.loads(json.dumps(encode_result(result)))) == result


@pytest.mark.parametrize(
    "spoil",
    [{"stdout": "not base64"}, {"more": 1}, {"files": [{"path": "eA==", "kind": "odd", "mode": 1, "content": ""}]},
     {"files": 3}, {"limits_hit": 3}],
)  # fmt: skip
def test_a_result_that_no_launch_has_is_refused(spoil: dict[str, object]) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        decode_result({**encode_result(RESULT), **spoil})


def test_a_broken_environment_is_refused(toy: Toy) -> None:
    for raw in (b"", b"[]", b"{}", b'{"kind": 1}'):
        with pytest.raises(LauncherError, match="environment file"), opened_stages(toy.bundle, raw):
            pass
