"""The verbs beside `build`, one file each with `answer(asked, names, compiler)`; `doits` holds doit's own.

READING says of each verb that only looks what it answers, which words it takes besides `spec=`, and an example.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

EXITS = "exit codes: 0 answered; 2 infra; 3 wrong input or missing prerequisite; 130 interrupted"

PROVE = "prove what is built in another sandbox than its build took, and record it in the verdict"


YIELD = "write docs/yield from finished builds"
AGENTS = "bring coding agents to this machine, list or remove them: agents install NAME@VERSION"
ADOPT = "take submissions that scored without solving, as probes kept them, into rules/hacks.yaml"
GC = "remove from the store what no spec needs"
SETTLE = "show reservations of calls whose end nobody saw; close one"
EXPORT = "exported tasks for others: images in a registry, with the base that they start from, as a tar"
VERIFY = "whether an exported task is what it says: files, signature, label, seals; with --run also its grades"


class Reads(NamedTuple):
    """A verb that only looks."""

    what: str
    words: str
    examples: tuple[str, ...]


READING: Mapping[str, Reads] = MappingProxyType(
    {
        "plan": Reads(
            "what a build would run and why, how many trials it would buy, at most how many dollars",
            "",
            ("plan spec=tally", "plan --json"),
        ),
        "status": Reads(
            "where each spec stands, what is stale, which build runs, what is reserved",
            "",
            ("status", "status spec=tally"),
        ),
        "explain": Reads(
            "why each task last ran or would run, down to what changed; of one task also its evidence",
            "a task",
            ("explain spec=tally", "explain tally:r0:b0:calibrate"),
        ),
        "changed": Reads(
            "the specs that the changes since a git commit affect, one a line; with --json by what",
            "base=COMMIT",
            ("changed base=main", "build --yes spec=$(programsmith changed base=main | paste -sd,)"),
        ),
        "report": Reads(
            "the verdict and everything that it rests on", "", ("report spec=tally", "report spec=tally --json")
        ),
    }
)


def usage(verb: str) -> str:
    """The words that a reading verb takes, as help shows them."""
    more = {"a task": " [TASK …]", "base=COMMIT": " base=COMMIT"}.get(READING[verb].words, "")
    return f"[spec=NAME_OR_FILE[,…]]{more} [--json]"
