"""Overlap with known benchmarks: by owner/name where it is known, by name else."""

from __future__ import annotations

import json

import jsonschema
import pytest

from programsmith.sources.overlap import namesakes, overlaps

RULE = {"benchmarks": {"Bench": ["o/toy", "p/other"], "More": ["o/toy"]}}


@pytest.mark.parametrize(
    ("owner", "names", "found"),
    [
        ("o/toy", ["x"], ("Bench: o/toy", "More: o/toy")),
        ("q/toy", ["toy"], ()),
        (None, ["Toy"], ("Bench: o/toy", "More: o/toy")),
        (None, ["unknown"], ()),
    ],
)
def test_overlap(owner, names, found):
    assert overlaps(owner, names, RULE) == found


def test_a_fork_is_a_namesake():
    assert namesakes("q/other", RULE) == ("Bench: p/other",)
    assert namesakes("p/other", RULE) == ()
    assert namesakes(None, RULE) == ()


def test_the_packaged_lists_hold_what_they_should(kit):
    held = kit.rule("overlap")["benchmarks"]
    assert {"jqlang/jq", "cmatsuoka/figlet", "johnkerl/miller"} <= set(held["ProgramBench"])
    assert "django/django" in held["SWE-bench"]


@pytest.mark.parametrize("name", ["licenses", "overlap"])
def test_the_packaged_rules_fit_their_schemas(kit, name):
    schema = json.loads((kit.project / "rules/schema" / f"{name}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(kit.rule(name), schema)
