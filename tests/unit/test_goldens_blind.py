"""Each blind program passes what it would pass, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from programsmith.goldens.blind import blind_scores
from programsmith.payload.verifier.model import FileEntry
from tests.samples.golden import golden

FILE = (FileEntry(b"in", content=b"x"),)
PUBLIC = [
    golden(b"a", stdout=b"one\n"),
    golden(b"b", stdin=b"text", stdout=b"none\n", exit_code=1),
    golden(b"c", files=FILE, stdout=b"none\n", exit_code=1),
]
OTHER = golden(b"z", stdin=b"else", stdout=b"of its own\n")


@pytest.mark.parametrize(
    ("passes", "argv", "rest"),
    [
        ({"most_frequent"}, (b"y",), {"stdout": b"none\n", "exit_code": 1}),
        ({"help"}, (b"--bad",), {"stdout": b"usage: t\n", "exit_code": 2}),
        ({"last_argument"}, (b"say", b"\xff"), {"stdout": b"\xff\n"}),
        ({"public_table"}, (b"a",), {"stdin": b"ignored", "stdout": b"one\n"}),
        ({"public_table", "most_frequent"}, (b"-v", b"b"), {"stdin": b"text", "stdout": b"none\n", "exit_code": 1}),
        ({"public_table", "most_frequent"}, (b"-v", b"c"), {"files": FILE, "stdout": b"none\n", "exit_code": 1}),
    ],
)
def test_a_program_passes_what_it_shows(passes: set[str], argv: tuple[bytes, ...], rest: dict[str, Any]) -> None:
    found = blind_scores([golden(*argv, **rest), OTHER], PUBLIC, {b"usage: t"})
    assert {name: share for name, share in found.items() if share} == dict.fromkeys(passes, 0.5)


def test_what_computes_nothing_passes_nothing_else() -> None:
    assert set(blind_scores([OTHER], PUBLIC, {b"usage: t"}).values()) == {0.0}
    assert set(blind_scores([], [], set()).values()) == {0.0}
