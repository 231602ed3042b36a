"""Kills in every block of the real pipeline: nothing finished is repeated or bought twice, nothing stays behind."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from programsmith.compiler.plan import STEPS
from tests.samples.killed import bought, committed, digest, held, lay_killed, leased, left, records

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
ANSWERED = re.compile(r"^rot  (\S+) +[a-z_]+ +(\d+\.\d) s  .*\[(.*)\]$", re.MULTILINE)
BLOCKS = [step.block for step in STEPS]
BATCH = re.compile(r"\.b\d+\.")
PATIENCE = 1800
Times = Callable[[str], int]


class Rot:
    """The project in a folder of its own, what its builds finished, which tasks they were killed in."""

    def __init__(self, root: Path) -> None:
        lay_killed(root)
        (root / "tmp").mkdir()
        self.root = root
        self.cache = root / "cache" / "rot"
        self.finished: set[str] = set()
        self.hit: list[str] = []
        self.by: Counter[str] = Counter()
        self.behind: set[str] = set()  # what the last kill left
        self.found = 0  # kills that left something
        self.shared: set[str] = set()  # what it left in places that builds share

    def start(self, workers: int) -> subprocess.Popen[str]:
        command = [str(Path(sys.executable).parent / "doit"), "build", "spec=rot", "-n", str(workers)]
        env = {**os.environ, "TMPDIR": str(self.root / "tmp")}
        out = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, cwd=self.root, env=env, text=True, start_new_session=True, **out)  # type: ignore[call-overload,no-any-return]

    def begun(self) -> dict[str, int]:
        """Task, as its log is called, to when it began."""
        try:
            with os.scandir(self.cache / "logs") as logs:
                return {e.name.removesuffix(".log"): e.stat().st_mtime_ns for e in logs if e.name != "build.log"}
        except FileNotFoundError:
            return {}

    def wait(self, seconds: float) -> None:
        """Let a while pass, but no longer than until the next task begins: what is killed is the one that was meant."""
        until, begun = time.monotonic() + seconds, self.begun()
        while time.monotonic() < until and self.begun() == begun:
            time.sleep(0.002)

    def take_in(self, said: str) -> None:
        """Hold what a run told to what the runs before it finished."""
        told = Counter(f"rot:{task}" for task, *_ in ANSWERED.findall(said))
        assert set(told) & self.finished == set()
        assert not told or max(told.values()) == 1
        self.finished |= {*told, *committed(self.cache)}
        twice = [key for key, times in bought(self.cache).items() if times > 1]
        assert twice == []
        assert "Traceback" not in said

    def check_gone(self) -> None:
        """What the kill before the last one left is gone."""
        assert self.behind & left(self.root) == set()
        assert [path for path in self.shared if os.path.lexists(path)] == []


def block_of(task: str) -> str:
    """The block of a task or of its log."""
    return next(word for word in re.split("[.:]", task) if word in BLOCKS)


def undisturbed(root: Path) -> tuple[Rot, dict[str, float]]:
    """The project built without a kill, and for how long each block ran at most."""
    rot = Rot(root)
    running = rot.start(2)
    _, said = running.communicate(timeout=PATIENCE)
    assert running.returncode == 1, said
    lasts = dict.fromkeys(BLOCKS, 0.0)
    for task, seconds, _ in ANSWERED.findall(said):
        lasts[block_of(task)] = max(lasts[block_of(task)], float(seconds))
    assert {block_of(task) for task, *_ in ANSWERED.findall(said)} == set(BLOCKS)
    assert left(rot.root) == set()
    return rot, lasts


def once(task: str) -> int:
    """How often a task is hit."""
    del task
    return 1


def again(task: str) -> int:
    """The same, where a task outside of batches is hit while it runs for the second time too."""
    return 1 if BATCH.search(task) else 2


def killed(rot: Rot, chance: random.Random, lasts: dict[str, float], kind: Callable[[str], str], times: Times) -> bool:
    """Start a build and kill it in the first task of a `kind` that was hit seldom. False where it came to its end."""
    before, hit = rot.begun(), Counter(map(kind, rot.hit))
    known = {name for name, count in hit.items() if count >= times(name)}
    running = rot.start(chance.choice((1, 2)))
    task = None
    while task is None and running.poll() is None:
        new = (log for log, at in rot.begun().items() if before.get(log) != at and kind(log) not in known)
        task = next(new, None) or time.sleep(0.002)
    number, shared = chance.choice(SIGNALS), set[str]()
    if task is not None:
        rot.wait(chance.uniform(0, lasts[block_of(task)]))
        shared = held(rot.root.name)
        running.send_signal(number)
    _, said = running.communicate(timeout=PATIENCE)
    rot.take_in(said)
    rot.check_gone()
    if task is None or running.returncode == 1:
        assert running.returncode == 1, said
        return False
    assert running.returncode in (130, -number), said
    rot.hit.append(task)
    rot.by[number.name] += 1
    rot.behind, rot.shared = left(rot.root), shared
    rot.found += bool(rot.behind)
    return True


def stress(rot: Rot, seed: int, kind: Callable[[str], str], times: Times = once) -> None:
    """Kill build after build until one comes to its end, and compare it with one that nobody killed."""
    other, lasts = undisturbed(rot.root.with_name(f"{rot.root.name}o"))
    chance = random.Random(seed)
    while killed(rot, chance, lasts, kind, times):
        pass
    print(f"{len(rot.hit)} kills, {dict(rot.by)}, in {len(set(map(block_of, rot.hit)))} of {len(BLOCKS)} blocks")
    assert rot.found >= len(rot.hit) - 1  # the last may have come when nothing was left to be done
    assert left(rot.root) == set()
    assert leased(rot.root) == []
    assert records(rot.cache) == records(other.cache)
    for place in ("cache/rot/r0/bundle", "cache/rot/r1/bundle", "dist"):
        assert digest(rot.root / place) == digest(other.root / place), place
    assert (rot.cache / "verdict.json").read_bytes() == (other.cache / "verdict.json").read_bytes()
    assert set(bought(rot.cache)) <= set(bought(other.cache))  # a kill may leave a reservation open for what it bought
    assert sum(bought(other.cache).values()) == 8


@pytest.fixture
def rot() -> Iterator[Rot]:
    """Its folder has a short name, which sockets need, and one of its own, by which processes are known."""
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    yield Rot(folder / folder.name.replace("-", "_"))
    shutil.rmtree(folder, ignore_errors=True)


def test_a_kill_in_each_block_loses_and_repeats_nothing(rot: Rot) -> None:
    stress(rot, 20, block_of)
    missed = set(BLOCKS) - set(map(block_of, rot.hit))
    assert len(missed) <= 3  # a short block may begin beside another and end before the signal comes


@pytest.mark.soak
def test_a_kill_in_each_task_loses_and_repeats_nothing(rot: Rot) -> None:
    stress(rot, 40, str, again)
    assert len(rot.hit) >= 40
