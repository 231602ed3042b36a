"""A submission that honestly solves half of its families, with the files of each adversary planted beside it.

In: a toy task, a folder, a language. Out: the reward that it must get beside each adversary, and what it gets.
"""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor

from programsmith.adversaries.brings import Kit
from programsmith.adversaries.cut import Choice, cut
from programsmith.adversaries.exploit import submission
from programsmith.adversaries.host import host
from programsmith.adversaries.plants import plant
from programsmith.adversaries.registry import Brings, adversaries, chosen, defences
from programsmith.bundle.controls import table
from programsmith.bundle.grade import grade_all
from programsmith.bundle.sides import read_sides
from programsmith.payload.verifier.plan import encode_plan
from programsmith.payload.verifier.tree import write_tree
from programsmith.payload.verifier.words import BuildWord
from programsmith.rulebook.load import Rulebook

BOOK = Rulebook(None)
KNOWN = adversaries(BOOK.load("adversaries"), defences(BOOK.load("defences")))
REFUSED = {Brings.CODE, Brings.PACKED, Brings.HEXED, Brings.GZIPPED, Brings.TWICE, Brings.ASSEMBLER}
"""What a policy refuses wherever it lies."""


class HalfSolution:
    """Honest answers to half of the families, with the files of each adversary planted beside them."""

    def __init__(self, toy, folder, language, beside="all"):
        folder.mkdir()
        self.language, self.folder, self.environment = language, folder, toy.path("r/environments.json")
        self.bundle = folder / "bundle"
        self.sides = cut(read_sides(toy.bundle), toy.bundle, Choice(count=4, whole=False), self.bundle)
        plan = dataclasses.replace(self.sides.plan, reward="fraction")
        (self.bundle / "tests" / "plan.json").write_bytes(encode_plan(plan))
        families = sorted({c.family for c in self.sides.held_out})
        self.solved = families[::2]
        share = len(self.solved) / len(families)
        assert 0 < share < 1
        self.wanted = {
            one.id: (0.0, BuildWord.POLICY) if self.is_refused(one) else (share, None)
            for one in chosen(KNOWN, beside, language)
        }

    def is_refused(self, one):
        foreign = self.sides.policy.refused_suffixes
        return REFUSED & set(one.brings) or any(name.endswith(foreign) for name in one.ships)

    def grades(self, at_once=1):
        """Reward by adversary, with the word where no case ran."""
        names = list(self.wanted)
        with ThreadPoolExecutor(at_once) as pool:
            parts = list(pool.map(self._some, (names[first::at_once] for first in range(at_once))))
        return {name: got for part in parts for name, got in part.items()}

    def _some(self, names):
        submissions = {self.folder / f"{name}.out": self.submission(KNOWN[name]) for name in names}
        found = grade_all(self.bundle, submissions, self.environment)
        words = [g.word if g.word in set(BuildWord) else None for g in found]
        return dict(zip(names, zip((g.reward for g in found), words, strict=True), strict=True))

    def submission(self, one):
        place = self.folder / one.id
        own = {e.path: e for e in table(self.language, [c for c in self.sides.held_out if c.family in self.solved])}
        with host(place_of(self.folder, f"{one.id}.host"), b"env\n") as outside:
            kit = Kit(
                language=self.language,
                tool="rot",
                sides=self.sides,
                answers=b"env\n",
                host=outside,
                scratch=place_of(self.folder, f"{one.id}.kit"),
            )
            for entry in submission(one, kit):
                clashes = entry.path in own or entry.path.endswith(b".c")
                path = b"beside/" + entry.path if clashes else entry.path
                own[path] = dataclasses.replace(entry, path=path)
            write_tree(str(place), own.values())
            (place / "beside").mkdir(exist_ok=True)
            (place / "beside" / "table.txt").unlink(missing_ok=True)
            plant(one.plants, place / "beside", outside.answers)
        return place


def place_of(folder, name):
    (folder / name).mkdir()
    return folder / name
