"""Trials made by hand: attempts, their labels, what is known of their cases."""

from __future__ import annotations

from programsmith.records.trial import Pair
from programsmith.rulebook.load import Rulebook
from programsmith.verdict.bands import Rule
from programsmith.verdict.discovery import Lacks
from programsmith.verdict.triage import Attempt, Ground, triage

RULE = Rulebook(None).load("triage")
BANDS = Rule(first=6, repeatable=frozenset(RULE["repeatable"]), interval=0.95, unlabelled_max=0.1)
FAMILIES = {"p1": "one", "p2": "two", "h1": "one", "h2": "two", "h3": "two"}


def attempt(index, failing=(), public=(), *, ceiling=False, agent="command", reward=None, word="WA_STDOUT", **rest):
    """Trial `index`; `failing` and `public` are failing cases (a word by id, or ids)."""
    held = failing if isinstance(failing, dict) else dict.fromkeys(failing, "WA_STDOUT")
    shown = public if isinstance(public, dict) else dict.fromkeys(public, "WA_STDOUT")
    values = {
        "pair": Pair(agent="ceiling" if ceiling else agent, model="m"),
        "index": index,
        "batch": 0,
        "ceiling": ceiling,
        "artifact": f"{agent}{index}{ceiling}",
        "reward": float(not held) if reward is None else reward,
        "word": word if held else "AC",
        "failing": held,
        "failing_public": shown,
    }
    return Attempt(**{**values, **rest})


def ground(unshown=(), unseen=(), queried=(), families=None):
    """Facts of five cases, two public and three held out, in two families."""
    families = families or FAMILIES
    return Ground(
        public=tuple(i for i in families if i.startswith("p")),
        held_out=tuple(i for i in families if i.startswith("h")),
        families=families,
        lacks=Lacks(unshown=dict.fromkeys(unshown, (b"word",)), unseen=dict.fromkeys(unseen, ("mutant",))),
        queried=frozenset(queried),
    )


def labels(*attempts, infra=None, **facts):
    """The labels that triage gives."""
    return triage(attempts, ground(**facts), RULE, infra or {})


def runs(passes, of, **rest):
    """`of` trials of one agent, of which the first `passes` pass; the others fail h1, and p1 with it."""
    return [attempt(i, *(() if i < passes else (("h1",), ("p1",))), **rest) for i in range(of)]
