"""Records as JSON and back: what has another shape is refused by the errors that readers expect."""

from __future__ import annotations

from typing import Any

import pytest

from programsmith.records import codec
from programsmith.records.outcome import Record, Word
from programsmith.records.revision import Lineage

RECORD = Record(block="b", outcome=Word.PASS, reason="r", evidence={"a": [1]}, inputs={"x": "1"}, seconds=1.5)


def test_a_record_comes_back_as_it_was() -> None:
    assert codec.decode(Record, codec.encode(RECORD)) == RECORD


@pytest.mark.parametrize("kind", [Record, Lineage, dict[str, Record], tuple[Record, ...]])
@pytest.mark.parametrize("value", [[[]], 5, "text", {"a": []}, {"block": 1}, {"operations": 5}, [5], True, None])
def test_another_shape_is_a_wrong_value(kind: Any, value: Any) -> None:
    with pytest.raises((TypeError, ValueError, KeyError)):
        codec.decode(kind, value)
