from __future__ import annotations

import pytest

from programsmith.goldens.families import asked_families, family_of
from programsmith.payload.verifier.model import Case, b64
from tests.samples.golden import facts


@pytest.mark.parametrize(
    ("argv", "family"),
    [
        ((), "plain"),
        ((b"x", b"y"), "plain"),
        ((b"-", b"--"), "plain"),
        ((b"-a", b"x"), "-a"),
        ((b"-cab",), "-a -b -c"),
        ((b"-w80",), "-w"),
        ((b"-aw80c",), "-a -w"),
        ((b"-ab=c",), "-a -b"),
        ((b"--long=v", b"--other"), "--long --other"),
        ((b"-name", b"x"), "-name"),
        ((b"-zab",), "-z"),
        ((b"-wbaz",), "-w"),
        ((b"-1", b"-2.5", b"-.5"), "plain"),
        ((b"list", b"-a", b"add"), "list -a"),
        ((b"-a", b"add"), "add -a"),
        ((b"--", b"-a", b"add"), "plain"),
        ((b"-\xff",), "-\\xff"),
    ],
)
def test_a_family_is_the_subcommand_and_the_set_of_options(argv, family):
    assert family_of(Case(argv=argv), facts()) == family


def test_asked_are_the_families_of_queries_that_were_answered_and_are_told_whole():
    told = [
        {"argv": [b64(b"-a"), b64(b"\xff")], "word": "ran"},
        {"argv": [b64(b"list")], "word": "ran"},
        {"argv": [b64(b"list"), b64(b"-b")], "word": "limit"},
        {"argv": [b64(b"--" + b"x" * 1000)], "word": "ran"},
        {"argv": [b64(b"-c")], "cut": {"words": 2}, "word": "ran"},
        {"argv": [b64(b"-b")], "cut": {"words": 1}, "word": "ran"},
        {"word": "malformed"},
        {"argv": [b64(b"-a")], "word": "ran"},
        {"bytes": 9, "queries": 6, "refused": {}},
    ]
    assert asked_families(told, facts()) == ("-a", "-b", "list")


def test_a_number_is_an_option_where_the_tool_takes_it():
    assert family_of(Case(argv=(b"-1",)), facts(options=("-1",))) == "-1"
