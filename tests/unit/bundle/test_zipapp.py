"""The two programs of a bundle: deterministic bytes, and what each may hold."""

from __future__ import annotations

import io
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

import programsmith
from programsmith.bundle.zipapp import check_pyz, verify_pyz
from programsmith.compiler.imports import Package


def names(raw: bytes) -> set[str]:
    return set(zipfile.ZipFile(io.BytesIO(raw)).namelist())


def test_the_same_sources_give_the_same_bytes_at_any_time() -> None:
    first = verify_pyz(), check_pyz()
    time.sleep(2.1)  # zip files count in steps of two seconds
    assert (verify_pyz(), check_pyz()) == first


def test_the_verifier_has_no_launcher_without_isolation() -> None:
    held = names(verify_pyz())
    assert "programsmith/payload/verifier/bwrap.py" in held
    assert "programsmith/payload/verifier/plain.py" not in held
    assert "programsmith/payload/bundle/check.py" not in held


def test_the_public_runner_can_neither_score_nor_unseal() -> None:
    held = names(check_pyz())
    assert "programsmith/payload/verifier/plain.py" in held
    assert not {f"programsmith/payload/verifier/{n}.py" for n in ("unseal", "grade", "__main__", "launchers")} & held
    assert check_pyz().startswith(b"#!/usr/bin/env python3\n")


def test_each_holds_what_it_imports_and_no_more() -> None:
    package = Package(Path(programsmith.__file__).parent)
    for raw, main in ((verify_pyz(), "verifier.__main__"), (check_pyz(), "bundle.check")):
        wanted = {
            f"programsmith/{path.relative_to(package.folder)}"
            for path in package.closure(f"programsmith.payload.{main}").values()
        }
        assert names(raw) == {*wanted, "__main__.py"}


def test_what_a_grade_comes_to_is_not_shown_to_an_agent() -> None:
    assert "programsmith/payload/verifier/report.py" not in names(check_pyz())


def test_both_share_their_policy_words_and_comparators_byte_for_byte() -> None:
    verify, check = (zipfile.ZipFile(io.BytesIO(raw)) for raw in (verify_pyz(), check_pyz()))
    for module in ("policy", "layers", "magic", "words", "compare", "receive", "build_step", "cases", "limits"):
        name = f"programsmith/payload/verifier/{module}.py"
        assert verify.read(name) == check.read(name)


def test_each_starts_with_the_standard_library_alone(tmp_path: Path) -> None:
    for name, raw, said in (("v.pyz", verify_pyz(), b"usage: verify.pyz"), ("check", check_pyz(), b"policy.json")):
        (tmp_path / name).write_bytes(raw)
        done = subprocess.run([sys.executable, "-I", "-S", name, "--help"], cwd=tmp_path, capture_output=True)
        assert said in done.stdout + done.stderr, done.stderr


def test_the_verifier_refuses_to_score_without_its_sealed_cases(tmp_path: Path) -> None:
    (tmp_path / "v.pyz").write_bytes(verify_pyz())
    words = ["--tests", tmp_path, "--submission", tmp_path, "--out", tmp_path / "out", "--launcher", tmp_path / "l"]
    done = subprocess.run([sys.executable, "-I", "-S", tmp_path / "v.pyz", *words], capture_output=True)
    assert done.returncode == 3
    assert b"only the verifier's own environment can score" in done.stderr
    assert not (tmp_path / "out").exists()


def test_replay_and_submission_exclude_each_other(tmp_path: Path) -> None:
    (tmp_path / "v.pyz").write_bytes(verify_pyz())
    for subject in ([], ["--submission", "x", "--replay", "y", "z"]):
        words = ["--tests", "x", "--out", "x", "--launcher", "x", *subject]
        done = subprocess.run([sys.executable, "-I", "-S", tmp_path / "v.pyz", *words], capture_output=True)
        assert (done.returncode, b"either" in done.stderr) == (3, True)


@pytest.mark.parametrize("subject", [["--submission", "x", "--submission", "y"], ["--replay", "y", "z", "--out", "y"]])
def test_each_submission_has_a_place_for_its_own_grade(tmp_path: Path, subject: list[str]) -> None:
    (tmp_path / "v.pyz").write_bytes(verify_pyz())
    words = ["--tests", "x", "--out", "x", "--launcher", "x", *subject]
    done = subprocess.run([sys.executable, "-I", "-S", tmp_path / "v.pyz", *words], capture_output=True)
    assert (done.returncode, b"one --out for each" in done.stderr) == (3, True)
