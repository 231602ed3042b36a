"""What becomes of a build when a place that it writes is full, read-only, or taken away while it runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

VERB = Path(__file__).parents[1] / "samples" / "toyverb.py"
SECONDS = 60


class Place:
    """A small project whose store and shelves lie where a test says."""

    def __init__(self, toy: Any) -> None:
        self.root: Path = toy.root
        self.store = self.root / "store"
        self.spec("alpha")

    def spec(self, name: str, **changed: Any) -> None:
        (self.root / "specs").mkdir(exist_ok=True)
        values = {"version": 1, "name": name, "source": {"path": "mine"}, "description": "", **changed}
        (self.root / "specs" / f"{name}.yaml").write_text(yaml.safe_dump(values))

    def start(self, *args: str) -> subprocess.Popen[str]:
        env = {**os.environ, "PROGRAMSMITH_STORE": str(self.store)}
        command = [sys.executable, str(VERB), str(self.root), *args]
        return subprocess.Popen(
            command, cwd=self.root, env=env, stdin=subprocess.DEVNULL, stdout=-1, stderr=-1, text=True
        )

    def build(self, *args: str) -> tuple[int, str, str]:
        running = self.start(*args)
        out, err = running.communicate(timeout=SECONDS)
        assert "Traceback" not in err
        assert "bug" not in err
        return running.returncode, out, err

    def ore(self, letters: int) -> None:
        """One large piece of ore, so that a few files fill a small disk."""
        (self.root / "mine" / "ore").write_text(f"{'g' * letters} dirt silver ")

    def log(self, task: str) -> str:
        return (self.root / "cache" / "alpha" / "logs" / f"{task}.log").read_text()

    def sold(self) -> dict[str, bytes]:
        shelf = self.root / "dist" / "drafts" / "alpha"
        return {path.name: path.read_bytes() for path in sorted(shelf.iterdir())}

    def meanwhile(self, happens: Callable[[], None]) -> tuple[int, str, str]:
        """Build, and let something happen while the block `wash` runs."""
        self.spec("alpha", description="slow")
        running = self.start()
        until = time.monotonic() + SECONDS
        while not (self.root / "started").exists() and time.monotonic() < until:
            time.sleep(0.01)
        happens()
        (self.root / "go").write_text("")
        out, err = running.communicate(timeout=SECONDS)
        assert "Traceback" not in err
        return running.returncode, out, err


@pytest.fixture
def place(toy: Any) -> Place:
    return Place(toy)


@contextmanager
def mounted(at: Path, kilobytes: int) -> Iterator[Callable[[str], None]]:
    """A small file system; the function mounts it anew with other options."""
    at.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", str(at)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount: run as root")

    def anew(options: str) -> None:
        subprocess.run([*mount[:4], f"remount,{options}", *mount[5:]], check=True)

    try:
        yield anew
    finally:
        subprocess.run(["umount", str(at)], check=True)


def test_a_full_store_keeps_nothing_and_harms_nothing(place: Place) -> None:
    with mounted(place.store, 16):
        place.ore(60_000)
        code, out, _ = place.build()
        assert (code, out.split()[1]) == (0, "draft")
        assert "not kept in the store: the store cannot be written (No space left on device)" in place.log("dig")
        assert "nothing to do" in place.build()[2]


def test_a_read_only_store_gives_what_it_has(place: Place) -> None:
    with mounted(place.store, 4096) as anew:
        assert place.build()[0] == 0
        sold = place.sold()
        anew("ro")
        shutil.rmtree(place.root / "cache")
        shutil.rmtree(place.root / "dist")
        code, _, err = place.build()
        assert code == 0
        assert err.count("; from the store]") == 6
        assert place.sold() == sold
        place.spec("alpha", generation=2)
        assert place.build()[0] == 0


def test_a_full_shelf_is_infra_and_holds_no_half_of_a_bundle(place: Place) -> None:
    with mounted(place.root / "dist", 4) as anew:
        place.ore(60_000)
        code, out, err = place.build()
        assert code == 2, err
        assert "full" in err
        assert "draft" not in out
        anew("size=8m")
        assert place.build()[0] == 0
        assert max(map(len, place.sold().values())) > 60_000
        assert [path.name for path in (place.root / "dist" / "drafts").iterdir()] == ["alpha"]


def test_a_store_that_goes_while_a_block_runs_costs_work_and_nothing_else(place: Place) -> None:
    code, out, err = place.meanwhile(lambda: shutil.rmtree(place.store))
    assert (code, out.split()[1]) == (0, "draft"), err
    assert "nothing to do" in place.build()[2]


def test_a_folder_that_goes_while_its_spec_is_built_is_no_answer(place: Place) -> None:
    code, out, _ = place.meanwhile(lambda: shutil.rmtree(place.root / "cache" / "alpha"))
    assert (code, out.split()[1]) == (2, "infra")
    place.spec("alpha")
    assert place.build()[0] == 0


def test_builds_of_two_specs_at_once_do_not_meet(place: Place) -> None:
    place.spec("beta")
    running = [place.start(f"spec={name}") for name in ("alpha", "beta")]
    said = [process.communicate(timeout=SECONDS) for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    assert sorted(path.name for path in (place.root / "dist" / "drafts").iterdir()) == ["alpha", "beta"]
    assert "nothing to do" in place.build()[2]
