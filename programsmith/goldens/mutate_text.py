"""Changes of a text by its tokens: words, numbers, blanks, single signs. Bytes and a seeded choice in, bytes out.

Which text of a case is changed is the choice's too: stdin, a file, or a word of the command line that is no option
(many programs take a whole script there).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from programsmith.payload.verifier.model import Case

TOKEN = re.compile(rb"[A-Za-z_]+|\d+|[ \t]+|\r?\n|[\x80-\xff]+|.", re.DOTALL)
MOST = 65536  # bytes of a text that is cut into tokens
BORDERS = (
    b"0",
    b"1",
    b"-1",
    b"2",
    b"7",
    b"8",
    b"9",
    b"10",
    b"16",
    b"32",
    b"79",
    b"80",
    b"81",
    b"255",
    b"256",
    b"65536",
)
Tokens = list[bytes]
Change = Callable[[random.Random, Tokens, Tokens], Tokens]


def changed_text(chance: random.Random, case: Case, other: Case, change: Change) -> Case | None:
    """The case with one of its texts changed; `change` may take from a text of `other`. None where there is no text."""
    own, lent = list(_texts(case)), [text for _, text in _texts(other)]
    if not own:
        return None
    place, text = chance.choice(own)
    made = b"".join(change(chance, TOKEN.findall(text), TOKEN.findall(chance.choice(lent or [text]))))
    if place == "stdin":
        return replace(case, stdin=made)
    kind, at = place.split()
    if kind == "word":
        return replace(case, argv=(*case.argv[: int(at)], made, *case.argv[int(at) + 1 :]))
    file = replace(case.files[int(at)], content=made)
    return replace(case, files=(*case.files[: int(at)], file, *case.files[int(at) + 1 :]))


def _texts(case: Case) -> Iterator[tuple[str, bytes]]:
    if 0 < len(case.stdin) <= MOST:
        yield "stdin", case.stdin
    for at, word in enumerate(case.argv):
        if len(word) > 1 and word[:1] != b"-":
            yield f"word {at}", word
    for at, file in enumerate(case.files):
        if file.kind == "file" and 0 < len(file.content) <= MOST:
            yield f"file {at}", file.content


def _drop(chance: random.Random, own: Tokens, _other: Tokens) -> Tokens:
    at = chance.randrange(len(own))
    return own[:at] + own[at + chance.choice((1, 1, 2, 3)) :]


def _double(chance: random.Random, own: Tokens, _other: Tokens) -> Tokens:
    at = chance.randrange(len(own))
    return own[:at] + own[at : at + 1] * chance.choice((2, 2, 3, 9)) + own[at + 1 :]


def _swap(chance: random.Random, own: Tokens, _other: Tokens) -> Tokens:
    one, two = chance.randrange(len(own)), chance.randrange(len(own))
    made = list(own)
    made[one], made[two] = own[two], own[one]
    return made


def _number(chance: random.Random, own: Tokens, _other: Tokens) -> Tokens:
    """A number becomes one at a border, or one near it; a text without numbers gets one."""
    places = [at for at, token in enumerate(own) if token.isdigit() and len(token) < 10]  # noqa: PLR2004
    at = chance.choice(places or range(len(own)))
    near = tuple(b"%d" % (int(own[at]) + step) for step in (-1, 1)) if places else ()
    return [*own[:at], chance.choice(BORDERS + near), *own[at + 1 :]]


def _lend(chance: random.Random, own: Tokens, other: Tokens) -> Tokens:
    """Some tokens of another text, in place of one or between two."""
    at, start = chance.randrange(len(own)), chance.randrange(max(1, len(other)))
    return own[:at] + other[start : start + chance.choice((1, 1, 2, 4, 12))] + own[at + chance.choice((0, 1)) :]


def _lend_line(chance: random.Random, own: Tokens, other: Tokens) -> Tokens:
    """A whole line of another text before one of this."""
    lines = [line + b"\n" for line in b"".join(other).split(b"\n")]
    starts = [0, *(at + 1 for at, token in enumerate(own) if token.endswith(b"\n"))]
    at = chance.choice(starts)
    return [*own[:at], chance.choice(lines), *own[at:]]


CHANGES: Mapping[str, Change] = {
    "drop_token": _drop,
    "double_token": _double,
    "swap_tokens": _swap,
    "number_in_text": _number,
    "lend_tokens": _lend,
    "lend_line": _lend_line,
}
