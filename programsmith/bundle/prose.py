"""What a model may say of a program in the instruction: prose about it, and nothing that is the contract's to say.

In: paragraphs, the program's names, rules/asks.yaml. Out: the first fault in one line, empty where there is none. What
is checked is form: plain sentences whose only names are the program's own, without number, path or address, without a
word about work, judgement or bounds. A text that tells its reader what to do has to use one of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

PLAIN = re.compile(r"[A-Za-z ,.;:()'\"-]*")
QUOTED = re.compile(r"`([^`]*)`")
SHOWN = 60


def fault(paragraphs: Sequence[str], names: Collection[str], rule: Mapping[str, Any]) -> str:
    """Why the paragraphs do not hold. `names` are those that may stand in backticks; `rule` is `prose` of the rule."""
    found = (why for number, text in enumerate(paragraphs, 1) for why in _faults(number, text, names, rule))
    return next(found, "")


def _faults(number: int, text: str, names: Collection[str], rule: Mapping[str, Any]) -> Iterator[str]:
    where = f"paragraph {number}"
    for quoted in QUOTED.findall(text):
        strange = [word for word in quoted.split(" ") if word not in names]
        if strange or not quoted:
            yield f"{where}: `{quoted[:SHOWN]}` is no name of the program, its subcommands or its options"
    plain = QUOTED.sub("", text)
    at = PLAIN.match(plain)
    rest = plain[at.end() if at else 0 :]
    if rest:
        yield f"{where}: wanted letters and marks of sentences outside of backticks, got {rest[0]!r}"
    for word in re.findall(r"[A-Za-z][A-Za-z-]*", plain):
        if any(word.lower().startswith(start) for start in rule["words"]) or word in rule["names"]:
            yield f"{where}: {word!r} is not about the program; say what it does and nothing else"
