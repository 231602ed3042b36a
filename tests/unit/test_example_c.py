"""The second example: the program passes its own tests, and all of them are mined."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from programsmith.miners import MINERS
from programsmith.miners.base import MineContext, MineLimits
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.detect import detect

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "specs/abacus"
RULE = yaml.safe_load((ROOT / "rules/goldens.yaml").read_bytes())["mining"]


@pytest.fixture
def tree():
    files = [p for p in sorted(PROGRAM.rglob("*")) if p.is_file() and p.suffix != ".o" and p.name != "abacus"]
    return SourceTree(
        FileEntry(str(p.relative_to(PROGRAM)).encode(), "file", 0o644, content=p.read_bytes()) for p in files
    )


def test_the_program_passes_its_own_tests(tmp_path):
    if not (shutil.which("make") and shutil.which("cc")):
        pytest.skip("no C compiler or no make; run: apt-get install -y gcc libc6-dev make")
    copy = shutil.copytree(PROGRAM, tmp_path / "abacus")
    subprocess.run(["make", "-s", "-C", copy, "CFLAGS=-O1 -Wall -Wextra -Werror"], check=True)
    done = subprocess.run([sys.executable, copy / "tests/run.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_each_of_its_tests_is_mined_once(tree):
    rows = yaml.safe_load((PROGRAM / "tests/table.yaml").read_bytes())
    limits = MineLimits(**{name: RULE[name] for name in MineLimits.__dataclass_fields__})
    context = MineContext(tool="abacus", licence=lambda _: "MIT", limits=limits)
    found = list(MINERS["tables"].mine(tree, context))
    assert len(found) == len({case.case.id for case in found}) == len(rows)
    assert context.skipped == Counter()


def test_it_is_known_as_a_make_program_long_enough_for_its_spec(tree):
    found = detect(tree, yaml.safe_load((ROOT / "rules/toolchains.yaml").read_bytes()))
    spec = yaml.safe_load((ROOT / "specs/abacus.yaml").read_bytes())
    assert (found.language, found.build_system, [e.tool for e in found.entry_points]) == ("c", "make", ["abacus"])
    assert found.code_lines >= spec["horizon"]["min_lines"]
