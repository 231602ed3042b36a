"""Comparators: what each accepts, what each refuses, and that hostile outputs cost bounded time."""

from __future__ import annotations

import json
import time

import pytest

from programsmith.payload.verifier.compare import choice, comparator, mask_pattern, same_tree
from programsmith.payload.verifier.model import FileEntry


def named(kind: str, **parameters: object) -> str:
    return json.dumps({"kind": kind, **parameters})


FLOAT = named("float", abs=0.001, rel=0.0001)
STAMP = named("mask", pattern=r"\d{4}-\d{2}-\d{2}")
ROWS = [
    ("bytes", b"a\n", b"a\n", True),
    ("bytes", b"", b"", True),
    ("bytes", b"\xff\0\x80", b"\xff\0\x80", True),
    ("bytes", b"a\n", b"a", False),
    ("bytes", b"a\n", b"a\r\n", False),
    ("bytes", b"a\n", b"a \n", False),
    ("bytes", b"Hello", b"Hello\0extra", False),
    ("bytes", b"a", b"A", False),
    ("lines_unordered", b"a\nb\n", b"b\na\n", True),
    ("lines_unordered", b"a\na\nb\n", b"a\nb\na\n", True),
    ("lines_unordered", b"\n\na\n", b"a\n\n\n", True),
    ("lines_unordered", b"\xff\n\x00\n", b"\x00\n\xff\n", True),
    ("lines_unordered", b"a\na\nb\n", b"a\nb\nb\n", False),
    ("lines_unordered", b"a\nb\n", b"b\na", False),
    ("lines_unordered", b"a\nb\n", b"a\nb\n\n", False),
    ("lines_unordered", b"a\nb\n", b"a\r\nb\n", False),
    ("tokens", b"1 2\n", b"1\t2", True),
    ("tokens", b"  a b", b"a\n\nb\n", True),
    ("tokens", b"", b" \n", True),
    ("tokens", b"\xffx", b" \xffx", True),
    ("tokens", b"1 2", b"12", False),
    ("tokens", b"1 2", b"2 1", False),
    ("tokens", b"1", b"1.0", False),
    ("tokens", b"a", b"a\0", False),
    (FLOAT, b"1.0 x\n", b"1.0004 x\n", True),
    (FLOAT, b"100000", b"100009", True),
    (FLOAT, b"1e3", b"1000.0", True),
    (FLOAT, b"-.5", b"-0.5", True),
    (FLOAT, b"nan", b"nan", True),
    (FLOAT, b"1.0", b"1.01", False),
    (FLOAT, b"1", b"nan", False),
    (FLOAT, b"inf", b"1e999", False),
    (FLOAT, b"1e999", b"1e998", False),
    (FLOAT, b"10", b"1_0", False),
    (FLOAT, b"16", b"0x10", False),
    (FLOAT, b"1 2", b"1", False),
    (FLOAT, b"1" + b"0" * 1000, b"1" + b"0" * 999 + b"1", False),
    ("json_canonical", b'{"a":1,"b":[2]}', b'{ "b": [2],\n "a": 1 }\n', True),
    ("json_canonical", b'"\xc3\xa9"', b'"\\u00e9"', True),
    ("json_canonical", b"1\n2\n", b"1 2", True),
    ("json_canonical", b"[]", b" [ ] ", True),
    ("json_canonical", b"1", b"1.0", False),
    ("json_canonical", b"true", b"1", False),
    ("json_canonical", b"[1,2]", b"[2,1]", False),
    ("json_canonical", b'{"a":1}', b'{"a":1,"a":1}', False),
    ("json_canonical", b"1", b"1 2", False),
    ("json_canonical", b"null", b"NaN", False),
    ("json_canonical", b'"\xc3\xa9"', b'"\xe9"', False),
    ("json_canonical", b"{}", b"{", False),
    (STAMP, b"at 2024-01-02 ok", b"at 1999-12-31 ok", True),
    (STAMP, b"2024-01-02", b"2025-01-02", True),
    (STAMP, b"2024-01-02 2024-01-03", b"1024-01-02 1024-01-03", True),
    (STAMP, b"none", b"none", True),
    (STAMP, b"at 2024-01-02 ok", b"at 2024-01-02 OK", False),
    (STAMP, b"at 2024-01-02", b"at 2024-1-02", False),
    (STAMP, b"2024-01-02", b"", False),
    (STAMP, b"2024-01-02", b"2024-01-022024-01-03", False),
]


@pytest.mark.parametrize(("kind", "expected", "got", "equal"), ROWS)
def test_each_comparator_accepts_and_rejects_as_stated(kind: str, expected: bytes, got: bytes, equal: bool) -> None:
    assert comparator(kind)(expected, got) is equal


def test_every_comparator_has_at_least_eight_fixtures_with_both_answers() -> None:
    for kind in ("bytes", "lines_unordered", "tokens", FLOAT, "json_canonical", STAMP):
        answers = [equal for k, _, _, equal in ROWS if k == kind]
        assert len(answers) >= 8
        assert set(answers) == {True, False}


def mutations(golden: bytes) -> list[bytes]:
    half = len(golden) // 2
    return [
        golden[:-1],
        golden.replace(b"\n", b"\r\n"),
        golden[:-1] + b" \n",
        golden + b"\0junk",
        golden.swapcase(),
        golden[:-2] + b"~\n",
        golden + golden.splitlines(keepends=True)[-1],
        b"".join(reversed(golden.splitlines(keepends=True))),
        b"",
        golden.replace(b"1", b"2"),
        golden[:half],
        b"\xef\xbb\xbf" + golden,
    ]


def test_bytes_rejects_a_dozen_mutations_of_an_output() -> None:
    golden = b"total 1\nName x\n"
    assert [m for m in mutations(golden) if comparator("bytes")(golden, m)] == []


@pytest.mark.parametrize(
    "text",
    [
        "regex",
        "",
        "{",
        '{"kind": 1}',
        '{"pattern": "a"}',
        named("bytes", strip=True),
        named("float", abs=-1),
        named("float", abs="1"),
        named("float", abs=True),
        named("float", eps=1),
        named("mask"),
        named("mask", pattern="(a+)+b"),
        named("mask", pattern="a|b"),
        named("mask", pattern="."),
        named("mask", pattern="a*"),
        named("mask", pattern="a{1,99}"),
        named("mask", pattern="a?"),
        named("mask", pattern="a" * 17),
        named("mask", pattern="é"),
        named("mask", pattern="[z-a]"),
    ],
)
def test_a_comparator_outside_the_closed_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        comparator(text)


@pytest.mark.parametrize(
    "compare",
    [
        (("stdin", "bytes"),),
        (("stdout", "fuzzy"),),
        (("exit_code", "bytes"),),
        (("stderr", "bytes"),),
        (("files", "x"),),
    ],
)
def test_a_choice_names_known_streams_and_kinds_only(compare: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(ValueError, match="compar"):
        choice(compare)


def test_hostile_outputs_are_compared_in_bounded_time() -> None:
    golden = b"1\n"
    hostile = [
        b"9" * 1_000_000,
        b"1 " * 500_000,
        b"[" * 500_000,
        b'{"a":' * 200_000,
        b'"' + b"\\u0000" * 100_000,
        b"1e" + b"9" * 500_000,
        b"0-" * 500_000,
        b" " * 1_000_000 + b"x",
    ]
    kinds = ["bytes", "lines_unordered", "tokens", FLOAT, "json_canonical", STAMP, named("mask", pattern=r"\d+\d+x")]
    began = time.monotonic()
    for kind in kinds:
        for output in hostile:
            assert not comparator(kind)(golden, output)
    assert time.monotonic() - began < 20


def test_a_mask_never_gives_back_what_it_took() -> None:
    assert mask_pattern(r"\d+1").search(b"1111") is None


TREE = (FileEntry(b"d/a", "file", 0o644, b"x"), FileEntry(b"l", "link", 0o777, b"d/a"))


@pytest.mark.parametrize(
    ("got", "equal"),
    [
        (TREE, True),
        ((*TREE, FileEntry(b"d", "dir", 0o700)), True),
        ((FileEntry(b"d/a", "file", 0o600, b"x"), TREE[1]), True),
        ((FileEntry(b"d/a", "file", 0o755, b"x"), TREE[1]), False),
        ((FileEntry(b"d/a", "file", 0o644, b"y"), TREE[1]), False),
        ((TREE[0], FileEntry(b"l", "link", 0o777, b"d/b")), False),
        ((TREE[0], FileEntry(b"l", "file", 0o644, b"d/a")), False),
        ((TREE[0],), False),
        ((*TREE, FileEntry(b"more", "file", 0o644, b"")), False),
        ((*TREE, FileEntry(b"empty", "dir", 0o755)), False),
        ((*TREE, FileEntry(b"fifo", "special", 0o644)), False),
    ],
)
def test_trees_are_compared_by_name_kind_content_and_execute_bit(got: tuple[FileEntry, ...], equal: bool) -> None:
    assert same_tree(TREE, got) is equal
