"""The clock axis on programs of each kind: what asks the time of day is caught, what only takes time is not."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from programsmith.goldens.axes import axes_of
from programsmith.goldens.capture import Capture
from programsmith.goldens.observe import Observer
from programsmith.payload.verifier.launchers import bubblewrap
from programsmith.payload.verifier.model import Case, Limits
from programsmith.sandboxes import clock, launcher_config, open_launcher
from programsmith.sandboxes.config import require_namespaces
from programsmith.sandboxes.view import list_view, python_view
from tests.samples.golden import facts

ROOT = Path(__file__).parents[2]
WAVERS = ROOT / "tests/samples/wavers"
RULE = yaml.safe_load((ROOT / "rules/goldens.yaml").read_bytes())
AXES = [axis for axis in axes_of(RULE["axes"]) if axis.name in {"clock", "umask"}]
LIMITS = Limits(
    cpu_seconds=10,
    wall_seconds=20,
    memory_bytes=1 << 32,  # a Go program reserves much
    pids=64,
    output_bytes=1 << 20,
    work_bytes=1 << 24,
    work_files=100,
)
GO = ["go", "build", "-o"]
BUILDS = {
    "dynamic": ["gcc", "-O1", "-pthread", str(WAVERS / "clock.c"), "-o"],
    "static": ["gcc", "-O1", "-static", "-pthread", str(WAVERS / "clock.c"), "-o"],
    "go": ["env", "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GO111MODULE=off", *GO],
}
ASKS = ["time", "day", "clock", "coarse", "file", "thread", "child"]


@pytest.fixture(scope="module")
def launcher():
    opened = open_launcher(list_view(programs=["/bin/sh"]))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def captures(launcher, tmp_path_factory):
    """A capture of the program of each build; one that is absent skips."""
    made = {}

    def of(name):
        tool = "go" if name == "go" else "gcc"
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}: apt install {'golang-go' if name == 'go' else 'gcc'}")
        if name not in made:
            oracle = tmp_path_factory.mktemp(name)
            oracle.chmod(0o755)
            source = [str(WAVERS / "clock.go")] if name == "go" else []
            subprocess.run([*BUILDS[name], str(oracle / "tool"), *source], check=True, capture_output=True)
            made[name] = Capture(launcher, facts(), oracle, LIMITS)
        return made[name]

    return of


def seen(capture, word):
    return Observer(capture, AXES, repeats=3, rare_share=0.5).observe(Case(argv=(word.encode(),)))


@pytest.mark.parametrize(
    ("build", "word"), [*((build, word) for build in ("dynamic", "static") for word in ASKS), ("go", "year")]
)
def test_a_program_that_asks_the_time_is_caught(captures, build, word):
    assert seen(captures(build), word).dropped == "clock_dependent"


@pytest.mark.parametrize(
    ("build", "word", "stdout"),
    [
        ("dynamic", "lasts", b"soon\n"),
        ("static", "lasts", b"soon\n"),
        ("dynamic", "signal", b"heard 1\n"),
        ("static", "waits", b"waited\n"),
        ("go", "lasts", b"true\n"),
    ],
)
def test_a_program_that_only_takes_time_is_not(captures, build, word, stdout):
    found = seen(captures(build), word)
    assert (found.dropped, found.expected.stdout) == (None, stdout)


@pytest.mark.parametrize(("way", "turns"), [("compiled", True), ("c", True), ("python", False)])
def test_each_way_of_launching_shows_whether_it_turns_the_clock(way, turns):
    require_namespaces()
    with contextlib.closing(bubblewrap(launcher_config(python_view(), way))) as launcher:
        fault = clock.fault_of(launcher)
    assert (fault is None) == turns
    assert turns or "cannot turn it" in fault


def test_without_a_turned_clock_there_is_no_clock_axis():
    names = {axis.name for axis in axes_of(RULE["axes"], clock=False)}
    assert names == set(RULE["axes"]) - {"clock"}
