"""The family of a case: its subcommand and the set of its option names, read with what the oracle is known to take."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from programsmith.payload.query.wire import RAN
from programsmith.payload.verifier.model import Case
from programsmith.records.lock import OracleFacts

PLAIN = "plain"
NAME_MOST = 400
_NUMBER = re.compile(rb"-\d+(?:\.\d*)?|-\.\d+")


@dataclass(frozen=True, slots=True)
class Call:
    """What a command line uses."""

    subcommand: str
    options: frozenset[str]

    @property
    def family(self) -> str:
        """One line that names it: `subcommand --option -o`, or `plain`."""
        return " ".join(filter(None, [self.subcommand, *sorted(self.options)])) or PLAIN


def call_of(case: Case, facts: OracleFacts) -> Call:
    """Read a command line. Options may be bundled (`-abc`), carry a value (`--x=y`, `-w80`) and end at `--`."""
    known = {o.encode() for o in facts.options}
    subcommands = {s.encode() for s in facts.subcommands}
    subcommand, options = b"", set[bytes]()
    for word in case.argv:
        if word == b"--":
            break
        if word.startswith(b"-") and word != b"-":
            options.update(_options(word, known))
        elif not subcommand and word in subcommands:
            subcommand = word
    return Call(_text(subcommand), frozenset(map(_text, options)))


def family_of(case: Case, facts: OracleFacts) -> str:
    """Name of the case's family."""
    return call_of(case, facts).family


def asked_families(rows: Iterable[Mapping[str, Any]], facts: OracleFacts) -> tuple[str, ...]:
    """Families of the queries that the oracle answered, of the rows of a trial's queries.jsonl.

    No case is in one of a longer name than NAME_MOST, and whoever asks makes up what names it. A row whose words were
    cut tells no family.
    """
    whole = (row["argv"] for row in rows if row.get("word") == RAN and not _is_cut(row))
    found = {family_of(Case(argv=tuple(map(base64.b64decode, argv))), facts) for argv in whole}
    return tuple(sorted(family for family in found if len(family) <= NAME_MOST))


def _is_cut(row: Mapping[str, Any]) -> bool:
    """Whether the row holds fewer words than were asked: what names the family may be among the others."""
    return bool(row.get("cut", {}).get("words", 0) > len(row["argv"]))


def _options(word: bytes, known: set[bytes]) -> Iterable[bytes]:
    name = word.partition(b"=")[0]
    if name in known or word.startswith(b"--"):
        return [name]
    if _NUMBER.fullmatch(word) and word[:2] not in known:
        return []
    letters = [b"-" + word[at : at + 1] for at in range(1, len(word))]
    end = next((n for n, letter in enumerate(letters) if letter not in known), len(letters))
    if end < len(letters) and letters[end][1:].isalpha():
        return letters[:1]  # a value that begins with letters which happen to be options
    return letters[:end] or letters[:1]


def _text(word: bytes) -> str:
    return word.decode("utf-8", "backslashreplace")
