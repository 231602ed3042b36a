from __future__ import annotations

import calendar

import pytest

from programsmith.goldens.constants import constants
from programsmith.goldens.gates.bounds import input_reason, output_reason, time_reason
from programsmith.goldens.gates.discoverable import Discoverability, Shown
from programsmith.goldens.gates.duplicates import distinct, over_share, shown_alike
from programsmith.goldens.gates.lax import FORGIVEN, MUTATIONS, accepted, lax_reason
from programsmith.goldens.gates.leaks import clock_reason, leak_reason
from programsmith.goldens.gates.nulls import null_reason
from programsmith.goldens.gates.one_outcome import one_outcome
from programsmith.goldens.gates.recall import counted, is_digest_like, recall_families
from programsmith.payload.verifier.compare import _KINDS
from programsmith.payload.verifier.model import Case, Expected, FileEntry
from programsmith.records.golden import MinedCase
from programsmith.sources.tree import SourceTree
from tests.samples.golden import facts, golden

USAGE = {b"usage: tool"}
A_FILE = (FileEntry(b"a", content=b"A"),)
CAPTURED = calendar.timegm((2031, 7, 9, 14, 58, 3))


@pytest.mark.parametrize(
    ("case", "expected", "word"),
    [
        (Case(argv=()), Expected(exit_code=0), "null_silent"),
        (Case(argv=()), Expected(exit_code=1), "null_silent"),
        (Case(argv=()), Expected(exit_code=1, stderr_empty=False), None),
        (Case(argv=()), Expected(exit_code=0, files=A_FILE), None),
        (Case(argv=(), stdin=b"x"), Expected(exit_code=0, stdout=b"x"), "null_stdin"),
        (Case(argv=(), stdin=b"x"), Expected(exit_code=3, stdout=b"x"), None),
        (Case(argv=(), stdin=b"x"), Expected(exit_code=0, stdout=b"x", files=A_FILE), None),
        (Case(argv=(b"a",), files=A_FILE), Expected(exit_code=0, stdout=b"A"), "null_first_file"),
        (Case(argv=(b"b",), files=A_FILE), Expected(exit_code=0, stdout=b"A"), None),
        (Case(argv=(b"-h",)), Expected(exit_code=2, stdout=b"usage: tool\n\n"), "null_usage"),
        (Case(argv=(), stdin=b"x"), Expected(exit_code=0, stdout=b"y"), None),
    ],
)
def test_a_golden_that_a_null_program_passes_is_named(case, expected, word):
    assert null_reason(case, expected, USAGE) == word


@pytest.mark.parametrize(
    ("stdout", "argv", "word"),
    [
        (b"at /tmp/x/y: no", (), "leak_host_path"),
        (b"at /tmp/xy", (), None),
        (b"by alice.", (), "leak_user_name"),
        (b"malice", (), None),
        (b"by alice", (b"alice",), None),
    ],
)
def test_a_mark_of_the_host_leaks_unless_the_case_brought_it(stdout, argv, word):
    marks = {"host_path": [b"/tmp/x"], "user_name": [b"alice"]}
    assert leak_reason(Case(argv=argv), Expected(exit_code=0, stdout=stdout), marks) == word


def test_a_leak_in_an_output_file_or_its_name_counts():
    for entry in (FileEntry(b"o", content=b"alice"), FileEntry(b"alice/o")):
        expected = Expected(exit_code=0, files=(entry,))
        assert leak_reason(Case(argv=()), expected, {"user_name": [b"alice"]}) == "leak_user_name"


@pytest.mark.parametrize(
    "stdout",
    [
        b"2031",
        b"2031-07-09",
        b"20310709",
        b"Jul  9",
        b"09 Jul",
        b"at 14:58.",
        b"14:59:07",
        b"07/09/31",
        b"t=%d;" % CAPTURED,
    ],
)
def test_the_time_of_capture_is_recognised_in_common_forms(stdout):
    case, expected = Case(argv=()), Expected(exit_code=0, stdout=stdout)
    assert clock_reason(case, expected, CAPTURED, CAPTURED + 90) == "clock_unproven"
    assert clock_reason(Case(argv=(), stdin=stdout), expected, CAPTURED, CAPTURED + 90) is None


@pytest.mark.parametrize("stdout", [b"1999", b"120310", b"13:58", b"114:581", b"July", b"1%d" % CAPTURED])
def test_other_numbers_are_no_clock(stdout):
    assert clock_reason(Case(argv=()), Expected(exit_code=0, stdout=stdout), CAPTURED, CAPTURED + 90) is None


def test_sizes_and_times_beyond_the_rule_are_named():
    rule = {"input_bytes": 10, "output_bytes": 10}
    assert input_reason(Case(argv=(b"12345",), stdin=b"12345"), rule) == "input_too_large"
    assert input_reason(Case(argv=(b"1",)), rule) is None
    assert output_reason(Expected(exit_code=0, files=(FileEntry(b"f", content=b"x" * 10),)), rule) == "output_too_large"
    assert output_reason(Expected(exit_code=0), rule) is None
    assert time_reason(5.1, 10, 0.5) == "near_time_limit"
    assert time_reason(4.9, 10, 0.5) is None


def test_equal_cases_are_one_whatever_the_order_of_their_parts():
    files = (FileEntry(b"a"), FileEntry(b"b"))
    env = ((b"A", b"1"), (b"B", b"2"))
    cases = [
        Case(argv=(b"x",), env=env, files=files),
        Case(argv=(b"x",), env=env[::-1], files=files[::-1]),
        Case(argv=(b"x",), env=env),
    ]
    provenance = golden().provenance
    once, gone = distinct([MinedCase(case=c, provenance=provenance, group="") for c in cases])
    assert ([m.case for m in once], gone) == ([cases[0], cases[2]], 1)


def test_what_shows_in_nothing_makes_no_case_of_its_own():
    font, other = FileEntry(b"f", content=b"1"), FileEntry(b"f", content=b"2")
    bare = golden(b"x")
    same = [
        golden(b"x", env=((b"LC_ALL", b"POSIX"),)),
        golden(b"x", env=((b"FONTS", b"fonts"),), files=(font,)),
        golden(b"x", files=(font, FileEntry(b"g"))),
    ]
    shown = [
        golden(b"x", env=((b"LC_ALL", b"C"),), stdout=b"other"),
        golden(b"x", stdin=b"2"),
        golden(b"x", files=(font,), exit_code=1),
        golden(b"y", files=(font,)),
        golden(b"y", files=(other,)),
    ]
    assert shown_alike([*same, bare, *shown]) == {g.id for g in same}
    env = [golden(b"z", env=((b"A", b"%d" % n),)) for n in range(3)]
    assert shown_alike(env) == {g.id for g in env[1:]}


def test_no_expected_side_takes_more_than_its_share():
    same = [golden(b"s%d" % n) for n in range(5)]
    other = [golden(b"o%d" % n, stdout=b"%d" % n) for n in range(95)]
    over = over_share([*same, *other], 0.02)
    assert over == {g.id for g in same[1:]}  # 97 are left, of which 2 % is one


def test_a_hollow_side_is_held_out_only_where_its_share_is_a_whole_case():
    hollow = golden(b"h", stdout=b"", exit_code=2, stderr_empty=False)
    few = [golden(b"%d" % n, stdout=b"%d" % n) for n in range(40)]
    many = [golden(b"%d" % n, stdout=b"%d" % n) for n in range(60)]
    assert over_share([hollow, *few], 0.02) == {hollow.id}
    assert over_share([hollow, *many], 0.02) == set()


def test_a_family_in_which_nothing_varies_is_named():
    alike = [golden(b"%d" % n, family="-v") for n in range(3)]
    varied = [golden(b"x%d" % n, family="-a", stdout=b"%d" % n) for n in range(3)]
    few = [golden(b"y%d" % n, family="-b") for n in range(2)]
    assert one_outcome([*alike, *varied, *few], 3) == {g.id for g in alike}


C_SOURCE = rb"""
#include <stdio.h>
/* "in a comment" */ // "in another"
char q = '"'; const char *a = "first " "second\tpart";
void f(void) { printf("%-5d items\n%s: unknown thing\n", 1, "x"); puts("caf\xc3\xa9 \101BCDEF"); }
"""


def test_constants_of_c_are_the_literal_runs_of_its_strings():
    found = constants(SourceTree([FileEntry(b"a.c", content=C_SOURCE)]), [], "c", 6)
    assert {b"first second part", b": unknown thing", b"caf\xc3\xa9 ABCDEF"} <= found
    assert not any(b"comment" in c or b"another" in c or b"%" in c for c in found)
    assert b"items" not in found  # five bytes


def test_constants_of_python_come_from_its_syntax_tree():
    source = b'X = f"total of {1} things"\nY = b"raw bytes" # "a comment"\nZ = "{} has no {name}"\n'
    found = constants(SourceTree([FileEntry(b"a.py", content=source)]), [], "python", 6)
    assert {b"total of", b"things", b"raw bytes", b"has no"} <= found
    assert b"a comment" not in found
    broken = constants(SourceTree([FileEntry(b"a.py", content=b'X = "a string"\ndef (')]), [], "python", 6)
    assert b"a string" in broken


def test_without_readable_source_constants_come_from_the_executable():
    found = constants(SourceTree([]), [FileEntry(b"tool", content=b"\x7fELF\0\0hidden text\0\x01ab\0")], "c", 6)
    assert found == {b"hidden text"}


def judge(docs, held=frozenset({b"secret phrase", b"directive"}), *, with_constants=True):
    shown = Shown([FileEntry(b"help.txt", content=docs)])
    return Discoverability(facts(), shown, frozenset(held), with_constants=with_constants)


def test_options_need_to_be_shown_as_words():
    need = judge(b"tool [-abc] --long\n").need(golden(b"-a", b"-w", b"--long", b"--longer"))
    assert need.names == {b"-w", b"--longer"}
    assert judge(b"\\fB\\-w\\fR \\-\\-longer").need(golden(b"-w", b"--longer")).names == frozenset()


def test_subcommands_and_directive_words_of_inputs_need_to_be_shown():
    asked = golden(b"add", stdin=b"directive x")
    assert judge(b"nothing").need(asked).names == {b"add", b"directive"}
    assert judge(b"add a directive").need(asked).names == frozenset()


def test_a_constant_in_the_expected_side_needs_to_be_shown_unless_the_case_brings_it():
    asked = golden(b"x", stdout=b"error: secret\n phrase!")
    assert judge(b"").need(asked).constants == {b"secret phrase"}
    assert judge(b"a secret\n   phrase").need(asked).constants == frozenset()
    assert judge(b"").need(golden(b"secret phrase", stdout=b"secret phrase")).constants == frozenset()
    assert judge(b"", with_constants=False).need(asked).constants == frozenset()
    assert b"secret phrase" in judge(b"").shows(asked)


GOLDENS = [
    b"total 12\nname  x\n",
    b"1.5 2.5\n3\n",
    b'{"a": 1, "b": [true]}\n',
    b"x",
    b"one\ntwo\nthree",
    b"\xff\0\x80\n7\n",
]


@pytest.mark.parametrize("expected", GOLDENS)
def test_a_dozen_mutations_of_every_output_are_rejected(expected):
    tried = [mutate(expected) for mutate in MUTATIONS.values()]
    assert len({m for m in tried if m != expected}) >= 7
    assert len(MUTATIONS) >= 12
    assert accepted(expected, "bytes") == []


@pytest.mark.parametrize(
    ("expected", "comparator", "word"),
    [
        (b"b\na\nc\n", "lines_unordered", None),
        (b"one  two\n", "tokens", None),
        (b" \n", "tokens", "lax"),
        (b"1.25 x\n", '{"abs": 0.01, "kind": "float"}', None),
        (b"1.25 x\n", '{"abs": 1, "kind": "float"}', "lax"),
        (b'{"a": 1}\n', "json_canonical", None),
        (b" \n", "json_canonical", "lax"),
        (b"at 2024-01-02 it ends\n", r'{"kind": "mask", "pattern": "\\d{4}-\\d{2}-\\d{2}"}', None),
        (b"ab cd ef\n", r'{"kind": "mask", "pattern": "[a-z ]+"}', "lax"),
        (b"12\n", r'{"kind": "mask", "pattern": "\\s+"}', "lax"),
    ],
)
def test_a_comparator_that_takes_what_nobody_means_is_lax(expected, comparator, word):
    assert lax_reason(expected, comparator) == word


def test_every_kind_of_comparator_says_what_it_forgives():
    assert set(FORGIVEN) == set(_KINDS)
    assert all(names <= set(MUTATIONS) for names in FORGIVEN.values())


@pytest.mark.parametrize(
    ("inputs", "stdout", "digest"),
    [
        ((b"abc",), b"ba7816bf8f01cfea414140de5dae2223b00361a3  abc\n", True),
        ((b"x",), b"SGVsbG8sIFdvcmxkISBTb21lIHRleHQ=\n", True),
        ((b"ba7816bf8f01cfea414140de5dae2223b00361a3",), b"ba7816bf8f01cfea414140de5dae2223b00361a3\n", False),
        ((b"x",), b"000000000000000000000000000001\n", False),
        ((b"x",), b"antidisestablishmentarianism\n", False),
        (
            (b"x",),
            b"words that a reader understands, then ba7816bf8f01cfea414140de5d and more\n",
            False,
        ),
        ((b"x",), b"", False),
    ],
)
def test_output_that_is_mostly_a_code_that_was_not_brought_is_digest_like(inputs, stdout, digest):
    assert is_digest_like(golden(*inputs, stdout=stdout), 24) == digest


def test_recall_families_count_up_to_their_share():
    digest = 0xBA7816BF8F01CFEA414140DE5DAE2223
    sums = [golden(b"%d" % n, stdout=b"%040x\n" % (digest + n), family="sum") for n in range(9)]
    plain = [golden(b"p%d" % n, stdout=b"%d\n" % n) for n in range(3)]
    families = recall_families([*sums, *plain], 24)
    assert families == {"sum": 9}
    assert counted(12, families, 0.25) == 6
    assert counted(12, {}, 0.25) == counted(12, families, 0.75) == 12
