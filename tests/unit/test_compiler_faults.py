from __future__ import annotations

import errno
from pathlib import Path

import pytest

from programsmith.compiler.faults import Caught
from programsmith.errors import Exit, InfraError, InputError, PrerequisiteError


@pytest.mark.parametrize(
    ("fault", "code", "line"),
    [
        (InputError("specs/x.yaml:3: no"), Exit.USAGE, "x  error: specs/x.yaml:3: no\n"),
        (PrerequisiteError("no engine"), Exit.USAGE, "x  error: no engine\n"),
        (InfraError("net\ndown"), Exit.INFRA, "x  infra: net down\n"),
        (
            InfraError("cc: \x1b]52;c;x\x07\u202egood\x9b1m"),
            Exit.INFRA,
            "x  infra: cc: \\x1b]52;c;x\\x07\\u202egood\\x9b1m\n",
        ),
        (KeyboardInterrupt(), Exit.INTERRUPTED, "x  interrupted: run the same command again to go on\n"),
        (OSError(errno.ENOSPC, "full", "/big"), Exit.INFRA, "x  infra: /big: ENOSPC, disk full\n"),
    ],
)
def test_every_error_is_one_line_and_a_code(
    fault: BaseException, code: Exit, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Caught(None, "x") as caught:
        raise fault
    assert caught.code is code
    assert capsys.readouterr().err == line


def test_a_bug_leaves_its_traceback_in_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Caught(tmp_path / "logs") as caught:
        raise ZeroDivisionError("of ours")
    log = tmp_path / "logs" / "internal.log"
    assert caught.code is Exit.INFRA
    assert capsys.readouterr().err == f"bug: an internal error; its traceback is in {log}\n"
    assert "ZeroDivisionError: of ours" in log.read_text()


def test_a_bug_without_a_place_for_logs_still_leaves_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "logs").write_text("")
    with Caught(tmp_path / "logs"):
        raise ZeroDivisionError("of ours")
    log = Path(capsys.readouterr().err.strip().rpartition(" ")[2])
    assert "ZeroDivisionError" in log.read_text()
    log.unlink()


def test_an_exit_passes() -> None:
    with pytest.raises(SystemExit), Caught():
        raise SystemExit(7)


def test_no_error_is_no_code() -> None:
    with Caught() as caught:
        pass
    assert caught.code is None


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (set(), Exit.OK),
        ({Exit.OK, Exit.ENDED}, Exit.ENDED),
        ({Exit.ENDED, Exit.INFRA}, Exit.INFRA),
        ({Exit.USAGE, Exit.INFRA, Exit.OK}, Exit.USAGE),
        ({Exit.USAGE, Exit.INTERRUPTED}, Exit.INTERRUPTED),
    ],
)
def test_the_worst_code_wins(codes: set[Exit], expected: Exit) -> None:
    assert Exit.worst(codes) is expected
