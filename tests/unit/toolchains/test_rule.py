"""The rule file fits its schema, and the schema refuses what nobody reads."""

from __future__ import annotations

import copy
import json

import jsonschema
import pytest

from programsmith.toolchains.load import toolchains
from programsmith.toolchains.model import Flavour


@pytest.fixture
def check(kit):
    schema = json.loads((kit.root / "rules" / "schema" / "toolchains.json").read_text("utf-8"))
    return jsonschema.Draft202012Validator(schema).validate


def test_the_rule_fits_its_schema_and_every_language_has_every_flavour(kit, check):
    check(kit.rule)
    for tc in toolchains(kit.rule).values():
        assert set(tc.flavours) >= {Flavour.RELEASE, Flavour.MUTANT, Flavour.COVERAGE, Flavour.OTHER_PATH}
        assert tc.build_systems


@pytest.mark.parametrize("path", [(), ("languages", "c"), ("languages", "c", "view"), ("docs",), ("install",)])
def test_an_unknown_key_is_refused_at_every_level(kit, check, path):
    rule = copy.deepcopy(kit.rule)
    at = rule
    for name in path:
        at = at[name]
    at["typo"] = 1
    with pytest.raises(jsonschema.ValidationError, match="typo"):
        check(rule)


def test_every_field_of_the_schema_is_described(kit):
    schema = json.loads((kit.root / "rules" / "schema" / "toolchains.json").read_text("utf-8"))
    todo = [("", schema)]
    while todo:
        name, node = todo.pop()
        todo += [(f"{name}.{k}", v) for k, v in node.get("properties", {}).items()]
        assert node.get("description"), name
