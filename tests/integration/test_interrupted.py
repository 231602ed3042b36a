"""An interrupt while a command still imports what it needs: one line, exit code 130, no traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[1] / "samples" / "interrupted.py"
LINE = "interrupted: run the same command again to go on\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "specs").mkdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "specs" / "toy.yaml").write_text("version: 1\nname: toy\nsource: {path: mine}\n")
    return tmp_path


def run(project: Path, module: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SAMPLE), module, *words]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("module", ["programsmith.compiler.early", "programsmith.cli", "yaml", "doit.runner"])
def test_programsmith_says_one_line(project: Path, module: str) -> None:
    done = run(project, module, "programsmith", "build", "spec=toy")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", LINE)


@pytest.mark.parametrize("module", ["programsmith.compiler.builds", "yaml"])
def test_doit_says_one_line(project: Path, module: str) -> None:
    done = run(project, module, "doit", "build", "spec=toy")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", LINE)


def test_who_ignores_interrupts_is_not_ended_by_one(project: Path) -> None:
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = run(project, "programsmith.cli", "programsmith", "version")
    finally:
        signal.signal(signal.SIGINT, former)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["programsmith", "doit"])
@pytest.mark.parametrize("verb", ["plan", "status"])
def test_a_verb_that_looks_says_one_line_too(project: Path, command: str, verb: str) -> None:
    done = run(project, f"programsmith.compiler.verbs.{verb}", command, verb)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.startswith("interrupted: ")
    assert done.stderr.count("\n") == 1
    done = run(project, "programsmith.cli", command, verb)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", LINE)


def test_what_comes_before_an_answer_to_interrupts_imports_next_to_nothing() -> None:
    code = "import sys; before = {*sys.modules}; import programsmith.compiler.quiet; print(*{*sys.modules} - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    own = {"programsmith", "programsmith.compiler", "programsmith.compiler.quiet"}
    found = {name for name in done.stdout.split() if name not in sys.stdlib_module_names}
    assert found == own


def test_one_that_is_lost_where_no_frame_can_take_it_comes_again() -> None:
    code = """
import signal, time, weakref
from programsmith.compiler.quiet import begun, until_begun
until_begun(); begun()
class Thing: pass
thing = Thing()
gone = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
del thing
try:
    time.sleep(10)
except KeyboardInterrupt:
    print("heard")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "heard\n", "")


def test_what_else_is_lost_there_is_told_as_python_tells_it() -> None:
    code = """
import weakref
from programsmith.compiler.quiet import begun, until_begun
until_begun(); begun()
class Thing: pass
thing = Thing()
gone = weakref.ref(thing, lambda _: 1 / 0)
del thing
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, "ZeroDivisionError" in done.stderr) == (0, True)
