"""Inputs under which surviving mutants die: made of the cases that run the mutated line, judged by what both show.

In: the pool, its split, its kills among mutants to practise on, which no score counts. Out: cases like those of any
expansion, with the case that each was made of. A case counts where the oracle, and the unmutated build, show one thing
and the mutant another, and no case shows it already. Only closed cases (held out, reserve) are changed: what is made of
a case stays with its group, and public cases kill nothing that counts. A whole text of another case is taken unaltered:
what comes out as there is then known to be the same, and no near twin of a public case is held out. Boxed by CPU time;
the same seed finds the same within the box, and what the box left out is counted.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Any

from programsmith.goldens.capture import Capture, expected_of, unsound
from programsmith.goldens.expand import SURVIVORS, Expansion, made_of
from programsmith.goldens.gates.bounds import input_reason
from programsmith.goldens.mutate import Stock, mutated, stock_of
from programsmith.goldens.strength.hunt import HUNTED, differs, name_of
from programsmith.goldens.strength.measure import Way, draw
from programsmith.goldens.strength.operators import Mutation
from programsmith.goldens.strength.subject import Bench, Subject, Unfit
from programsmith.payload.verifier.model import Case, Expected, Limits
from programsmith.records.golden import Golden, Kills, MinedCase, Mutant, Split

BATCH = 48  # inputs that both builds run before any of them is judged
ENOUGH = 3  # inputs per mutant that are offered: the oracle may show of the first what another case shows
BORROWED = ("other_stdin", "other_file")  # operators that take a whole text of another case
LATE = "out_of_time"


@dataclass(frozen=True, slots=True)
class Made:
    """An input, how it was made, and what the unmutated build showed under it."""

    parent: Golden
    golden: Golden
    operators: str
    seed: str


@dataclass(frozen=True, slots=True)
class _Scene:
    """One round: `parents` are the closed cases by the lines they run, `known` what cases show, `turns` the inputs.

    `end` is the CPU time, as the subject counts it, after which no mutant is begun.
    """

    goldens: Sequence[Golden]
    kills: Kills
    parents: Mapping[str, Sequence[Golden]]
    known: frozenset[Expected]
    turns: range
    end: float


@dataclass(frozen=True, slots=True)
class Search:
    """What all mutants share. `rule` is rules/goldens.yaml, `options` those that the oracle documents."""

    subject: Subject
    bench: Bench
    options: Sequence[str]
    rule: Mapping[str, Any]
    workers: int

    def run(self, goldens: Sequence[Golden], split: Split, kills: Kills, capture: Capture) -> Expansion:
        """Seek a killer for every mutant without one. `tried` says of each what came of it. Raises InfraError.

        All get the inputs of a round before any gets those of the next, so that a spent box leaves no file out.
        """
        closed = {i for side in HUNTED for i in getattr(split, side)}
        parents = _covering([g for g in goldens if g.id in closed], kills)
        alive = sorted((m for m in kills.mutants if not m.killers), key=lambda m: (m.path, m.line, m.id))
        met = [m for m in alive if f"{m.path}:{m.line}" in parents]
        made, outcomes = Expansion(), {g.expected for g in goldens}
        made.tried["only_public_runs_it"] = len(alive) - len(met)
        made.tried["practice_cut"] = min(1, kills.skipped.get(LATE, 0))  # by its box: more would have been sought for
        own, first = self.rule["survivors"], 0
        words: dict[str, str] = {}
        end = self.subject.spent() + own["cpu_seconds"]
        for tries in own["tries"]:
            scene = _Scene(goldens, kills, parents, frozenset(outcomes), range(first, first + tries), end)
            left = [m for m in met if words.get(m.id) != "killed"]
            for mutant, (word, offered) in zip(left, self._sought(left, scene), strict=True):
                chosen = next((one for one in offered if _shows(one, capture, outcomes)), None)
                known = "outcome_known" if offered else words.get(mutant.id, word)
                words[mutant.id] = "killed" if chosen else LATE if word == LATE else known
                if chosen:
                    outcomes.add(chosen.golden.expected)
                    made.cases.append(_mined(chosen))
            first += tries
        made.tried.update(words.values())
        return made

    def _sought(self, alive: Sequence[Mutant], scene: _Scene) -> list[tuple[str, list[Made]]]:
        """For every mutant a word and what kills it."""
        stock = stock_of([g.case for g in scene.goldens], [o.encode() for o in self.options])
        way = Way(rule=self.rule["mutants"], workers=self.workers)
        every = draw(self.subject.sources, scene.kills.line_table, way, self.bench.facts.language)
        edits = {name_of(mutation): mutation for mutation in every}
        slots: SimpleQueue[int] = SimpleQueue()
        for slot in range(self.workers):
            slots.put(slot)

        def seek(mutant: Mutant) -> tuple[str, list[Made]]:
            if self.subject.spent() >= scene.end:
                return LATE, []
            slot = slots.get()
            try:
                covering = scene.parents[f"{mutant.path}:{mutant.line}"]
                inputs = self._inputs(mutant, covering, stock, scene.turns)
                return "alive", self._killers(slot, edits[mutant.id], inputs, scene.known)
            finally:
                slots.put(slot)

        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(seek, alive))

    def _killers(self, slot: int, mutation: Mutation, inputs: Iterator[Made], known: frozenset[Expected]) -> list[Made]:
        """Inputs that tell the mutant from the unmutated build, until there are enough of them."""
        tree = self.subject.mutate(slot, mutation)
        found: list[Made] = []
        while not isinstance(tree, Unfit) and len(found) < ENOUGH:
            batch = [one for one, _ in zip(inputs, range(BATCH), strict=False)]
            if not batch:
                break
            shown = self.subject.answers(self.subject.tree, (one.golden for one in batch), self._limits)
            sound = [
                replace(one, golden=replace(golden, expected=expected_of(golden.case, result)))
                for one, (golden, result) in zip(batch, shown, strict=True)
                if unsound(result) is None
            ]
            sound = [one for one in sound if one.golden.expected not in known]
            told = self.subject.answers(tree, (one.golden for one in sound), self._limits)
            found += [one for one, (golden, result) in zip(sound, told, strict=True) if differs(result, golden)]
        return found[:ENOUGH]

    def _limits(self, golden: Golden) -> Limits:
        own = self.rule["mutants"]
        cpu = max(own["cpu_floor_seconds"], own["cpu_factor"] * golden.cpu_seconds)
        return replace(self.bench.limits, cpu_seconds=cpu, wall_seconds=5 * cpu + 5)

    def _inputs(self, mutant: Mutant, parents: Sequence[Golden], stock: Stock, turns: Iterable[int]) -> Iterator[Made]:
        """Inputs that were not there before; the parents take turns, those first that run least besides the line."""
        own, known = self.rule["survivors"], {case.id for case in stock.cases}
        for turn in turns:
            parent = parents[turn % len(parents)]
            seed = f"{own['seed']}:{mutant.id}:{turn}"
            steps = random.Random(seed).choice(own["steps"])  # noqa: S311 - a seeded choice, not a secret
            operators, case = _changed(parent.case, stock, seed, steps)
            if case.id in known or input_reason(case, self.rule["size"]):
                continue
            known.add(case.id)
            yield Made(parent, replace(parent, id=case.id, case=case), operators, seed)


def _changed(case: Case, stock: Stock, seed: str, steps: int) -> tuple[str, Case]:
    """The case after up to `steps` changes, and their names."""
    names = []
    for step in range(steps):
        made = mutated(case, stock, f"{seed}:{step}")
        if made is not None:
            names.append(made[0])
            case = made[1]
        if names and names[-1] in BORROWED:
            break
    return ", ".join(names), case


def _covering(closed: Sequence[Golden], kills: Kills) -> dict[str, list[Golden]]:
    """The closed cases that run each line, those first that run least."""
    found: dict[str, list[Golden]] = {}
    for golden in sorted(closed, key=lambda g: (len(kills.lines.get(g.id, ())), g.id)):
        for at in kills.lines.get(golden.id, ()):
            found.setdefault(kills.line_table[at], []).append(golden)
    return found


def _shows(one: Made, capture: Capture, outcomes: set[Expected]) -> bool:
    """Whether the oracle itself shows what the unmutated build did, and no case shows that yet."""
    if one.golden.expected in outcomes:
        return False
    result = capture.run(one.golden.case)
    return unsound(result) is None and not differs(result, one.golden)


def _mined(one: Made) -> MinedCase:
    return made_of(one.golden.case, one.parent, SURVIVORS, one.operators, one.seed)
