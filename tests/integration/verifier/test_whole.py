"""The verifier as a program: from a bundle and a submission on disk to its reward."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from programsmith.bundle.grade import Oracle, grade, grade_all, replay
from programsmith.errors import InfraError
from programsmith.payload.verifier import __main__ as command
from programsmith.payload.verifier import grade as inside
from programsmith.payload.verifier.environment import ORACLE

SAMPLE = Path(__file__).parents[2] / "samples" / "twice"
PROGRAM, COMPILE = (SAMPLE / "main.py").read_bytes(), (SAMPLE / "compile.sh").read_bytes()
RIGHT = {"main.py": PROGRAM, "compile.sh": COMPILE}


def test_the_right_submission_scores_1_through_the_whole_program(
    bundle: Path, environment_file: Path, tmp_path: Path, submit: Callable[..., Path]
) -> None:
    got = grade(bundle, submit(RIGHT), environment_file, tmp_path / "out")
    assert (got.reward, got.word) == (1.0, "AC")
    assert json.loads((tmp_path / "out" / "reward.json").read_bytes()) == {"reward": 1.0}
    assert {"pids", "work", "output", "wall"} <= set(got.details["enforced"])
    assert got.details["families"]["public"]["twice"] == {"passed": 1, "total": 1}
    assert set(got.details["cases"]["public"].values()) == {"AC"}
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["build.log", "details.json", "reward.json"]


def test_submissions_of_one_verifier_get_what_each_gets_alone(
    bundle: Path, environment_file: Path, tmp_path: Path, submit: Callable[..., Path]
) -> None:
    wrong = {**RIGHT, "main.py": b"#!/usr/bin/python3 -IS\nprint('nothing')\n"}
    failing = {**RIGHT, "compile.sh": b"kill -9 $$\n"}
    handed_in = [submit(files).rename(tmp_path / f"s{n}") for n, files in enumerate((wrong, RIGHT, failing, {}, RIGHT))]
    together = grade_all(bundle, {tmp_path / f"o{n}": s for n, s in enumerate(handed_in)}, environment_file)
    assert [(g.reward, g.word) for g in together] == [
        (0.0, "WA_STDOUT"), (1.0, "AC"), (0.0, "BUILD_FAIL"), (0.0, "NO_BUILD"), (1.0, "AC")]  # fmt: skip
    alone = [grade(bundle, s, environment_file, tmp_path / f"a{n}") for n, s in enumerate(handed_in)]
    assert [g.details["cases"] for g in together] == [g.details["cases"] for g in alone]


def test_a_host_fault_with_one_submission_leaves_no_reward_for_it_and_the_others_theirs(
    bundle: Path, environment_file: Path, tmp_path: Path, submit: Callable[..., Path]
) -> None:
    unnameable = tmp_path / ("n" * 300)  # ENAMETOOLONG: nothing that a submission could do
    with pytest.raises(InfraError, match="exit code 2"):
        grade_all(bundle, {tmp_path / "bad": unnameable, tmp_path / "good": submit(RIGHT)}, environment_file)
    assert not (tmp_path / "bad" / "reward.json").exists()
    assert json.loads((tmp_path / "bad" / "details.json").read_bytes())["class"] == "host_fault"
    assert json.loads((tmp_path / "good" / "reward.json").read_bytes()) == {"reward": 1.0}


def test_details_hold_no_input_and_no_expected_byte(
    bundle: Path, environment_file: Path, tests: inside.Tests, tmp_path: Path, submit: Callable[..., Path]
) -> None:
    grade(
        bundle,
        submit({**RIGHT, "main.py": b"#!/usr/bin/python3 -IS\nprint('nothing')\n"}),
        environment_file,
        tmp_path / "out",
    )
    left = b"".join(p.read_bytes() for p in (tmp_path / "out").iterdir())
    for one in tests.cases:
        for secret in (one.case.stdin, one.expected.stdout):
            assert len(secret) < 5 or (secret not in left and base64.b64encode(secret) not in left)


def test_golden_replay_scores_1(bundle: Path, oracle: Path, environment_file: Path, tmp_path: Path) -> None:
    got = replay(bundle, Oracle(tree=oracle, program=f"{ORACLE}/twice"), environment_file, tmp_path / "out")
    assert (got.reward, got.word) == (1.0, "AC")


def test_the_verifier_runs_outside_the_checkout_with_cryptography_alone(
    bundle: Path, environment_file: Path, tmp_path: Path, submit: Callable[..., Path]
) -> None:
    import _cffi_backend
    import cffi
    import cryptography

    site = tmp_path / "site"
    site.mkdir()
    for module in (cryptography, cffi):
        folder = Path(module.__file__).parent
        shutil.copytree(folder, site / folder.name)
    shutil.copy(_cffi_backend.__file__, site)
    moved = shutil.copytree(bundle / "tests", tmp_path / "tests")
    out, submission = tmp_path / "out", submit(RIGHT)
    arguments = ["--tests", moved, "--submission", submission, "--out", out, "--launcher", environment_file]
    done = subprocess.run(
        [sys.executable, "-S", moved / "verify.pyz", *arguments],
        cwd=tmp_path,
        capture_output=True,
        env={"PYTHONPATH": str(site)},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((out / "reward.json").read_bytes()) == {"reward": 1.0}


def test_an_owners_secret_opens_what_it_sealed_and_nothing_else_does(
    tests: inside.Tests, environment_file: Path, tmp_path: Path, submit: Callable[..., Path], write: Callable[..., None]
) -> None:
    write(tmp_path, tests, secret=b"\1" * 32)
    submission = submit(RIGHT)
    assert grade(tmp_path, submission, environment_file, tmp_path / "out", b"\1" * 32).reward == 1.0
    for secret in (None, b"\2" * 32):
        with pytest.raises(InfraError, match="exit code 3"):
            grade(tmp_path, submission, environment_file, tmp_path / "none", secret)
    assert not (tmp_path / "none" / "reward.json").exists()


def test_a_place_without_held_out_cases_is_refused(
    bundle: Path, environment_file: Path, tmp_path: Path, submit: Callable[..., Path]
) -> None:
    tests = shutil.copytree(bundle / "tests", tmp_path / "b" / "tests")
    (tests / "held_out.sealed").unlink()
    with pytest.raises(InfraError, match="only the verifier's own environment can score"):
        grade(tmp_path / "b", submit(RIGHT), environment_file, tmp_path / "out")


def test_nothing_is_scored_in_an_agents_container(
    bundle: Path, environment_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, submit: Callable[..., Path]
) -> None:
    (tmp_path / "check").touch()
    monkeypatch.setattr(command, "AGENT_MARK", str(tmp_path / "check"))
    words = ["--tests", bundle / "tests", "--submission", submit(RIGHT), "--out", tmp_path / "out"]
    assert command.main([*map(str, words), "--launcher", str(environment_file)]) == 3
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("compare", [(("stdout", "fuzzy"),), (("stdin", "bytes"),)])
def test_a_comparator_outside_the_closed_list_breaks_the_bundle_before_anything_runs(
    tests: inside.Tests,
    environment_file: Path,
    tmp_path: Path,
    compare: tuple[tuple[str, str], ...],
    submit: Callable[..., Path],
    write: Callable[..., None],
) -> None:
    write(tmp_path, replace(tests, cases=(replace(tests.cases[0], compare=compare), *tests.cases[1:])))
    with pytest.raises(InfraError, match=r"(?s)exit code 3.*compar"):
        grade(tmp_path, submit(RIGHT), environment_file, tmp_path / "out")


def test_an_unknown_launcher_is_infra_and_leaves_no_reward(
    bundle: Path, tmp_path: Path, submit: Callable[..., Path]
) -> None:
    (tmp_path / "e.json").write_text(json.dumps({"kind": "plain", "build": {}, "run": {}}))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "reward.json").write_text('{"reward": 1.0}')
    with pytest.raises(InfraError, match="exit code 2"):
        grade(bundle, submit(RIGHT), tmp_path / "e.json", tmp_path / "out")
    assert not (tmp_path / "out" / "reward.json").exists()
    assert json.loads((tmp_path / "out" / "details.json").read_bytes())["class"] == "no_isolation"
