from __future__ import annotations

from collections.abc import Mapping

import pytest

from programsmith.compiler.passes import frontier
from programsmith.compiler.plan import STEPS
from programsmith.records.outcome import Record, Word

NO = frozenset({Word.REJECT, Word.TOO_WEAK, Word.FAIL, Word.TOO_THIN, Word.DROP})


def goes_on(block: str, word: Word) -> bool:
    assert block
    return word not in NO


def settled(**words: Word) -> Mapping[str, Record]:
    return {
        name: Record(block=name, outcome=word, reason="", evidence={}, inputs={}, seconds=0.0)
        for name, word in words.items()
    }


def due(records: Mapping[str, Record]) -> list[str]:
    return [step.block for step in frontier(STEPS, records, goes_on)]


UP_TO_CREATE = dict.fromkeys(("ingest", "matrix", "oracle", "goldens", "create"), Word.PASS) | {"pick": Word.PICKED}
BUILT = UP_TO_CREATE | dict.fromkeys(("images", "strength", "sanity", "static"), Word.PASS)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({}, ["ingest"]),
        ({"ingest": Word.PASS}, ["matrix"]),
        ({"ingest": Word.REJECT}, ["gate"]),
        ({"ingest": Word.REJECT, "gate": Word.DROP}, []),
        (UP_TO_CREATE, ["images", "strength"]),
        (UP_TO_CREATE | {"images": Word.PASS, "strength": Word.PASS}, ["sanity", "static"]),
        (UP_TO_CREATE | {"images": Word.PASS, "strength": Word.TOO_WEAK}, ["gate"]),
        (BUILT, ["gate"]),
        (BUILT | {"sanity": Word.FAIL}, ["gate"]),
        (BUILT | {"gate": Word.DRAFT}, ["export"]),
        (BUILT | {"gate": Word.DROP}, []),
        (BUILT | {"sanity": Word.FAIL, "gate": Word.SHELVE_EASY}, ["export"]),
        (BUILT | {"gate": Word.DRAFT, "export": Word.EXPORTED}, []),
    ],
)
def test_a_pass_holds_what_is_settled_to_go_on(words: dict[str, Word], expected: list[str]) -> None:
    assert due(settled(**words)) == expected
