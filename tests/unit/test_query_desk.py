"""What is told of queries: enough to know what was asked, and never more than a row may hold."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from programsmith.payload.query.ask import asked
from programsmith.payload.query.desk import Desk, Meter
from programsmith.payload.query.wire import ARGUMENT_MOST, Answer, Query

ROW_MOST = 16_384
LONG: dict[str, Query] = {
    "one word": Query(argv=(b"-n", b"x" * ARGUMENT_MOST)),
    "words": Query(argv=(b"-n", *(b"y",) * 5000)),
    "empty words": Query(argv=(b"-n", *(b"",) * 5000)),
    "variables": Query(argv=(b"-n",), env=tuple((b"V%d" % n, b"\xff" * 99) for n in range(99))),
}


def told(folder: Path, query: Query) -> Mapping[str, Any]:
    listener, rows = socket.socket(socket.AF_UNIX), list[Mapping[str, Any]]()
    listener.bind(str(folder / "ask"))
    listener.listen()
    desk = Desk(listener, lambda _: Answer(exit_code=0), Meter(queries=9, bytes=1 << 24, slots=1), rows.append)
    desk.open()
    try:
        assert asked(query, str(folder / "ask")).exit_code == 0
    finally:
        desk.close()
    return rows[0]


def test_a_plain_query_is_told_whole(tmp_path: Path) -> None:
    row = told(tmp_path, Query(argv=(b"-n", b"\xff"), env=((b"ROT", b"3"),)))
    assert [base64.b64decode(word) for word in row["argv"]] == [b"-n", b"\xff"]
    assert [[base64.b64decode(part) for part in pair] for pair in row["env"]] == [[b"ROT", b"3"]]
    assert "cut" not in row


@pytest.mark.parametrize("name", LONG)
def test_a_long_one_is_told_by_its_beginning_and_its_digest(name: str, tmp_path: Path) -> None:
    row = told(tmp_path, LONG[name])
    assert len(json.dumps(row)) < ROW_MOST
    assert base64.b64decode(row["argv"][0]) == b"-n"
    assert row["cut"]["words"] == len(LONG[name].argv)
    assert row["cut"]["bytes"] > 4096
    assert all(len(pair) == 2 for pair in row["env"])
