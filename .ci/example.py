"""Holds a built example to what README and its spec promise: `python .ci/example.py ROOT`. Exit 1 with what is missing.

In: a project whose `tally` was built. It reads records and judges the recorded trials again; it builds and buys
nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from programsmith.records import codec
from programsmith.records.labels import Labels
from programsmith.records.outcome import Record, Word
from programsmith.records.verdict import Verdict
from programsmith.rulebook.load import Rulebook
from programsmith.spec.load import load_spec
from programsmith.verdict.bands import demands, judge_bands, rule_of

NAME = "tally"
CONFIDENCES = (0.7, 0.75)
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
    found = list(missing(Path(sys.argv[1])))
    print("\n".join(found) or "the example is as it promises to be")
    sys.exit(bool(found))
