"""Mutation of inputs: a case in, a case that asks something near it out. Pure, and decided by a seed.

Operators change the command line (drop, double, swap, exchange options and their values), stdin (lines deleted,
doubled, cut, emptied), any text by its tokens, and what a case is given (stdin and files of another case). An expected
side is never touched: there is none here.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from programsmith.goldens.mutate_text import CHANGES, Change, changed_text
from programsmith.payload.verifier.model import Case

_NUMBER = re.compile(rb"-?\d{1,9}")
_BORDERS = (b"0", b"1", b"-1", b"2", b"7", b"8", b"16", b"79", b"80", b"81", b"255", b"256", b"1000", b"65536")
_NEAR = (-1, 1, -2, 10)
_MAX_WORDS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """What mutation may take from: options that the oracle documents, and the cases that are there.

    `values` are the words that follow each option in those cases.
    """

    options: tuple[bytes, ...]
    cases: tuple[Case, ...]
    values: Mapping[bytes, tuple[bytes, ...]]


Operator = Callable[[random.Random, Case, Stock], Case | None]


def stock_of(cases: Sequence[Case], options: Sequence[bytes]) -> Stock:
    """The stock of these cases."""
    values: dict[bytes, dict[bytes, None]] = {}
    for case in cases:
        for option, value in zip(case.argv, case.argv[1:], strict=False):
            if option.startswith(b"-") and not value.startswith(b"-"):
                values.setdefault(option, {})[value] = None
    return Stock(
        options=tuple(sorted(set(options))),
        cases=tuple(cases),
        values={option: tuple(found) for option, found in values.items()},
    )


def mutated(case: Case, stock: Stock, seed: str) -> tuple[str, Case] | None:
    """The operator that `seed` chooses and the case that it makes; None where it has nothing to change."""
    chance = random.Random(seed)  # noqa: S311 - a seeded choice, not a secret
    name = chance.choice(tuple(OPERATORS))
    made = OPERATORS[name](chance, case, stock)
    if made is None or made == case or len(made.argv) > _MAX_WORDS or any(b"\0" in word for word in made.argv):
        return None
    return name, made


def _places(case: Case, *, options: bool) -> list[int]:
    return [at for at, word in enumerate(case.argv) if (word[:1] == b"-" and word != b"-") == options]


def _with(case: Case, at: int, *words: bytes, drop: int = 0) -> Case:
    return replace(case, argv=(*case.argv[:at], *words, *case.argv[at + drop :]))


def _drop_word(chance: random.Random, case: Case, stock: Stock) -> Case | None:
    del stock
    return _with(case, chance.randrange(len(case.argv)), drop=1) if case.argv else None


def _drop_option(chance: random.Random, case: Case, stock: Stock) -> Case | None:
    """An option with its value, where a word that other cases give it follows."""
    places = _places(case, options=True)
    if not places:
        return None
    at = chance.choice(places)
    follows = case.argv[at + 1 : at + 2]
    return _with(case, at, drop=2 if follows and follows[0] in stock.values.get(case.argv[at], ()) else 1)


def _double_word(chance: random.Random, case: Case, stock: Stock) -> Case | None:
    del stock
    if not case.argv:
        return None
    at = chance.randrange(len(case.argv))
    return _with(case, at, case.argv[at])


def _swap_words(chance: random.Random, case: Case, stock: Stock) -> Case | None:
    del stock
    if len(case.argv) < 2:  # noqa: PLR2004 - a swap needs two
        return None
    at = chance.randrange(len(case.argv) - 1)
    return _with(case, at, case.argv[at + 1], case.argv[at], drop=2)


def _add_option(chance: random.Random, case: Case, stock: Stock) -> Case | None:
    """A documented option in front, with a value that it has elsewhere, where it has one."""
    if not stock.options:
        return None
    option = chance.choice(stock.options)
    values = stock.values.get(option, ())
    first = min(_places(case, options=True), default=0)
    return _with(case, first, option, *([chance.choice(values)] if values else []))


def _add_valued_option(chance: random.Random, case: Case, stock: Stock) -> Case | None:
    """A documented option in front, with a number at a border: many take one, and few tests give it."""
    if not stock.options:
        return None
    option, first = chance.choice(stock.options), min(_places(case, options=True), default=0)
    value = chance.choice(_BORDERS)
    return _with(case, first, *([option + b"=" + value] if option.startswith(b"--") else [option, value]))


def _exchange_option(chance: random.Random, case: Case, stock: Stock) -> Case | None:
    places = _places(case, options=True)
    if not places or not stock.options:
        return None
    return _with(case, chance.choice(places), chance.choice(stock.options), drop=1)


def _border(chance: random.Random, case: Case, stock: Stock) -> Case | None:
    """A number in a word becomes one at a border, or a near one."""
    del stock
    places = [at for at, word in enumerate(case.argv) if _NUMBER.search(word)]
    if not places:
        return None
    at = chance.choice(places)
    match = chance.choice(list(_NUMBER.finditer(case.argv[at])))
    near = tuple(b"%d" % (int(match[0]) + step) for step in _NEAR)
    word, number = case.argv[at], chance.choice(_BORDERS + near)
    return _with(case, at, word[: match.start()] + number + word[match.end() :], drop=1)


def _other_options(chance: random.Random, case: Case, stock: Stock) -> Case | None:
    """The options of another case before this one's own words."""
    other = chance.choice(stock.cases)
    last = max(_places(other, options=True), default=-1)
    if last < 0:
        return None
    lead = other.argv[: last + 1]
    if other.argv[last + 1 : last + 2] and other.argv[last + 1] in stock.values.get(other.argv[last], ()):
        lead = other.argv[: last + 2]
    files = {f.path: f for f in (*other.files, *case.files)}
    return replace(case, argv=(*lead, *case.argv), files=tuple(sorted(files.values())))


def _other_stdin(chance: random.Random, case: Case, stock: Stock) -> Case | None:
    return replace(case, stdin=chance.choice(stock.cases).stdin)


def _other_file(chance: random.Random, case: Case, stock: Stock) -> Case | None:
    """One file gets the content of a file of another case."""
    own = [at for at, f in enumerate(case.files) if f.kind == "file"]
    found = [f for f in chance.choice(stock.cases).files if f.kind == "file"]
    if not own or not found:
        return None
    at = chance.choice(own)
    changed = replace(case.files[at], content=chance.choice(found).content)
    return replace(case, files=(*case.files[:at], changed, *case.files[at + 1 :]))


def _lines(change: Callable[[random.Random, list[bytes]], list[bytes]]) -> Operator:
    """An operator on the lines of stdin, or of the only file where stdin is empty."""

    def operator(chance: random.Random, case: Case, stock: Stock) -> Case | None:
        del stock
        if case.stdin:
            return replace(case, stdin=b"".join(change(chance, case.stdin.splitlines(keepends=True))))
        own = [at for at, f in enumerate(case.files) if f.kind == "file" and f.content]
        if len(own) != 1:
            return None
        file = case.files[own[0]]
        changed = replace(file, content=b"".join(change(chance, file.content.splitlines(keepends=True))))
        return replace(case, files=(*case.files[: own[0]], changed, *case.files[own[0] + 1 :]))

    return operator


def _delete(chance: random.Random, lines: list[bytes]) -> list[bytes]:
    at = chance.randrange(len(lines))
    return lines[:at] + lines[at + 1 :]


def _double(chance: random.Random, lines: list[bytes]) -> list[bytes]:
    at = chance.randrange(len(lines))
    return [*lines[:at], lines[at], *lines[at:]]


def _truncate(chance: random.Random, lines: list[bytes]) -> list[bytes]:
    text = b"".join(lines)
    return [text[: chance.randrange(len(text))]]


def _swap(chance: random.Random, lines: list[bytes]) -> list[bytes]:
    at = chance.randrange(len(lines))
    return [*lines[:at], *lines[at + 1 :], lines[at]]


def _empty(chance: random.Random, lines: list[bytes]) -> list[bytes]:
    del chance, lines
    return []


def _tokens(change: Change) -> Operator:
    """An operator on the tokens of one text, which may take some of another case's."""

    def operator(chance: random.Random, case: Case, stock: Stock) -> Case | None:
        return changed_text(chance, case, chance.choice(stock.cases), change)

    return operator


OPERATORS: Mapping[str, Operator] = {
    "drop_word": _drop_word,
    "drop_option": _drop_option,
    "double_word": _double_word,
    "swap_words": _swap_words,
    "add_option": _add_option,
    "add_valued_option": _add_valued_option,
    "exchange_option": _exchange_option,
    "border": _border,
    "other_options": _other_options,
    "other_stdin": _other_stdin,
    "other_file": _other_file,
    "delete_line": _lines(_delete),
    "double_line": _lines(_double),
    "cut_text": _lines(_truncate),
    "move_line": _lines(_swap),
    "no_text": _lines(_empty),
    **{name: _tokens(change) for name, change in CHANGES.items()},
}
