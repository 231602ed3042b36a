"""The small pipeline in a folder of its own: every build is a process of its own, as a user's is."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SAMPLES = Path(__file__).parents[1] / "samples"
ALL = ["dig", "wash", "scale", "smell", "box", "judge", "sell"]


class Toy:
    """A small project; `build` returns the blocks that ran and keeps the rest of the answer."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cache = root / "cache" / "toy"
        self.outcome = ""
        self.exit = -1
        self.said = ""
        shutil.copytree(SAMPLES / "toyforge", root / "toyforge")
        for name, text in {"soap": "kind: mild", "weights": "least: 3", "nose": "name: dog"}.items():
            self.rule(name, text)
        (root / "mine").mkdir()
        (root / "mine" / "ore").write_text("gold dirt silver ")
        self.values(source={"path": "mine"}, generation=2, description="")

    def rule(self, name: str, text: str) -> None:
        path = self.root / "rules" / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n")

    def values(self, **changed: Any) -> None:
        path = self.root / "values.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps(known | changed))

    def command(self, workers: int = 1) -> list[str]:
        return [sys.executable, str(SAMPLES / "toyline.py"), str(self.root), str(workers)]

    def build(self, workers: int = 1) -> list[str]:
        done = subprocess.run(self.command(workers), capture_output=True, text=True, timeout=60)
        self.said = done.stderr
        self.exit = done.returncode
        if not done.stdout:
            return []
        answer = json.loads(done.stdout)
        self.outcome = answer["outcome"]
        return sorted((name.rpartition(":")[2] for name in answer["ran"]), key=ALL.index)

    def record(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.cache / name).read_bytes())
        return found


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path)
