from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace

import pytest

from programsmith.goldens.siblings import near, sibling_groups
from programsmith.goldens.split import Facts, SplitRule, split
from tests.samples.golden import golden

RULE = SplitRule(public=0.5, public_least=100, held_out=140, same_expected_share=0.02, argv_distance=2, seed=1)


def made(count, family, **rest):
    """Goldens of one family whose command lines are no neighbours."""
    tag = family.encode()
    words = [hashlib.sha256(tag + b"%d" % n).hexdigest()[:12].encode() for n in range(count)]
    return [golden(tag, w, stdout=tag + w, family=family, **rest) for w in words]


def known(goldens, needs=None, shows=None, open_only=()):
    return Facts(
        needs={g.id: frozenset((needs or {}).get(g.id, ())) for g in goldens},
        shows={g.id: frozenset((shows or {}).get(g.id, ())) for g in goldens},
        options={g.id: frozenset(g.family.split()) for g in goldens},
        open_only=frozenset(open_only),
    )


def test_sides_are_disjoint_complete_stable_and_of_the_wanted_size():
    pool = [*made(8, "-a"), *made(9, "-b"), *made(280, "-c")]
    sides, dropped = split(pool, known(pool), RULE)
    again, _ = split(pool[::-1], known(pool), RULE)
    assert sides == again
    assert dropped == {}
    everything = [*sides.public, *sides.held_out, *sides.reserve]
    assert Counter(everything) == Counter(g.id for g in pool)
    assert 148 <= len(sides.public) <= 150
    assert len(sides.held_out) == 140
    assert split(pool, known(pool), replace(RULE, seed=2))[0] != sides


def test_public_has_its_least_where_the_pool_has_twice_as_many():
    pool = made(220, "-a")
    small = SplitRule(public=0.1, public_least=100, held_out=500, same_expected_share=0.02, argv_distance=0, seed=1)
    assert len(split(pool, known(pool), small)[0].public) == 100
    assert len(split(pool[:199], known(pool), small)[0].public) == 20


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 1, 40), (2, 200)])
def test_every_family_of_two_groups_is_on_both_sides(sizes):
    pool = [g for n, size in enumerate(sizes) for g in made(size, f"-{n}")]
    sides, _ = split(pool, known(pool), RULE)
    for n, size in enumerate(sizes):
        ids = {g.id for g in pool if g.family == f"-{n}"}
        if size > 1:
            assert ids & set(sides.public)
            assert ids & set(sides.held_out)


def test_many_small_families_still_give_the_wanted_share():
    pool = [g for n in range(30) for g in made(3, f"-{n}")]
    sides, _ = split(pool, known(pool), RULE)
    assert (len(sides.public), len(sides.held_out)) == (45, 45)


def test_of_a_group_with_equal_outcomes_is_held_out_what_fits():
    """Tests with many calls: whole, no group of equal outcomes would ever fit into a share of 2 %."""
    pool = [
        replace(case, group=f"test {n // 10}", expected=replace(case.expected, stdout=b"%d" % (n // 2)))
        for n, case in enumerate(made(60, "-a"))
    ]
    sides, _ = split(pool, known(pool), RULE)
    held = [g for g in pool if g.id in sides.held_out]
    assert len(held) == len({g.expected for g in pool if g.id not in sides.public}) == 15
    for n in range(0, 60, 10):
        group = {g.id for g in pool[n : n + 10]}
        assert group <= set(sides.public) or group.isdisjoint(sides.public)


def test_a_large_group_goes_where_it_misses_the_share_least():
    large = [replace(case, group="large") for case in made(40, "-a")]
    pool = [*large, *(replace(case, family="-a") for case in made(20, "x")), *made(4, "-b")]
    lone = [replace(case, group="lone") for case in made(70, "-a -b")]
    for cases, most in ((pool, 40), ([*pool, *lone], 70)):
        sides, _ = split(cases, known(cases), RULE)
        assert abs(len(sides.public) - len(cases) / 2) <= most / 2
        assert len(sides.held_out) >= 0.3 * len(cases)


def test_siblings_stay_together():
    pool = [
        *made(6, "-a", group="one"),
        *made(6, "-b"),
        golden(b"-b", b"1", family="-b"),
        golden(b"-b", b"2", family="-b"),
    ]
    sides, _ = split(pool, known(pool), RULE)
    for group in (pool[:6], pool[-2:]):
        ids = {g.id for g in group}
        assert any(ids <= set(side) for side in (sides.public, sides.held_out, sides.reserve))


def test_siblings_share_family_and_stem_or_fixture_and_nearly_the_command_line():
    a = golden(b"-a", b"xyz", stdin=b"1")
    close = golden(b"-a", b"xy", stdin=b"1")
    other_fixture = golden(b"-a", b"xyw", stdin=b"2")
    far = golden(b"-a", b"uvw", stdin=b"1")
    stem = golden(b"q", stdin=b"9", group=a.group)
    other_family = golden(b"-a", b"xyq", stdin=b"1", family="-b")
    groups = sibling_groups([a, close, other_fixture, far, stem, other_family], 2)
    assert {frozenset(g.id for g in group) for group in groups} == {
        frozenset({a.id, close.id, stem.id}),
        frozenset({other_fixture.id}),
        frozenset({far.id}),
        frozenset({other_family.id}),
    }


@pytest.mark.parametrize(
    ("a", "b", "distance", "is_near"),
    [
        (b"", b"", 0, True),
        (b"abc", b"abd", 0, False),
        (b"abc", b"abd", 1, True),
        (b"abc", b"bc", 1, True),
        (b"abcd", b"bcde", 2, True),
        (b"abcd", b"bcde", 1, False),
        (b"abc", b"abcdef", 2, False),
        (b"kitten", b"sitting", 2, False),
        (b"kitten", b"sitting", 3, True),
    ],
)
def test_near_counts_edits(a, b, distance, is_near):
    assert near(a, b, distance) is is_near
    assert near(b, a, distance) is is_near


def test_a_lone_family_is_held_out_only_where_public_cases_show_its_parts():
    parts = [*made(10, "-a"), *made(10, "-b")]
    shown, hidden = golden(b"both", family="-a -b"), golden(b"new", family="-a -z")
    pool = [*parts, shown, hidden]
    tight = SplitRule(public=0.3, public_least=100, held_out=140, same_expected_share=0.02, argv_distance=0, seed=1)
    sides, _ = split(pool, known(pool), tight)
    assert hidden.id in sides.public
    assert shown.id in sides.held_out


def test_lone_families_of_shared_parts_leave_what_can_be_held_out():
    """A suite whose tests each give another set of options: few of them show the parts of all the others."""
    pool = [made(1, f"-{a} -{b + 8}")[0] for a in range(8) for b in range(8)] + made(1, "-own")
    for seed in range(5):
        sides, _ = split(pool, known(pool), replace(RULE, seed=seed))
        assert abs(len(sides.public) - len(pool) / 2) <= 1
        seen = {option for g in pool if g.id in sides.public for option in g.family.split()}
        assert all(set(g.family.split()) <= seen for g in pool)
    few, _ = split(pool, known(pool), replace(RULE, public=0.1))
    assert len(few.public) <= 17, "of 16 words and one that stands alone none is shown twice"
    assert pool[-1].id in few.public


def test_what_the_docs_do_not_show_goes_public_first_and_the_rest_is_dropped():
    pool = made(12, "-a")
    shared, lone = [g.id for g in pool[:4]], [pool[5].id, pool[6].id]
    needs = {**dict.fromkeys(shared, (b"shared",)), lone[0]: [b"own 1"], lone[1]: [b"own 2"]}
    sides, dropped = split(pool, known(pool, needs, shows=needs), RULE)
    assert set(shared) & set(sides.public)
    assert not set(shared) & set(dropped)
    assert set(lone) <= set(sides.public)
    rare = SplitRule(public=0.1, public_least=100, held_out=140, same_expected_share=0.02, argv_distance=0, seed=1)
    sides, dropped = split(pool, known(pool, needs, shows=needs), rare)
    assert dropped == dict.fromkeys(lone, "undiscoverable")
    assert set(shared) & set(sides.public)
    assert not set(dropped) & {*sides.public, *sides.held_out, *sides.reserve}


def test_cases_that_the_docs_show_whole_are_public():
    pool = made(10, "-a")
    sides, _ = split(pool, known(pool, open_only=[pool[3].id, pool[7].id]), RULE)
    assert {pool[3].id, pool[7].id} <= set(sides.public)


def test_no_expected_side_fills_the_held_out():
    pool = [*made(120, "-a"), *(golden(b"%04d" % (n * 1111), stdout=b"same", family="-b") for n in range(60))]
    sides, _ = split(pool, known(pool), RULE)
    same = {g.id for g in pool if g.family == "-b"}
    assert len(same & set(sides.held_out)) == 1
    assert len(sides.public) + len(sides.held_out) + len(sides.reserve) == 180
