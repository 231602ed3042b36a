"""The real pipeline with models: the same bytes twice, and those of the rules where models obey a repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.samples.injected import ORDERS, PREACH, orders
from tests.samples.rot_project import ROOT, lay

ASKING = ("matrix", "pick", "goldens", "create")
SPEC = """version: 1
name: rot
source: {path: rot}
task: {target_languages: [python, c]}
goldens: {min_kept: 8, held_out: 8}
horizon: {min_lines: 10}
"""
PROSE = "`rot` turns the letters of its input, and leaves every other mark where it stands, line by line."
FILE = [{"path": "in.txt", "content": "Turn me\n"}]
SAID: Mapping[str, list[Any]] = {
    "matrix": [{"candidates": [{"tool": "rot", "target_language": n, "why": "It is whole."} for n in ("python", "c")]}],
    "pick": ["no JSON at all", {"choice": 0, "why": "It is the first."}],
    "goldens": [{"cases": [{"argv": ["-n", "5", "in.txt"], "files": FILE}, {"argv": ["../in.txt"]}]}],
    "create": [{"paragraphs": ["See /etc for `rot`."]}, {"paragraphs": [PROSE]}],
}


@dataclass(frozen=True)
class Built:
    """A project whose spec was built."""

    root: Path

    def record(self, block: str) -> Any:
        found = next(self.root.glob(f"cache/*/{block}.json"), None) or next(self.root.glob(f"cache/*/r0/{block}.json"))
        return json.loads(found.read_text())

    @property
    def tree(self) -> str:
        """The digest of all that the first revision's bundle holds."""
        return str(self.record("create")["evidence"]["tree"])


def built(root: Path, name: str, outcome: str) -> Built:
    env = {**os.environ, "XDG_CONFIG_HOME": str(root / "config")}
    words = [sys.executable, "-m", "programsmith", "build", f"spec={name}"]
    done = subprocess.run(words, cwd=root, env=env, capture_output=True, text=True, timeout=3600)
    assert (done.returncode, done.stdout.split()[:2]) == (0, [name, outcome]), done.stderr
    return Built(root)


def answers(root: Path, said: Mapping[str, list[Any]]) -> None:
    (root / "said").mkdir()
    for block, told in said.items():
        (root / "said" / f"{block}.yaml").write_text(yaml.safe_dump([{"answer": answer} for answer in told]))


@pytest.fixture(scope="module")
def rot(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Built]:
    """Builds the small program in a project of its own, whose README talks to models."""

    def make(said: Mapping[str, list[Any]] | None) -> Built:
        root = tmp_path_factory.mktemp("asked")
        lay(root)
        readme = root / "rot" / "README.md"
        readme.write_text(f"{readme.read_text()}\n{PREACH}{orders()}\n")
        answers(root, said or {})
        models = {"models": dict.fromkeys(said, "replay/said")} if said else {}
        (root / "specs" / "rot.yaml").write_text(SPEC + (yaml.safe_dump(models) if models else ""))
        return built(root, "rot", "draft")

    return make


@pytest.fixture(scope="module")
def plain(rot: Callable[..., Built]) -> Built:
    return rot(None)


def test_what_a_model_said_is_in_the_bundle_and_the_same_is_made_of_it_twice(
    rot: Callable[..., Built], plain: Built
) -> None:
    first, second = rot(SAID), rot(SAID)
    assert first.tree == second.tree != plain.tree
    used = {block: first.record(block)["evidence"]["model"] for block in ASKING}
    assert {block: (m["used"], m["calls"]) for block, m in used.items()} == {
        "matrix": (True, 1), "pick": (True, 2), "goldens": (True, 1), "create": (True, 2),
    }  # fmt: skip
    assert first.record("goldens")["evidence"]["miners"]["model"] == {"found": 1, "skipped": {"outside": 1}}
    pool = [json.loads(line) for line in (first.root / "cache" / "rot" / "pool.jsonl").read_text().splitlines()]
    (own,) = [golden for golden in pool if golden["provenance"]["miner"] == "model"]
    assert own["expected"]["exit_code"] == 0  # the oracle's word: the model has no place to say one
    assert PROSE in (first.root / "cache" / "rot" / "r0" / "bundle" / "instruction.md").read_text()


def test_where_models_obey_the_repository_the_bundle_is_the_rules_to_the_byte(
    rot: Callable[..., Built], plain: Built
) -> None:
    obeyed = rot({block: ORDERS[block] for block in ASKING})
    for block in ASKING:
        told = obeyed.record(block)["evidence"]["model"]
        assert (told["used"], told["calls"]) == (False, 3), block
    assert obeyed.tree == plain.tree
    assert obeyed.record("gate")["outcome"] == plain.record("gate")["outcome"] == "draft"


@pytest.mark.soak
def test_the_example_with_all_its_models_ships_the_same_bundle_twice(tmp_path: Path) -> None:
    trees = []
    for name in ("one", "two"):
        root = tmp_path / name
        shutil.copytree(ROOT / "tests" / "samples" / "said", root / "said")
        for part in ("tally", "tally-solvers"):
            shutil.copytree(ROOT / "specs" / part, root / "specs" / part)
        spec = (ROOT / "specs" / "tally.yaml").read_text().replace("[python]", "[python, c]")
        words = ("matrix", "pick", "goldens", "create", "judge", "synthesize")
        (root / "specs" / "tally.yaml").write_text(
            spec + yaml.safe_dump({"models": dict.fromkeys(words, "replay/said")})
        )
        found = built(root, "tally", "ship")
        manifests = sorted(found.root.glob("cache/tally/r*/manifest.json"))
        trees.append([json.loads(path.read_text())["tree"] for path in manifests])
        assert all(found.record(block)["evidence"]["model"]["used"] for block in (*ASKING, "synthesize"))
        judged = json.loads((root / "cache" / "tally" / "r0" / "b0" / "triage.json").read_text())["evidence"]["model"]
        assert judged["trials"][0]["quotes"] == ["/opt/agent/solver.py --seed 0"]
    assert trees[0] == trees[1]
    assert len(trees[0]) == 2
