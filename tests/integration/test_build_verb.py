"""The verb build over spec files of a project, on the small pipeline: words, codes, answers, interrupts."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

SAMPLES = Path(__file__).parents[1] / "samples"


@pytest.fixture
def project(toy: Any) -> Any:
    spec(toy, "alpha")
    return toy


def spec(toy: Any, name: str, **changed: Any) -> None:
    path = toy.root / "specs" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    values = {"version": 1, "name": name, "source": {"path": "mine"}, "description": "", **changed}
    path.write_text(yaml.safe_dump(values))


def start(toy: Any, *args: str, cwd: Path | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, str(SAMPLES / "toyverb.py"), str(toy.root), *args]
    return subprocess.Popen(command, cwd=cwd or toy.root, stdin=subprocess.DEVNULL, stdout=-1, stderr=-1, text=True)


def build(toy: Any, *args: str, cwd: Path | None = None) -> tuple[int, str, str]:
    running = start(toy, *args, cwd=cwd)
    out, err = running.communicate(timeout=60)
    return running.returncode, out, err


def test_the_answer_is_one_line_per_spec_on_stdout(project: Any) -> None:
    spec(project, "beta")
    code, out, err = build(project)
    assert code == 0
    root = project.root
    assert out == f"alpha  draft  {root}/dist/drafts/alpha\nbeta  draft  {root}/dist/drafts/beta\n"
    assert "alpha  dig" in err
    assert build(project)[0] == 0


@pytest.mark.parametrize("word", ["spec=alpha", "spec=alpha.yaml", "spec=specs/alpha.yaml"])
def test_a_spec_is_found_by_name_and_by_file(project: Any, word: str) -> None:
    spec(project, "beta")
    code, out, _ = build(project, word)
    assert code == 0
    assert out.startswith("alpha  draft")
    assert "beta" not in out


def test_a_spec_is_found_from_elsewhere_by_its_file(project: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    code, out, _ = build(project, f"spec={project.root}/specs/alpha.yaml", cwd=elsewhere)
    assert code == 0
    assert out.startswith("alpha  draft")


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (
            ["spec=alhpa"],
            "error: spec=alhpa: wanted the name or the file of a spec, got nothing there; did you mean `alpha`?",
        ),
        (["spce=alpha"], "error: spce=alpha: wanted a known word, got 'spce'; did you mean `spec`?"),
        (["alpha"], "error: 'alpha': wanted words like spec=NAME; write spec=alpha"),
        (["-n", "0"], "error: -n 0: wanted a number of workers from 1 up"),
    ],
)
def test_wrong_words_are_one_line_and_three(project: Any, args: list[str], line: str) -> None:
    code, out, err = build(project, *args)
    assert (code, out) == (3, "")
    assert err == line + "\n"


def test_many_specs_are_built_only_when_somebody_says_so(project: Any) -> None:
    for name in ("beta", "delta", "gamma"):
        spec(project, name)
    code, out, err = build(project)
    assert (code, out) == (3, "")
    names = "alpha, beta, delta, gamma"
    assert err == f"error: 4 specs would be built: {names}; add --yes, or name those that you want: spec=NAME,NAME\n"
    assert build(project, "spec=alpha")[0] == 0
    code, out, _ = build(project)
    assert (code, out.count("draft  ")) == (0, 4)
    for name in ("alpha", "beta", "delta", "gamma"):
        spec(project, name, generation=3)
    assert build(project, "--yes")[0] == 0


def test_a_broken_spec_is_three_and_holds_no_other(project: Any) -> None:
    spec(project, "beta", colour="red")
    code, out, err = build(project)
    assert code == 3
    assert out.startswith("alpha  draft")
    assert "beta  error: specs/beta.yaml:" in err
    assert "Traceback" not in err


def test_a_no_is_one(project: Any) -> None:
    project.rule("weights", "least: 1000")
    code, out, _ = build(project)
    assert code == 1
    assert out == f"alpha  drop  {project.root}/cache/alpha/verdict.json\n"


def test_infra_is_two_and_comes_before_a_no(project: Any) -> None:
    spec(project, "beta", description="infra")
    project.rule("weights", "least: 1000")
    code, out, err = build(project)
    assert code == 2
    assert "alpha  drop" in out
    assert "water is off" in err


def test_wrong_input_comes_before_infra(project: Any) -> None:
    spec(project, "beta", description="infra")
    spec(project, "gamma", colour="red")
    assert build(project)[0] == 3


def test_a_missing_source_is_three(project: Any) -> None:
    spec(project, "alpha", source={"path": "nowhere"})
    assert build(project)[0] == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupt_is_130_at_once_and_the_next_run_goes_on(project: Any, number: int, workers: str) -> None:
    spec(project, "alpha", description="slow")
    running = start(project, "-n", workers)
    while not (project.root / "started").exists():
        time.sleep(0.02)
    sent = time.monotonic()
    running.send_signal(number)
    out, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert time.monotonic() - sent < 5
    assert err.endswith("alpha  interrupted: run the same command again to go on\n")
    assert out == ""
    assert not (project.root / "cache" / "alpha" / "scratch").exists()
    spec(project, "alpha")
    code, _, err = build(project)
    assert code == 0
    assert "alpha  dig" not in err


def test_an_unwritable_cache_is_three(project: Any) -> None:
    (project.root / "cache").write_text("a file where a folder is wanted")
    code, _, err = build(project)
    assert code == 3
    assert err.startswith(f"error: {project.root}/cache")
    assert "Traceback" not in err


def test_an_earlier_export_goes_when_the_verdict_does(project: Any) -> None:
    assert build(project)[0] == 0
    project.rule("weights", "least: 1000")
    assert build(project)[0] == 1
    assert not (project.root / "dist" / "drafts" / "alpha").exists()


@pytest.mark.parametrize("kilobytes", [64, 128, 512])
def test_a_full_disk_is_two_and_the_next_run_goes_on(project: Any, kilobytes: int) -> None:
    cache = project.root / "cache"
    cache.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", str(cache)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount: run as root")
    try:
        spec(project, "alpha", generation=40_000)
        code, out, err = build(project)
        assert code == 2, err
        assert "full" in err
        assert "Traceback" not in err
        assert "draft" not in out
        spec(project, "alpha", generation=1)
        subprocess.run([*mount[:4], "remount,size=8m", *mount[5:]], check=True)
        assert build(project)[0] == 0
    finally:
        subprocess.run(["umount", str(cache)], check=True)


def test_a_child_that_dies_without_an_answer_is_infra_and_holds_no_other(project: Any) -> None:
    spec(project, "alpha", description="killed")
    spec(project, "beta")
    code, out, err = build(project, "-n", "2")
    assert code == 2
    assert out == f"beta  draft  {project.root}/dist/drafts/beta\n"
    assert "alpha  infra: its process ended without an answer (signal 9); run again to go on\n" in err
    spec(project, "alpha")
    assert build(project)[0] == 0


def test_what_does_not_heed_an_interrupt_is_killed_at_the_second(project: Any) -> None:
    spec(project, "alpha", description="deaf")
    running = start(project)
    while not (project.root / "started").exists():
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=20)
    assert (running.returncode, out) == (130, "")
    assert err.endswith("alpha  interrupted: run the same command again to go on\n")


def test_a_terminal_shows_the_same_lines_and_what_runs(project: Any) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, str(SAMPLES / "toyverb.py"), str(project.root)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    running = subprocess.Popen(
        command, cwd=project.root, stdin=subprocess.DEVNULL, stdout=-1, stderr=theirs, env=environment
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    out, _ = running.communicate(timeout=30)
    os.close(ours)
    assert running.returncode == 0
    assert out.startswith(b"alpha  draft")
    assert b"alpha  dig           pass" in shown
    assert b"\x1b[" in shown
