"""The rows of docs/reruns.md by themselves: what a step declares it reads, and the sentences that the design makes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import programsmith
from programsmith.compiler.imports import Package
from programsmith.compiler.plan import STEPS, Step
from programsmith.compiler.reruns import reruns
from programsmith.rulebook.load import packaged_schema
from programsmith.spec.docs import fields

PACKAGE = Package(Path(programsmith.__file__).parent)
WITHIN = [field.replace("[]", "") for field in fields(packaged_schema("spec"))]


@cache
def asked(path: Path) -> frozenset[tuple[str, str]]:
    """What a module asks for by a literal: (`spec` or `rules`, its name)."""
    return frozenset(_asked(ast.parse(path.read_text(encoding="utf-8"))))


def _asked(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="spec" | "rules" as what) | ast.Name(id="spec" | "rules" as what),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield what, name
            case _:
                pass


def asked_by(block: str) -> set[tuple[str, str]]:
    """What the code of a block asks for, its own and all that it imports."""
    files = PACKAGE.closure(f"programsmith.blocks.{block}").values()
    return {found for path in files for found in asked(path)}


@pytest.mark.parametrize("step", STEPS, ids=lambda step: str(step.block))
def test_every_field_and_rule_that_a_step_declares_is_read(step: Step) -> None:
    known = asked_by(step.block)
    names = [name for what, name in known if what == "spec"]
    declared = [f for f in WITHIN if any(f"{f}.".startswith(f"{path}.") for path in step.spec)]
    assert [f for f in declared if not any(f"{f}.".startswith(f"{name}.") for name in names)] == []
    assert set(step.rules) <= {name for what, name in known if what == "rules"}


def test_no_block_reads_what_its_row_does_not_declare() -> None:
    for step in STEPS:
        own = asked(PACKAGE.folder / "blocks" / f"{step.block}.py")
        fields_read = {name for what, name in own if what == "spec"}
        assert all(any(f"{name}.".startswith(f"{path}.") for path in step.spec) for name in fields_read), step.block
        assert {name for what, name in own if what == "rules"} <= {*step.rules, *step.attack_rules}, step.block


def test_a_band_reruns_no_trial() -> None:
    row = reruns(STEPS, "difficulty[].pass_rate.max")
    assert row.at_once == ("calibrate", "sweep")
    assert row.answers == ("gate", "export")


def test_a_static_rule_reruns_no_trial() -> None:
    row = reruns(STEPS, "rules/checks")
    assert (row.at_once, row.answers) == (("static",), ("gate", "export"))
    assert row.artifacts[-1] == "synthesize"


def test_who_reads_a_stamp_does_not_follow_its_writer() -> None:
    writes = Step(block="a", says=(), rules=("x",), writes=("r/static.ok", "r/other"))
    reads = Step(block="b", says=(), reads=("r/static.ok",))
    also = Step(block="c", says=(), reads=("r/other",))
    assert reruns((writes, reads, also), "rules/x").artifacts == ("c",)
