"""Stamps of whole builds: what ends one, what a start with stamps says, builds side by side, killed writers.

One small project holds a spec for each change, so that a change must end the stamp of its own spec and of no other.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from programsmith.compiler.early import known_specs
from programsmith.compiler.stamp import stamp_at

SAMPLES = Path(__file__).parents[1] / "samples"
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))


@dataclass(frozen=True)
class One:
    """One spec of the project, as a change sees it."""

    root: Path
    name: str

    @property
    def source(self) -> Path:
        return self.root / "src" / self.name

    @property
    def cache(self) -> Path:
        return self.root / "cache" / self.name

    @property
    def dist(self) -> Path:
        return self.root / "dist"

    @property
    def file(self) -> Path:
        return self.root / "specs" / f"{self.name}.yaml"

    def append(self, path: Path, text: str = "x") -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as out:
            out.write(text)


def _same_size_and_time(one: One) -> None:
    path = one.source / "ore"
    before = path.stat()
    path.write_bytes(path.read_bytes()[::-1])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _relink(one: One) -> None:
    (one.source / "link").unlink()
    (one.source / "link").symlink_to("elsewhere")


def _tampered(one: One) -> None:
    path = one.cache / "r0" / "count.json"
    before = path.stat()
    path.write_bytes(b" " * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


RERUNS: dict[str, Callable[[One], Any]] = {
    "field": lambda one: one.append(one.file, "generation: 3\n"),
    "base": lambda one: one.append(one.root / "specs" / f"base-{one.name}", "generation: 4\n"),
    "source_edited": lambda one: one.append(one.source / "ore"),
    "source_same_size_and_time": _same_size_and_time,
    "source_added": lambda one: one.append(one.source / "deep" / "new"),
    "source_deleted": lambda one: (one.source / "deep" / "more").unlink(),
    "source_mode": lambda one: (one.source / "ore").chmod(0o755),
    "source_relinked": _relink,
    "target_tampered": _tampered,
    "target_deleted": lambda one: (one.cache / "r0" / "box.txt").unlink(),
    "target_added": lambda one: one.append(one.cache / "r0" / "clean" / "more"),
    "target_is_a_link": lambda one: _moved_behind_a_link(one.cache / "ore.txt"),
    "record_edited": lambda one: one.append(one.cache / "dig.json", "\n"),
    "record_deleted": lambda one: (one.cache / "r0" / "smell.json").unlink(),
    "verdict_deleted": lambda one: (one.cache / "verdict.json").unlink(),
    "export_edited": lambda one: one.append(one.dist / "drafts" / one.name / "more"),
    "export_deleted": lambda one: shutil.rmtree(one.dist / "drafts" / one.name),
    "forgotten": lambda one: (one.cache / ".doit.db").unlink(),
}
SAME: dict[str, Callable[[One], Any]] = {
    "comment": lambda one: one.append(one.file, "# more\n"),
    "source_touched": lambda one: os.utime(one.source / "ore"),
    "target_touched": lambda one: os.utime(one.cache / "r0" / "count.json"),
    "left_in_source": lambda one: one.append(one.source / "__pycache__" / "ore.pyc"),
    "export_of_an_earlier_verdict": lambda one: one.append(one.dist / "easy" / one.name / "provenance.json"),
    "left_by_a_killed_run": lambda one: one.append(one.cache / "run.json", "{}"),
    "approval": lambda one: one.append(one.cache / "approved.json", "{}"),
    "solver": lambda one: one.append(one.root / "solvers" / one.name / "solver.py", "#\n"),
    "beside_the_solver": lambda one: one.append(one.root / "solvers" / one.name / "more.py", "#\n"),
    "garbage": lambda one: one.append(one.cache / "stamp"),
    "stamp_of_another": lambda one: shutil.copy(one.root / "cache" / "quiet" / "stamp", one.cache / "stamp"),
    "no_stamp": lambda one: (one.cache / "stamp").unlink(),
}


def _moved_behind_a_link(path: Path) -> None:
    path.rename(path.with_name("moved"))
    path.symlink_to("moved")


def spec(root: Path, name: str) -> None:
    """A spec with a base, a source with a link in it, an agent's program."""
    source, solver = root / "src" / name, root / "solvers" / name
    for folder in (source / "deep", solver):
        folder.mkdir(parents=True)
    (source / "ore").write_text("gold dirt silver ")
    (source / "deep" / "more").write_text("gold ")
    (source / "link").symlink_to("ore")
    (solver / "solver.py").write_text("print(1)\n")
    (root / "specs").mkdir(exist_ok=True)
    (root / "specs" / f"base-{name}").write_text("description: ''\n")
    rollouts = [{"agent": "scripted", "script": f"solvers/{name}/solver.py", "trials": 1}]
    values = {"version": 1, "name": name, "extends": f"base-{name}", "source": {"path": f"src/{name}"}}
    (root / "specs" / f"{name}.yaml").write_text(yaml.safe_dump({**values, "rollouts": rollouts}))


def build(root: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SAMPLES / "toyverb.py"), str(root), "-n", "2", "--yes", *args]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300)


def stamped(root: Path) -> set[str]:
    """Names of specs whose stamps hold."""
    footing = stamp_at(str(root / "cache" / ".footing"), [])
    assert footing is not None
    assert footing.holds
    files = [str(path) for path in sorted((root / "specs").glob("*.yaml"))]
    return {Path(path).stem for path in known_specs(str(root), footing.fields[1], files)}


def said(answer: subprocess.CompletedProcess[str]) -> dict[str, bool]:
    """Name to whether its build found nothing to do."""
    lines = [line.split("  ", 1) for line in answer.stderr.splitlines()]
    return {name: any(n == name and "nothing to do" in text for n, text in lines) for name, _ in lines}


def test_a_change_ends_the_stamp_of_its_spec_and_of_no_other(toy: Any) -> None:
    changes = {**RERUNS, **SAME}
    for name in (*changes, "quiet"):
        spec(toy.root, name)
    first = build(toy.root)
    assert first.returncode == 1, first.stderr  # trials are asked for, and a draft is not what was asked for
    assert stamped(toy.root) == {*changes, "quiet"}

    for name, change in changes.items():
        change(One(toy.root, name))
        assert name not in stamped(toy.root), name
    assert stamped(toy.root) == {"quiet"}

    second = build(toy.root)
    assert second.stdout == first.stdout
    quiet = {name for name, nothing in said(second).items() if nothing}
    assert quiet == {*SAME, "quiet"}
    assert not (toy.root / "dist" / "easy" / "export_of_an_earlier_verdict").exists()
    assert not (toy.root / "cache" / "left_by_a_killed_run" / "run.json").exists()

    third = build(toy.root)
    assert third.stdout == first.stdout
    assert {name for name, nothing in said(third).items() if nothing} == {*changes, "quiet"}
    assert stamped(toy.root) == {*changes, "quiet"}


def test_builds_side_by_side_agree_and_leave_whole_stamps(toy: Any) -> None:
    for name in ("one", "two"):
        spec(toy.root, name)
    first = build(toy.root)
    command = [sys.executable, str(SAMPLES / "toyverb.py"), str(toy.root), "--yes"]
    for _ in range(2):
        for name in ("one", "two"):
            (toy.root / "cache" / name / "stamp").unlink()
        running = [
            subprocess.Popen(command, cwd=toy.root, stdout=-1, stderr=-1, stdin=subprocess.DEVNULL, text=True)
            for _ in range(3)
        ]
        answers = [(process.communicate(timeout=120), process.returncode) for process in running]
        for (out, err), code in answers:
            if "another build of" not in err:
                assert (out, code) == (first.stdout, 1), err
    build(toy.root)
    assert stamped(toy.root) == {"one", "two"}


def test_a_build_that_begins_ends_the_stamp_at_once(toy: Any) -> None:
    spec(toy.root, "alpha")
    build(toy.root)
    before = (toy.root / "cache" / "alpha" / "stamp").read_bytes()
    text = (toy.root / "specs" / "alpha.yaml").read_text()
    (toy.root / "specs" / "base-alpha").write_text("description: slow\n")
    command = [sys.executable, str(SAMPLES / "toyverb.py"), str(toy.root)]
    running = subprocess.Popen(command, cwd=toy.root, stdout=-1, stderr=-1, stdin=subprocess.DEVNULL)
    while not (toy.root / "started").exists():
        assert running.poll() is None
        time.sleep(0.02)
    assert not (toy.root / "cache" / "alpha" / "stamp").exists()
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=30)
    assert (toy.root / "specs" / "alpha.yaml").read_text() == text
    (toy.root / "cache" / "alpha" / "stamp").write_bytes(before)
    assert stamped(toy.root) == set()


def test_a_writer_that_is_killed_leaves_a_whole_stamp_or_none(tmp_path: Path) -> None:
    chance = random.Random(7)
    (tmp_path / "watched").write_text("x")
    for _ in range(10):
        running = subprocess.Popen([sys.executable, str(SAMPLES / "stamper.py"), str(tmp_path)], stdout=-1)
        assert running.stdout is not None
        running.stdout.readline()
        time.sleep(chance.uniform(0, 0.05))
        running.kill()
        running.communicate()
        found = stamp_at(str(tmp_path / "stamp"), [b"field"])
        assert found is not None
        assert found.holds
        assert set(os.listdir(tmp_path)) <= {"watched", "stamp", "stamp.part"}
