"""Gate on loose comparators: `lax`, where one takes an output for the oracle's that nobody could mean.

In: an expected output, its comparator. Out: the word, or None. A dozen mutations of the output are tried; each that
changes its bytes must be rejected, apart from those that the kind of comparator is there to forgive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from programsmith.payload.verifier.compare import comparator

LAX = "lax"
_DIGIT = re.compile(rb"[0-9]")


def _lines(raw: bytes) -> list[bytes]:
    return raw.splitlines(keepends=True)


def _last_changed(raw: bytes) -> bytes:
    text = raw.rstrip()
    return text[:-1] + b"~" + raw[len(text) :]


def _digit_changed(raw: bytes) -> bytes:
    return _DIGIT.sub(lambda found: b"%d" % ((int(found[0]) + 1) % 10), raw, count=1)


MUTATIONS: Mapping[str, Callable[[bytes], bytes]] = {
    "end_cut": lambda raw: raw[:-1],
    "half": lambda raw: raw[: len(raw) // 2],
    "nothing": lambda _: b"",
    "first_line_dropped": lambda raw: b"".join(_lines(raw)[1:]),
    "last_line_twice": lambda raw: raw + b"".join(_lines(raw)[-1:]),
    "reversed": lambda raw: b"".join(reversed(_lines(raw))),
    "other_line_ends": lambda raw: raw.replace(b"\n", b"\r\n"),
    "blank_at_end": lambda raw: raw.rstrip(b"\n") + b" \n",
    "other_case": bytes.swapcase,
    "digit_changed": _digit_changed,
    "last_changed": _last_changed,
    "nul_behind": lambda raw: raw + b"\0more",
    "mark_before": lambda raw: b"\xef\xbb\xbf" + raw,
}
_BLANKS = frozenset({"end_cut", "other_line_ends", "blank_at_end"})
FORGIVEN: Mapping[str, frozenset[str]] = {
    "bytes": frozenset(),
    "lines_unordered": frozenset({"reversed"}),
    "tokens": _BLANKS,
    "float": _BLANKS | {"other_case"},
    "json_canonical": _BLANKS,
    "mask": frozenset({"reversed", "other_case", "digit_changed"}),
}
"""What each kind of comparator is there to forgive."""


def accepted(expected: bytes, text: str) -> list[str]:
    """Names of the mutations that the comparator takes for the expected output and is not there to forgive."""
    same, kind = comparator(text), json.loads(text)["kind"] if text.startswith("{") else text
    tried = {name: mutate(expected) for name, mutate in MUTATIONS.items() if name not in FORGIVEN[kind]}
    return [name for name, got in tried.items() if got != expected and same(expected, got)]


def lax_reason(expected: bytes, text: str) -> str | None:
    """`lax` where any is accepted."""
    return LAX if accepted(expected, text) else None
