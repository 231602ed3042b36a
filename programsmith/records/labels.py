"""What triage says of a revision's trials, and what is known of its cases: all that later blocks judge by."""

from __future__ import annotations

from dataclasses import dataclass

from programsmith.records.trial import Label, Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One trial with its label. `proof` is the code of the rule that gave it, `cases` are what proves it.

    `failing` are all held-out cases that the artifact fails.
    """

    pair: Pair
    index: int
    batch: int
    ceiling: bool
    reward: float
    passed: bool
    artifact: str
    label: Label
    proof: str
    cases: tuple[str, ...]
    failing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Every trial of the revision so far, in order of pair and index, ceiling trials last.

    `unshown` are held-out cases that ask what nothing shows, `unseen` those that alone tell a mutant on a line that no
    public case executes; together they are not discoverable. `unreached` are held-out cases that no trial without
    privilege passes, `untold` those of them that one fails which passes every public case of their family: what agents
    see does not tell them. `infra` names trials that have no grade, and why.
    """

    trials: tuple[Labelled, ...]
    unshown: tuple[str, ...]
    unseen: tuple[str, ...]
    unreached: tuple[str, ...]
    untold: tuple[str, ...]
    infra: dict[str, str]
