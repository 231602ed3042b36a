"""A project around `rot` that is built by the verb, each time by a process of its own, as a user does it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.samples.otherwise import Edit
from tests.samples.rot_project import ROOT


class Tried:
    """The project; `build` returns the task names that answered and keeps the rest of the answer."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.package = ROOT
        self.said = ""

    def copy(self, root: Path) -> Tried:
        """The same project as it stands, in a new folder."""
        shutil.copytree(self.root, root, symlinks=True)
        return Tried(root)

    def build(self) -> set[str]:
        done = self.verb("build", "spec=rot", "-n", "2", "--yes")
        self.said = done.stderr
        self.answer = (done.returncode, *done.stdout.split()[1:2])
        lines = [line.split() for line in done.stderr.splitlines() if line.startswith("rot ")]
        return {words[1] for words in lines if not " ".join(words).endswith("from the store]")}

    def verb(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "programsmith", *words]
        env = {**os.environ, "PYTHONPATH": str(self.package)}
        return subprocess.run(command, cwd=self.root, env=env, capture_output=True, text=True, timeout=900)

    def restored(self) -> set[str]:
        return {line.split()[1] for line in self.said.splitlines() if line.endswith("from the store]")}

    def record(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.root / "cache" / "rot" / f"{name}.json").read_bytes())
        return found

    def rewards(self, who: str = "r0/trials/scripted-solver") -> list[float]:
        places = sorted((self.root / "cache" / "rot" / who).iterdir())
        return [json.loads((place / "grade.json").read_bytes())["evidence"]["reward"] for place in places]

    def bought(self) -> int:
        ledger = self.root / "cache" / "rot" / "ledger.jsonl"
        return len(ledger.read_text().splitlines()) if ledger.exists() else 0

    def spec(self, old: str, new: str) -> None:
        path = self.root / "specs" / "rot.yaml"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    def program(self, edit: Edit) -> None:
        """Let a program like this one build, in which one file says something else."""
        self.package = self.root / "other"
        shutil.copytree(ROOT / "programsmith", self.package / "programsmith", ignore=shutil.ignore_patterns("*.pyc"))
        shutil.copytree(ROOT / "rules", self.package / "rules")
        edit.apply(self.package)
