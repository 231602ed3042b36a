"""Small real sources: folders and git repositories made on the spot, and the real block with the real rules."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from programsmith.blocks import ingest
from programsmith.job import Job, Rules, Tracked
from programsmith.records import codec
from programsmith.records.lock import Lock
from programsmith.records.outcome import Outcome
from programsmith.sources.origin import Caps

PROJECT = Path(__file__).parents[2]
CAPS = Caps(files=1000, bytes=1 << 22, file_bytes=1 << 20, archive_ratio=20, fetch_seconds=60)
MIT = (PROJECT / "specs/tally/LICENSE").read_text()
GPL = """This program is free software: you can redistribute it and/or modify it under the terms of the GNU General
Public License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any
later version.

This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied
warranty of MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU General Public License for more details.

You should have received a copy of the GNU General Public License along with this program. If not, see
<https://www.gnu.org/licenses/>. The word MIT stands here to mislead.
"""
PROGRAM = {
    "LICENSE": MIT,
    "pyproject.toml": '[project]\nname = "toy"\nversion = "1"\n[project.scripts]\ntoy = "toy:main"\n',
    "toy.py": "def main():\n    print('toy')\n",
}


def rule(name: str) -> Any:
    return yaml.safe_load((PROJECT / "rules" / f"{name}.yaml").read_text())


def lay(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def git(folder: Path, *words: str, stdin: bytes | None = None) -> str:
    settings = ["-c", "user.name=t", "-c", "user.email=t@invalid", "-c", "protocol.file.allow=always"]
    command = ["git", "-C", str(folder), *settings, *words]
    return subprocess.run(command, input=stdin, capture_output=True, check=True).stdout.decode().strip()


def repository(folder: Path, files: dict[str, str | bytes]) -> Path:
    """A git repository of one commit."""
    lay(folder, files).mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    return folder


def commit(folder: Path) -> str:
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "-m", "x", "--allow-empty")
    return git(folder, "rev-parse", "HEAD")


def graft(repo: Path, *entries: bytes) -> Path:
    """Commit the tree of HEAD with more entries, as `git ls-tree` writes them: what no checkout could hold."""
    listed = subprocess.run(["git", "-C", str(repo), "ls-tree", "-z", "HEAD"], capture_output=True, check=True).stdout
    tree = git(repo, "mktree", "-z", "--missing", stdin=listed + b"".join(e + b"\0" for e in entries))
    git(repo, "update-ref", "refs/heads/main", git(repo, "commit-tree", tree, "-m", "y"))
    return repo


def blob(repo: Path, content: bytes) -> bytes:
    """The id of a blob that the repository now holds."""
    return git(repo, "hash-object", "-w", "--stdin", stdin=content).encode()


class Ingest:
    """Runs the block in a project of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.count = 0

    def run(self, **source: Any) -> Outcome:
        self.count += 1
        self.out = self.root / f"out-{self.count}"
        (self.out / "scratch").mkdir(parents=True)
        return ingest.run(
            Job(
                spec=Tracked("spec field", {"source": source}, ("source",)),
                rules=Rules(rule, ("licenses", "overlap", "toolchains", "limits")),
                inputs={},
                outputs={"lock.json": self.out / "lock.json", "source.tar": self.out / "source.tar"},
                scratch=self.out / "scratch",
                project=self.root,
                store=self.root / "cache" / "store",
                dist=self.root / "dist",
            )
        )

    def lock(self, **source: Any) -> Lock:
        outcome = self.run(**source)
        assert outcome.word == "pass", outcome.reason
        return codec.load(self.out / "lock.json", Lock)

    def refusal(self, files: dict[str, str | bytes]) -> str:
        """The reason for which a repository of these files is refused."""
        folder = repository(self.root / f"repo-{self.count}", files)
        outcome = self.run(git=str(folder))
        assert outcome.word == "reject"
        assert not (self.out / "lock.json").exists()
        assert not (self.out / "source.tar").exists()
        return outcome.reason


@pytest.fixture
def ingested(tmp_path: Path) -> Ingest:
    return Ingest(tmp_path)


@pytest.fixture
def kit() -> Any:
    """The helpers of this module, for tests."""
    names: dict[str, Callable[..., Any] | Any] = {
        "lay": lay, "git": git, "repository": repository, "commit": commit, "graft": graft, "blob": blob, "rule": rule,
        "caps": CAPS, "mit": MIT, "gpl": GPL, "program": PROGRAM, "project": PROJECT,
    }  # fmt: skip
    return type("Kit", (), {k: staticmethod(v) if callable(v) else v for k, v in names.items()})
