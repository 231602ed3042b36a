"""Attacks that others have met: each is tried by an adversary or a test that exists, and the page says by which."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from programsmith.adversaries.page import HEADING, with_attacks
from programsmith.compiler.pages import ATTACKS
from programsmith.rulebook.document import read_document
from programsmith.rulebook.load import Rulebook

ROOT = Path(__file__).parents[3]
KNOWN = read_document(ROOT / ATTACKS, str(ATTACKS)).values
ROWS = [row for one in KNOWN["lists"] for row in one["attacks"]]
IDS = {row["id"] for row in Rulebook(None).load("adversaries")["adversaries"]}


@cache
def functions(file: str) -> frozenset[str]:
    """The tests of a file below tests/."""
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["attack"])
def test_somebody_who_exists_tries_it(row):
    tried, tests = row.get("adversaries", []), row.get("tests", [])
    assert set(row) <= {"attack", "adversaries", "tests"}
    assert tried or tests
    assert set(tried) <= IDS
    for file, _, name in (place.partition("::") for place in tests):
        assert name.startswith("test_")
        assert name in functions(file), file


def test_none_is_told_twice():
    told = [row["attack"] for row in ROWS]
    assert len(told) == len(set(told)) >= 76


def test_every_adversary_tries_one_or_is_of_our_own():
    named = {name for row in ROWS for name in row.get("adversaries", ())}
    assert sorted(KNOWN["own"]) == sorted(IDS - named)


def test_the_page_is_made_of_it():
    page = (ROOT / "docs" / "adversaries.md").read_text(encoding="utf-8")
    assert page == with_attacks(page, KNOWN)
    assert page.count(HEADING) == 1
    assert all(f"| {row['attack']} |" in page for row in ROWS)
