"""A pool of four families of six cases, its split, and everything that operations on the split are judged by."""

from __future__ import annotations

import dataclasses

from programsmith.goldens.invariants import Sizes, Stock, side_of
from programsmith.records.golden import Discovery, Kills, Mutant, Split
from programsmith.rulebook.load import Rulebook
from tests.samples.golden import golden

RULE = Rulebook(None).load("acceptance")
FAMILIES = ("one", "two", "three", "four")
EACH = 6


def asks(*needs, shows=(), options=(), open_only=False):
    return Discovery(needs=needs, shows=shows, options=options, open_only=open_only)


def mutants(lines):
    """120 mutants, 30 for each family's line, which every case of the family kills."""
    killers = {family: tuple(i for i, at in lines.items() if at == (n,)) for n, family in enumerate(FAMILIES)}
    return tuple(
        Mutant(id=f"m{n}", path="a.c", line=n % 4 + 1, operator="swap", diff="", killers=killers[FAMILIES[n % 4]])
        for n in range(120)
    )


def make_stock(**changes):
    """Four families of six cases each, named by family and number; every case has an answer of its own."""
    pool, lines = {}, {}
    for at, family in enumerate(FAMILIES):
        for n in range(EACH):
            case = dataclasses.replace(golden(family.encode(), b"%d" % n, stdout=b"%s %d\n" % (family.encode(), n)))
            case = dataclasses.replace(case, id=f"{family}{n}", family=family)
            pool[case.id], lines[case.id] = case, (at,)
    values = {
        "pool": pool,
        "groups": {i: (i,) for i in pool},
        "discovery": {i: asks(shows=(g.family.encode(),), options=(g.family,)) for i, g in pool.items()},
        "kills": Kills(
            mutants=mutants(lines), line_table=tuple(f"a.c:{n}" for n in range(1, 5)), lines=lines, scope_lines=4,
            skipped={},
        ),
        "nulls": {},
        "acceptance": RULE,
        "sizes": Sizes(held_out_min=2, held_out_max=12, public_min=2, same_expected_share=0.02),
    }  # fmt: skip
    return Stock(**{**values, **changes})


STOCK = make_stock()
SPLIT = Split(
    public=tuple(sorted(f"{f}{n}" for f in FAMILIES for n in (0, 1))),
    held_out=tuple(sorted(f"{f}{n}" for f in FAMILIES for n in (2, 3))),
    reserve=tuple(sorted(f"{f}{n}" for f in FAMILIES for n in (4, 5))),
)


def held(*families):
    """A trial that fails the held-out cases of these families."""
    return frozenset(i for i in SPLIT.held_out if STOCK.pool[i].family in families)


def changes(after, before=SPLIT):
    """What moved: id to its new side."""
    old, new = side_of(before), side_of(after)
    return {case: new[case] for case in old if old[case] != new[case]}
