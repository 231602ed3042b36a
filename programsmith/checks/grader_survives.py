"""Nothing that is handed in or printed ends the grader: it passes over what is no file, and takes bytes as bytes.

Handed in is a table beside a fifo, a socket and names that are no text. It answers one case right, another with bytes
that are no text, a third with JSON nested without end. There must be a grade, and the right answer alone must pass.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from programsmith.adversaries.cut import Choice, cut
from programsmith.adversaries.plants import plant
from programsmith.adversaries.registry import Plant
from programsmith.bundle.controls import table
from programsmith.bundle.grade import Grade, grade
from programsmith.bundle.sides import Sides
from programsmith.checks.base import Row, Scene, first
from programsmith.checks.stages import some
from programsmith.errors import InfraError
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.tree import write_tree
from programsmith.payload.verifier.words import CaseWord

PLANTS = {"a fifo and a socket": Plant.SPECIALS, "names that are no text": Plant.NAMES}
SAYS = {"output that is no text": b"\xff\xfe\x00\n", "JSON nested without end": b"[" * 100_000}
ODD = (*PLANTS, *SAYS)
PARSED = "json_canonical"  # the comparator that takes an answer apart


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Hand in all of it at once; where that ends the grader, each alone, to say which does."""
    bundle, whole = scene.scratch / "few", some(scene, 1 + len(SAYS))
    sides = cut(
        dataclasses.replace(scene.sides, held_out=whole),
        scene.bundle,
        Choice(count=len(whole), compare=PARSED, whole=False),
        bundle,
    )
    if sides is None:
        raise InfraError(f"{scene.bundle}: no held-out case to try a grader with")
    ground = _Ground(scene, bundle, sides)
    got = ground.graded(ODD, "all")
    found = ground.ends() if got.hostile else ground.faults(got)
    return Row(
        passed=not found,
        reason=first(found, f"{len(ODD)} oddities of a submission end no grader", "oddities"),
        evidence={"faults": found, "words": dict(got.details["cases"]["held_out"])},
    )


@dataclasses.dataclass(frozen=True, slots=True)
class _Ground:
    scene: Scene
    bundle: Path
    sides: Sides

    def graded(self, chosen: Sequence[str], name: str) -> Grade:
        """The grade of a submission with the chosen oddities. Raises InfraError."""
        place = self.scene.scratch / name
        write_tree(str(place), table(self.scene.manifest.target_language, self.answers(chosen)))
        plant((kind for odd, kind in PLANTS.items() if odd in chosen), place, place / "table.txt")
        return grade(self.bundle, place, self.scene.environments, self.scene.scratch / f"{name}.out")

    def answers(self, chosen: Sequence[str]) -> list[GradedCase]:
        """The cases as the table has them: the first right, each of the others with an answer of its own."""
        said = {c.case.id: SAYS[odd] for c, odd in zip(self.sides.held_out[1:], SAYS, strict=False) if odd in chosen}
        return [
            dataclasses.replace(
                c, expected=dataclasses.replace(c.expected, stdout=said.get(c.case.id, c.expected.stdout))
            )
            for c in self.sides.held_out
        ]

    def ends(self) -> list[str]:
        """Which oddities end the grader."""
        alone = [odd for number, odd in enumerate(ODD) if self.graded((odd,), f"odd{number}").hostile]
        return [f"tests/verify.pyz: wanted a grade in spite of {odd}, got none" for odd in alone or ["all of it"]]

    def faults(self, got: Grade) -> list[str]:
        """What is wrong with the words of a grade."""
        words, right = got.details["cases"]["held_out"], self.sides.held_out[0].case.id
        wanted = {case: (word == CaseWord.AC) == (case == right) for case, word in words.items()}
        return [f"tests/verify.pyz: {case}: wanted AC for the right answer alone, got {words[case]}"
                for case, holds in wanted.items() if not holds]  # fmt: skip
