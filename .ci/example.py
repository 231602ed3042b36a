"""Holds a built example to what README and its spec promise: `python .ci/example.py ROOT`. Exit 1 with what is missing.

In: a project whose `tally` was built. It reads records, judges the recorded trials again, and builds `tally` once more
with its folder deleted, which must come from the store and buy nothing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from programsmith.compiler.paths import Folder, Project
from programsmith.records import codec
from programsmith.records.labels import Labels
from programsmith.records.outcome import Record, Word
from programsmith.records.verdict import Verdict
from programsmith.rulebook.load import Rulebook
from programsmith.spec.load import load_spec
from programsmith.store.ledger import Kind, Ledger
from programsmith.verdict.bands import demands, judge_bands, rule_of

NAME = "tally"
CONFIDENCES = (0.7, 0.75)
ANEW = ("images", "export")  # what proves this host or writes beside the store runs whatever the store holds
RAN = re.compile(rf"^{NAME}  (?:r\d+:)?(?:b\d+:)?(\w+)\S* .*\[(.*)\]$", re.MULTILINE)
ARTIFACTS = 6  # different ones among the trials of the revision that ships


def missing(root: Path) -> Iterator[str]:
    """What the built example lacks, a line each."""
    cache = root / "cache" / NAME
    verdict = codec.load(cache / "verdict.json", Verdict)
    if verdict.outcome is not Word.SHIP or verdict.revision < 1:
        yield f"wanted ship at r1 or later, got {verdict.outcome} at r{verdict.revision}"
    difficulty = load_spec(root / "specs" / f"{NAME}.yaml", root).values["difficulty"]
    for revision in range(verdict.revision + 1):
        labels = _labels(cache / f"r{revision}")
        words = {confidence: _word(labels, difficulty, confidence, root) for confidence in CONFIDENCES}
        if len(set(words.values())) > 1:
            yield f"r{revision}: wanted one decision at every confidence, got {words}"
    own = [trial for trial in _labels(cache / f"r{verdict.revision}").trials if not trial.ceiling]
    different, best = len({trial.artifact for trial in own}), max((trial.reward for trial in own), default=0.0)
    if different < ARTIFACTS or best < 1:
        yield f"wanted {ARTIFACTS} different artifacts, one of which scores 1, got {different} and {best:g} at most"


def unkept(root: Path) -> Iterator[str]:
    """What a build with cache/<name> deleted makes or buys again, or makes otherwise, a line each."""
    folder = Project(root).folder(NAME)
    before, bought = _left(folder), _bought(folder)
    shutil.rmtree(folder.root)
    build = [sys.executable, "-m", "programsmith", "build", f"spec={NAME}"]
    done = subprocess.run(build, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        yield f"wanted the build from the store to ship, got exit code {done.returncode}: {done.stderr[-2000:]}"
        return
    again = sorted({b for b, how in RAN.findall(done.stderr) if "; from the store" not in how and b not in ANEW})
    if again or not RAN.search(done.stderr):
        yield f"wanted all but {' and '.join(ANEW)} from the store, got again: {again or 'nothing told'}"
    if _bought(folder) != bought:
        yield f"wanted no further trial bought, got {_bought(folder) - bought} beside {bought}"
    if _left(folder) != before:
        yield "wanted the verdict and the task that lay there before, got others"


def _left(folder: Folder) -> dict[str, bytes]:
    """Verdict and exported task."""
    place = folder.project.dist / NAME
    files = [folder.verdict, *(path for path in place.rglob("*") if path.is_file())]
    return {str(path.relative_to(folder.project.root)): path.read_bytes() for path in files}


def _bought(folder: Folder) -> int:
    return sum(event.kind is Kind.SPEND for event in Ledger(folder.ledger).look())


def _labels(revision: Path) -> Labels:
    """The labels of a revision's last batch."""
    last = max(revision.glob("b*/triage.json"), key=lambda path: int(path.parent.name[1:]))
    return codec.decode(Labels, codec.load(last, Record).evidence["labels"])


def _word(labels: Labels, difficulty: list[dict[str, Any]], confidence: float, root: Path) -> str:
    """What calibrate says of these trials at another confidence."""
    wanted = deepcopy(difficulty)
    for band in wanted:
        band["confidence"] = confidence
    return judge_bands(demands(wanted), "rollouts", labels, rule_of(Rulebook(root).load)).word.value


if __name__ == "__main__":
    project = Path(sys.argv[1]).resolve()
    found = list(missing(project)) or list(unkept(project))
    print("\n".join(found) or "the example is as it promises to be")
    sys.exit(bool(found))
