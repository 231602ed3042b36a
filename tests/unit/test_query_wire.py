"""Words of queries and answers: what is carried, what is refused whoever sent it, what names a closed place."""

from __future__ import annotations

import os
import random
import socket
import struct
from pathlib import Path

import pytest

from programsmith.payload.query.ask import lay
from programsmith.payload.query.names import named_place
from programsmith.payload.query.wire import (
    ARGUMENT_MOST,
    DEPTH_MOST,
    FILES_MOST,
    MAGIC,
    Answer,
    Query,
    WireError,
    decode_answer,
    decode_query,
    encode_answer,
    encode_query,
    receive,
    send,
)
from programsmith.payload.verifier.model import FileEntry

QUERY = Query(
    argv=(b"-x", b"", b"\xff y"),
    stdin=b"\0\n",
    env=((b"N", b"1"),),
    files=(FileEntry(b"d", "dir", 0o755), FileEntry(b"d/f\n", "file", 0o600, b"\0z")),
)
ANSWERS = (
    Answer(exit_code=0, stdout=b"\xff\0", stderr=b"e"),
    Answer(signal=9, files=(FileEntry(b"l", "link", 0o777, b"/x"), *QUERY.files)),
    Answer(exit_code=255, files=()),
    Answer(word="spent", said="ä"),
)


def test_everything_comes_as_it_went() -> None:
    assert decode_query(encode_query(QUERY)) == QUERY
    assert [decode_answer(encode_answer(answer)) for answer in ANSWERS] == list(ANSWERS)


def test_what_ends_early_or_goes_on_is_refused() -> None:
    body = encode_query(QUERY)
    for end in range(len(body)):
        with pytest.raises(WireError):
            decode_query(body[:end])
    with pytest.raises(WireError):
        decode_query(body + b"\0")


def test_no_change_of_a_query_is_anything_but_a_query_or_refused() -> None:
    body, chance = encode_query(QUERY), random.Random(4)
    for _ in range(3000):
        changed = bytearray(body)
        for _ in range(chance.randint(1, 4)):
            changed[chance.randrange(len(changed))] = chance.choice((0, 1, 2, 127, 255))
        try:
            decode_query(bytes(changed))
        except WireError:
            continue


@pytest.mark.parametrize(
    "query",
    [
        Query(argv=(b"a\0b",)),
        Query(argv=(b"x" * (ARGUMENT_MOST + 1),)),
        Query(argv=(b"x" * ARGUMENT_MOST,) * 3),
        Query(argv=(b"",) * (1 << 17)),
        Query(argv=(), env=((b"A", b"\0"),)),
        *(
            Query(argv=(), files=(FileEntry(path),))
            for path in (
                b"",
                b"/etc/x",
                b"../x",
                b"a/../x",
                b"a//b",
                b"a/",
                b"a\0",
                b"x" * 256,
                b"d/" * DEPTH_MOST + b"f",
            )
        ),
        Query(argv=(), files=(FileEntry(b"l", "link", 0o777, b"/proc/self/exe"),)),
        Query(argv=(), files=(FileEntry(b"a"), FileEntry(b"a/b"))),
        Query(argv=(), files=(FileEntry(b"a"), FileEntry(b"a"))),
        Query(argv=(), files=(FileEntry(b"a", "dir", 0o755, b"x"),)),
        Query(argv=(), files=tuple(FileEntry(b"%d" % n) for n in range(FILES_MOST + 1))),
    ],
)
def test_what_nothing_can_be_started_with_is_no_query(query: Query) -> None:
    with pytest.raises(WireError):
        decode_query(encode_query(query))


def test_a_count_that_promises_much_costs_nothing() -> None:
    with pytest.raises(WireError):
        decode_query(MAGIC + struct.pack(">I", 0xFFFFFFFF))


def test_what_the_original_left_is_laid_down_whatever_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = (FileEntry(b"gone"), FileEntry(b"e", "dir", 0o755), FileEntry(b"e/gone"), FileEntry(b"d"))
    left = (
        FileEntry(b"x" * 255, content=b"1"),
        FileEntry(b"e", content=b"file"),
        FileEntry(b"d", "dir"),
        FileEntry(b"d/" + b"\xff" * 255, "link", 0o777, b"../e"),
    )
    lay((), before)
    lay(before, left)
    found = {os.fsencode(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert found == {entry.path for entry in left}


def test_a_frame_that_is_too_long_cut_or_slow_is_refused() -> None:
    for sent, word in (
        (struct.pack(">Q", 101), "too_large"),
        (struct.pack(">Q", 1 << 63), "too_large"),
        (struct.pack(">Q", 8) + b"cut", "malformed"),
        (b"abc", "malformed"),
    ):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.sendall(sent)
            theirs.shutdown(socket.SHUT_WR)
            with pytest.raises(WireError) as fault:
                receive(ours, 100, 10)
            assert fault.value.word == word
    ours, theirs = socket.socketpair()
    with ours, theirs:
        send(theirs, b"whole")
        assert receive(ours, 100, 10) == b"whole"
        with pytest.raises(TimeoutError):
            receive(ours, 100, 0.01)


@pytest.mark.parametrize(
    "query",
    [
        *(
            Query(argv=(word,))
            for word in (
                b"/opt/oracle/lib/x.py",
                b"--file=/opt/oracle",
                b"-f/proc/self/mem",
                b"//opt",
                b"/./opt/x",
                b"/usr/../proc/self/exe",
                b"x/../../opt/y",
                b"..",
                b"--root=..",
                b"-C..",
                b"/",
                b"-r/.",
                b"/o*t/oracle",
                b"@/dev/fd/3",
                b"load('/opt/oracle/x')",
            )
        ),
        Query(argv=(), stdin=b"a\n/opt/oracle/x\n"),
        Query(argv=(), files=(FileEntry(b"list", content=b"include //proc/self/mem\n"),)),
        Query(argv=(), env=((b"DIR", b"/opt/oracle"),)),
    ],
)
def test_a_query_that_names_where_an_original_keeps_its_text_is_known(query: Query) -> None:
    assert named_place(query) is not None


@pytest.mark.parametrize(
    "word",
    [b"a.txt", b"-n", b"", b"/nonexistent", b"/dev/null", b"--out=d/e.txt", b"1..5", b"...", b"a/b", b"options",
     b"/optional", b"s/a/b/", b"*.txt", b"/tmp/x", b"-"],
)  # fmt: skip
def test_any_other_name_is_let_through(word: bytes) -> None:
    assert named_place(Query(argv=(word,), stdin=word, files=(FileEntry(b"f", content=word),))) is None
