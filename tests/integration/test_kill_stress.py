"""Kills at random moments: nothing finished is repeated, nothing half-made is believed, nothing stays behind."""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import yaml

SAMPLES = Path(__file__).parents[1] / "samples"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
ANSWERED = re.compile(r"^mill  (\S+) +(?:pass|done|more|harden|in_band|ship|revised|exported) (.*)\n", re.MULTILINE)
SPOT = re.compile(r"^r\d+:(b\d+:)?")
SPEC = {
    "version": 1,
    "name": "mill",
    "source": {"path": "mine"},
    "rollouts": [{"agent": "nop", "trials": 6}],
    "difficulty": [{"pass_rate": {"max": 0.5}, "trials_max": 9}],
}


class Mill:
    """The mill in a folder of its own, and what its builds told of finished actions."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cache = root / "cache" / "mill"
        shutil.copytree(SAMPLES / "millforge", root / "millforge", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("mine", "specs", "rules"):
            (root / name).mkdir(parents=True)
        (root / "rules" / "batches.yaml").write_text("{first: 6, further: 3}\n")
        self.generation(1)
        self.finished: set[str] = set()
        self.noted = 0

    def generation(self, number: int) -> None:
        text = yaml.safe_dump({**SPEC, "generation": number})
        (self.root / "specs" / "mill.yaml").write_text(text)
        self.number = number

    def start(self, workers: int) -> subprocess.Popen[str]:
        command = [sys.executable, str(SAMPLES / "mill.py"), str(self.root), str(workers)]
        out = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, text=True, start_new_session=True, **out)  # type: ignore[call-overload,no-any-return]

    def journal(self) -> list[list[str]]:
        path = self.root / "journal"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def begun_again(self, said: str) -> list[str]:
        """Actions that this run began although their end had been told. Takes in what this run told.

        One name stands for several actions of a run, in its batches and revisions: one begins when the one before it
        was told, so the n-th that a run tells is the n-th that it began. What came from the store never began.
        """
        new = self.journal()[self.noted :]
        self.noted += len(new)
        begun: dict[str, list[str]] = {}
        for words in new:
            if words[0] == "begin":
                begun.setdefault(words[1], []).append(f"{words[1]} {words[2]}")
        again = [key for keys in begun.values() for key in keys if key in self.finished]
        ran = Counter(SPOT.sub("", task) for task, rest in ANSWERED.findall(said) if "; from the store]" not in rest)
        for name, count in ran.items():
            told = begun.get(name, [])[:count]
            assert len(told) == count, f"{name} was told {count} times"
            again += [key for key, times in Counter(told).items() if times > 1]
            self.finished |= set(told)
        return again

    def left(self) -> list[str]:
        """Half-made artifacts, scratch, records of runs, processes of blocks."""
        files = [
            p for p in self.root.rglob("*") if p.suffix in (".part", ".former") or p.name in ("scratch", "run.json")
        ]
        return [*map(str, files), *(f"process {pid}" for pid in self.sleepers())]

    def sleepers(self) -> list[int]:
        known = {int(words[3]) for words in self.journal() if words[0] == "begin"}
        return [pid for pid in known if _sleeps(pid)]

    def exported(self) -> str:
        total = hashlib.sha256()
        for path in sorted((self.root / "dist" / "mill").iterdir()):
            total.update(path.name.encode() + path.read_bytes())
        return total.hexdigest()


def _sleeps(pid: int) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return words[:2] == [b"/bin/sleep", b"300"] and os.path.exists(f"/proc/{pid}/exe")
    except OSError:
        return False


def undisturbed(root: Path, generation: int) -> str:
    """What the mill exports where nobody kills it."""
    mill = Mill(root)
    mill.generation(generation)
    running = mill.start(4)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    return mill.exported()


def killed_once(mill: Mill, chance: random.Random) -> bool:
    """Start a build and kill it at a random moment, unless it gets through before: then another generation is next."""
    before = set(mill.sleepers())
    running = mill.start(chance.choice((1, 2, 3)))
    number = None
    try:
        out, err = running.communicate(timeout=chance.uniform(0.2, 1.6))
    except subprocess.TimeoutExpired:
        number = chance.choice(SIGNALS)
        os.kill(running.pid, number)
        out, err = running.communicate(timeout=20)
    while_importing = "KeyboardInterrupt" in err and not ANSWERED.search(err)  # Python's own end, before any of ours
    assert running.returncode in ((0,) if number is None else (0, 130, -number)) or while_importing, err
    assert mill.begun_again(err) == []
    if ANSWERED.search(err):
        assert "Traceback" not in err
        assert before & set(mill.sleepers()) == set()
    if running.returncode == 0:
        assert out.startswith("mill  ship"), err
        assert mill.left() == []
        mill.generation(mill.number + 1)
    return number is not None


def stress(root: Path, kills: int, seed: int) -> None:
    """Kill so many builds, then let one through and compare."""
    chance = random.Random(seed)
    mill = Mill(root)
    while kills:
        kills -= killed_once(mill, chance)
    running = mill.start(4)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    assert mill.begun_again(err) == []
    assert mill.left() == []
    assert [words for words in mill.journal() if words[0] == "torn"] == []
    assert mill.exported() == undisturbed(root / "other", mill.number)


def test_the_mill_goes_through_batches_and_revisions(tmp_path: Path) -> None:
    mill = Mill(tmp_path)
    running = mill.start(4)
    out, err = running.communicate(timeout=120)
    assert out == f"mill  ship  {tmp_path}/dist/mill\n", err
    begun = [words[1] for words in mill.journal() if words[0] == "begin"]
    assert begun.count("weigh") == 3
    assert begun.count("check") == 2
    assert len([name for name in begun if name.startswith("trial")]) == 15
    assert mill.left() == []
    again = mill.start(1)
    _, err = again.communicate(timeout=60)
    assert "nothing to do: 43 blocks are up to date" in err


def test_sixty_kills_lose_and_repeat_nothing(tmp_path: Path) -> None:
    stress(tmp_path, 60, seed=60)


@pytest.mark.soak
def test_three_hundred_kills_lose_and_repeat_nothing(tmp_path: Path) -> None:
    stress(tmp_path, 300, seed=300)


def test_an_orphan_of_a_killed_run_is_ended_by_the_next(tmp_path: Path) -> None:
    mill = Mill(tmp_path)
    running = mill.start(1)
    while not mill.sleepers():
        time.sleep(0.02)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate(timeout=20)
    assert (mill.cache / "run.json").exists()
    following = mill.start(4)
    _, err = following.communicate(timeout=120)
    assert following.returncode == 0, err
    assert mill.left() == []
