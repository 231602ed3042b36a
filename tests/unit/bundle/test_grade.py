"""Reading a grade from the host: one finite reward, or no grade at all."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from programsmith.bundle.grade import grade, read_grade
from programsmith.errors import InfraError
from programsmith.payload.verifier.plan import Plan, encode_plan


def left(out: Path, reward: bytes, details: float | None = 1.0) -> Path:
    out.mkdir(exist_ok=True)
    (out / "reward.json").write_bytes(reward)
    (out / "details.json").write_text(json.dumps({"reward": details, "word": "AC", "reason": "all"}))
    return out


def test_a_well_formed_grade_is_read(tmp_path: Path) -> None:
    got = read_grade(left(tmp_path / "o", b'{"reward": 0.25}', 0.25))
    assert (got.reward, got.word, got.reason) == (0.25, "AC", "all")
    assert read_grade(left(tmp_path / "o", b'{"reward": 1}')).reward == 1.0


@pytest.mark.parametrize(
    "reward",
    [
        b"",
        b"1",
        b'{"reward": NaN}',
        b'{"reward": Infinity}',
        b'{"reward": -0.5}',
        b'{"reward": 1.5}',
        b'{"reward": true}',
        b'{"reward": "1"}',
        b'{"reward": null}',
        b'{"reward": [1]}',
        b'{"reward": 1, "bonus": 1}',
        b'{"score": 1}',
        b'{"reward": 1} {"reward": 0}',
        b'{"reward": 1}' + b" " * 5000,
        b"\xff\xfe",
    ],
)
def test_anything_but_one_finite_reward_is_infra(tmp_path: Path, reward: bytes) -> None:
    with pytest.raises(InfraError, match="no well-formed grade"):
        read_grade(left(tmp_path / "o", reward))


def test_a_reward_that_details_contradict_is_infra(tmp_path: Path) -> None:
    with pytest.raises(InfraError, match="details"):
        read_grade(left(tmp_path / "o", b'{"reward": 1}', 0.0))


@pytest.mark.parametrize("kind", ["missing", "link", "fifo", "folder"])
def test_a_reward_that_is_no_regular_file_is_infra(tmp_path: Path, kind: str) -> None:
    out = left(tmp_path / "o", b'{"reward": 1}')
    real = (out / "reward.json").rename(tmp_path / "real.json")
    if kind == "link":
        (out / "reward.json").symlink_to(real)
    elif kind == "fifo":
        os.mkfifo(out / "reward.json")
    elif kind == "folder":
        (out / "reward.json").mkdir()
    with pytest.raises(InfraError):
        read_grade(out)


def bundle(root: Path, program: bytes, seconds: float) -> Path:
    """A bundle whose verifier is another program, and `e` beside it: what the host does with it is under test."""
    (root.parent / "e").write_text('{"kind": "bubblewrap"}')
    (root / "tests").mkdir(parents=True)
    plan = Plan(reward="binary", threshold=0.0, slots=1, timeout_seconds=seconds, public=(), held_out=("c0",))
    (root / "tests" / "plan.json").write_bytes(encode_plan(plan))
    (root / "tests" / "verify.pyz").write_bytes(program)
    return root


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_a_verifier_that_never_ends_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    source = (
        b"import os, subprocess, sys, time\n"
        b"child = subprocess.Popen(['sleep', '60'])\n"
        b"open(sys.argv[sys.argv.index('--out') + 1] + '/pid', 'w').write(str(child.pid))\ntime.sleep(60)\n"
    )
    began = time.monotonic()
    with pytest.raises(InfraError, match="longer than its own limit"):
        grade(bundle(tmp_path / "b", source, 3), tmp_path, tmp_path / "e", tmp_path / "out")
    assert time.monotonic() - began < 20
    pid = int((tmp_path / "out" / "pid").read_text())
    while alive(pid):
        assert time.monotonic() - began < 30
        time.sleep(0.05)


def test_a_verifier_that_crashes_is_infra_and_says_why(tmp_path: Path) -> None:
    with pytest.raises(InfraError, match=r"(?s)exit code 1.*ValueError: broken"):
        grade(bundle(tmp_path / "b", b"raise ValueError('broken')\n", 20), tmp_path, tmp_path / "e", tmp_path / "out")


def test_a_verifier_sees_a_clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSION_TOKEN", "x")
    source = b"import os, sys\nsys.exit(repr(sorted(os.environ)))\n"
    with pytest.raises(InfraError, match=r"\['LC_ALL', 'PATH', 'TMPDIR'\]"):
        grade(bundle(tmp_path / "b", source, 20), tmp_path, tmp_path / "e", tmp_path / "out")


def test_a_folder_that_is_no_bundle_is_infra(tmp_path: Path) -> None:
    with pytest.raises(InfraError, match="not a bundle's tests folder"):
        grade(tmp_path, tmp_path, tmp_path, tmp_path / "out")
