"""The agent's public runner, as one file in a folder like an agent's: what it prints, what it leaves."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from programsmith.bundle.zipapp import check_pyz
from programsmith.payload.bundle.check import main
from programsmith.payload.bundle.difference import first_difference
from programsmith.payload.verifier.model import FileEntry, GradedCase
from programsmith.payload.verifier.plan import Policy, encode_cases, encode_policy

PROGRAM = b"import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read().upper())\n"
COMPILE = (
    b"#!/bin/sh\nset -eu\nmkdir -p build\necho intermediate >build/x.o\n"
    b"{ echo '#!" + sys.executable.encode() + b" -IS'; cat main.py; } >executable\nchmod 755 executable\n"
)


@pytest.fixture
def cases(case_of: Callable[..., GradedCase]) -> list[GradedCase]:
    return [
        case_of(b"-a", stdin=b"one\n", stdout=b"ONE\n", family="tool -a"),
        case_of(b"-b", stdin=b"two\n\x1b[0m", stdout=b"TWO\n\x1b[0M", family="tool -b"),
    ]


@pytest.fixture
def app(tmp_path: Path, policy: Policy, cases: list[GradedCase]) -> Path:
    (tmp_path / "policy.json").write_bytes(encode_policy(replace(policy, run_programs=(sys.executable,))))
    (tmp_path / "public.jsonl").write_bytes(encode_cases(cases))
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / "main.py").write_bytes(PROGRAM)
    (tmp_path / "submission" / "compile.sh").write_bytes(COMPILE)
    return tmp_path


def listing(app: Path) -> dict[str, bytes]:
    root = app / "submission"
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_a_right_submission_passes_and_is_left_as_it_was(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = listing(app)
    assert main([], str(app)) == 0
    said = capsys.readouterr().out
    assert "    1/1     tool -a" in said
    assert "2 of 2 public cases pass" in said
    after = listing(app)
    assert after.pop("executable").startswith(b"#!")
    assert after == before
    assert not (app / "submission" / "build").exists()


def test_running_it_twice_gives_the_same_answer(app: Path) -> None:
    assert [main([], str(app)), main([], str(app))] == [0, 0]


def test_the_first_differences_are_shown_escaped(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (app / "submission" / "main.py").write_bytes(PROGRAM.replace(b".upper()", b""))
    assert main([], str(app)) == 1
    said = capsys.readouterr().out
    assert "WA_STDOUT" in said
    assert "stdout differs at byte 0, line 1" in said
    assert "expected: TWO\\n\\x1b[0M" in said
    assert "\x1b" not in said


def test_chosen_cases_run_alone(app: Path, cases: list[GradedCase], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([cases[0].case.id], str(app)) == 0
    assert "1 of 1 public cases pass" in capsys.readouterr().out
    assert main(["cnone"], str(app)) == 2


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("blob", Path("/bin/true").resolve().read_bytes(), "POLICY: blob: ELF"),
        ("fast.s", b".globl x\n", "POLICY: fast.s: "),
        ("compile.sh", b"exit 7\n", "BUILD_FAIL: compile.sh ended with exit code 7"),
        ("compile.sh", b"exit 0\n", "NO_BUILD: compile.sh left no executable"),
    ],
)
def test_it_refuses_what_the_verifier_refuses(
    app: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, said: str
) -> None:
    (app / "submission" / "executable").write_bytes(b"stale")
    (app / "submission" / name).write_bytes(content)
    assert main([], str(app)) == 1
    assert said in capsys.readouterr().out


def test_a_source_that_the_build_changes_is_put_back(app: Path) -> None:
    (app / "submission" / "compile.sh").write_bytes(COMPILE + b"echo '# touched' >>main.py\nln -s main.py extra\n")
    before = listing(app)
    assert main([], str(app)) == 0
    after = listing(app)
    after.pop("executable")
    assert after == before
    assert not os.path.lexists(app / "submission" / "extra")


def test_links_are_named_as_not_handed_in(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (app / "submission" / "shadow").symlink_to("/etc/shadow")
    assert main([], str(app)) == 0
    assert "not handed in: shadow: symlink" in capsys.readouterr().out
    assert (app / "submission" / "shadow").is_symlink()


def test_a_missing_part_is_said_and_nothing_runs(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (app / "policy.json").write_bytes(b"{}")
    assert main([], str(app)) == 2
    assert "Policy: wanted the fields" in capsys.readouterr().err


def test_it_runs_as_one_file_with_the_standard_library_alone(app: Path) -> None:
    check = app / "check"
    check.write_bytes(check_pyz())
    check.chmod(0o755)
    code = f"import sys; sys.path.insert(0, {str(check)!r}); from programsmith.payload.bundle.check import main; "
    code += f"sys.exit(main([], {str(app)!r}))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, env={"PATH": "/usr/bin"})
    assert done.returncode == 0, done.stderr
    assert b"2 of 2 public cases pass" in done.stdout


def test_files_that_differ_are_named(app: Path, case_of: Callable[..., GradedCase], capsys) -> None:
    made = (FileEntry(b"out\n", "file", 0o644, b"x"),)
    (app / "public.jsonl").write_bytes(encode_cases([case_of(b"-f", stdin=b"", files=made)]))
    source = b"import os\nos.unlink('out\\n')\nopen('new', 'w').close()\n"
    (app / "submission" / "main.py").write_bytes(source)
    assert main([], str(app)) == 1
    said = capsys.readouterr().out
    assert "file new: not expected" in said
    assert "file out\\n: missing" in said


@pytest.mark.parametrize(
    ("left", "right", "at"),
    [(b"a", b"b", 0), (b"ab", b"ac", 1), (b"a", b"ab", 1), (b"", b"x", 0), (b"xyz1", b"xyz", 3)],
)
def test_the_first_difference_is_found(left: bytes, right: bytes, at: int) -> None:
    assert first_difference(left, right) == at
