from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from programsmith.compiler import slices
from programsmith.compiler.approval import PARKING
from programsmith.compiler.plan import STEP, STEPS, Step
from programsmith.compiler.slices import Blocks
from programsmith.records.codec import encode
from programsmith.records.outcome import Record, Word
from programsmith.rulebook.load import Rulebook, packaged_schema
from programsmith.rulebook.schema import filled
from programsmith.verdict.bands import demands, judge_bands
from tests.samples.trials import BANDS, labels, runs


class OneRule:
    def __init__(self, text: str) -> None:
        self.text = text

    def load(self, name: str) -> Any:
        return {name: self.text}

    def digest(self, name: str) -> str:
        return slices.json_digest(self.load(name))


@pytest.fixture
def blocks(tmp_path: Path) -> Iterator[Blocks]:
    top = tmp_path / "mill"
    (top / "blocks").mkdir(parents=True)
    (top / "payload" / "stone").mkdir(parents=True)
    for name in ("__init__.py", "blocks/__init__.py", "blocks/grind.py", "payload/stone/grit"):
        (top / name).write_text("")
    sys.path.insert(0, str(tmp_path))
    try:
        yield Blocks(top)
    finally:
        sys.path.remove(str(tmp_path))
        for name in [name for name in sys.modules if name.partition(".")[0] == "mill"]:
            del sys.modules[name]


GRIND = Step(
    block="grind", says=(Word.PASS,), spec=("a.b", "seal"), rules=("limits",), payload=("stone",), outside=("a.path",)
)
VALUES: dict[str, Any] = {"a": {"b": 1, "c": 2, "path": None}, "seal": "inline", "z": 0}


def test_causes_are_named_as_a_person_reads_them(blocks: Blocks) -> None:
    causes = slices.declared(GRIND, VALUES, OneRule("x"), blocks)
    assert list(causes) == ["spec.a.b", "spec.seal", "rules/limits", "payload/stone", "code"]
    assert all(len(digest) == 64 for digest in causes.values())


def test_only_what_is_declared_counts(blocks: Blocks) -> None:
    before = slices.declared(GRIND, VALUES, OneRule("x"), blocks)
    other = {**VALUES, "z": 9, "a": {**VALUES["a"], "c": 9}}
    assert slices.declared(GRIND, other, OneRule("x"), blocks) == before
    other = {**VALUES, "a": {**VALUES["a"], "b": 9}}
    assert slices.changes(before, slices.declared(GRIND, other, OneRule("x"), blocks)) == ["spec.a.b"]
    assert slices.changes(before, slices.declared(GRIND, VALUES, OneRule("y"), blocks)) == ["rules/limits"]


def test_a_field_that_the_spec_lacks_is_a_bug(blocks: Blocks) -> None:
    with pytest.raises(KeyError):
        slices.declared(GRIND, {"a": {}, "seal": ""}, OneRule("x"), blocks)


def test_the_order_of_keys_is_no_change() -> None:
    assert slices.json_digest({"a": 1, "b": [1, 2]}) == slices.json_digest({"b": [1, 2], "a": 1})
    assert slices.json_digest({"a": [1, 2]}) != slices.json_digest({"a": [2, 1]})
    assert slices.json_digest(1) != slices.json_digest("1")


def test_outside_content_is_read_from_the_root(tmp_path: Path) -> None:
    root, cache = tmp_path / "project", tmp_path / "project" / "cache"
    (root / "src").mkdir(parents=True)
    cache.mkdir()
    values = {"a": {"path": "src"}}
    before = dict(slices.outside(GRIND, values, root, cache))
    (root / "src" / "x").write_text("x")
    assert slices.changes(before, dict(slices.outside(GRIND, values, root, cache))) == ["a.path"]


def test_outside_content_that_holds_the_cache_is_not_read(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    before = dict(slices.outside(GRIND, {"a": {"path": "."}}, tmp_path, cache))
    (tmp_path / "new").write_text("x")
    assert dict(slices.outside(GRIND, {"a": {"path": "."}}, tmp_path, cache)) == before == {"a.path": slices.ABSENT}


def record(seconds: float = 0.0, reason: str = "r", inputs: dict[str, str] | None = None) -> dict[str, Record]:
    made = Record(block="x", outcome=Word.PASS, reason=reason, evidence={}, inputs=inputs or {}, seconds=seconds)
    return {"x": made}


def test_what_a_record_says_counts_and_not_what_it_took() -> None:
    before = slices.settled(record())
    assert slices.settled(record(seconds=9.0)) == before
    assert slices.changes(before, slices.settled(record(inputs={"a": "b"}))) == ["record x"]
    assert slices.changes(before, slices.settled(record(reason="other"))) == ["record x"]


def test_the_owners_secret_is_a_cause_of_the_step_that_seals() -> None:
    assert slices.secret(GRIND, None) == {}
    one, two = slices.secret(GRIND, b"1" * 32), slices.secret(GRIND, b"2" * 32)
    assert slices.changes(one, two) == ["owner secret"]
    assert slices.secret(Step(block="x", says=(Word.PASS,)), b"1" * 32) == {}


def test_changes_name_what_came_and_what_went() -> None:
    assert slices.changes({"a": "1", "b": "2"}, {"b": "3", "c": "4"}) == ["b", "c", "a"]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: str(step.block))
def test_every_step_declares_fields_that_the_schema_has(step: Step) -> None:
    known = filled(packaged_schema("spec"), {"version": 1, "name": "x", "source": {"path": "x"}})
    values = {**known, "approved": dict.fromkeys(PARKING), "proven": {}, "pushed": {}}
    for path in (*step.spec, *step.outside):
        slices.field(values, path)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: str(step.block))
def test_every_step_has_code_and_payload(step: Step) -> None:
    real = Blocks()
    assert len(real.digest(step.block)) == 64
    for name in step.payload:
        assert real.payload(name).is_dir(), name


PAYLOAD = "programsmith.payload"


def folders_read(path: Path) -> Iterator[str]:
    """Payload folders whose files a module reads: imported for their place, or joined to that of the payload."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (a.name.removeprefix(PAYLOAD + ".") for a in names if a.name.startswith(PAYLOAD + "."))
            case ast.BinOp(op=ast.Div(), left=ast.Call() as left, right=ast.Constant(value=str(name))):
                yield from [name] if PAYLOAD in ast.unparse(left) else []
            case _:
                pass


@pytest.mark.parametrize("step", [s for s in STEPS if not s.per_trial], ids=lambda step: str(step.block))
def test_a_step_depends_on_every_payload_folder_that_its_code_reads(step: Step) -> None:
    read = {
        (name, module)
        for module, path in Blocks().modules(step.block).items()
        if not module.startswith(PAYLOAD)
        for name in folders_read(path)
    }
    assert {(name, module) for name, module in read if name not in step.payload} == set()


def test_the_folders_that_a_module_reads_are_found(tmp_path: Path) -> None:
    text = (
        "import programsmith.payload.build as frames\n"
        "from programsmith.payload.table.form import write\n"
        'a = Path(str(resources.files("programsmith.payload"))) / "record" / "x.c"\n'
        'b = Path("build") / "other"\n'
    )
    (tmp_path / "m.py").write_text(text)
    assert set(folders_read(tmp_path / "m.py")) == {"build", "record"}


def test_a_step_that_launches_something_depends_on_the_host_and_no_other_does():
    launching = [step.block for step in STEPS if slices.host(step, Rulebook(None), Blocks())]
    assert {"oracle", "goldens", "images", "sanity", "static"} <= set(launching)
    assert not {"ingest", "pick", "gate", "export"} & set(launching)


def refused(low: float, high: float, *, passes: int = 2, static: str = "") -> dict[str, Record]:
    """What static, triage and calibrate say of six trials."""
    tried = labels(*runs(passes, 6))
    band = {"basis": "rollouts", "pass_rate": {"min": low, "max": high}, "confidence": 0.7, "trials_max": 6}
    judged = judge_bands(demands([band]), "rollouts", tried, BANDS)
    said = [
        ("static", Word.PASS, static, {}),
        ("triage", Word.DONE, "", {"labels": encode(tried)}),
        ("calibrate", judged.word, judged.reason, judged.evidence),
    ]
    return {b: Record(block=b, outcome=w, reason=r, evidence=e, inputs={}, seconds=0.0) for b, w, r, e in said}


def asked(records: dict[str, Record]) -> dict[str, str]:
    return slices.said(STEP["synthesize"], records, Rulebook(None), Blocks())


def test_a_revision_follows_what_is_asked_of_it_and_no_other_word_or_number() -> None:
    harden = asked(refused(0.0, 0.01))
    assert list(harden) == [slices.NEED]
    assert asked(refused(0.0, 0.02, static="all is well")) == harden
    ease = asked(refused(0.9, 1.0))
    assert ease != harden
    assert asked(refused(0.901, 1.0)) == ease  # as many trials should pass
    assert asked(refused(0.6, 0.7)) != ease
    assert asked(refused(0.0, 0.01, passes=3)) != harden
    assert asked({**refused(0.0, 0.01), "static": broken(refused(0.0, 0.01)["static"])}) != harden


def broken(record: Record) -> Record:
    return replace(record, outcome=Word.FAIL)


def test_records_of_another_form_are_causes_as_they_are() -> None:
    records = {name: replace(record, evidence={}) for name, record in refused(0.0, 0.01).items()}
    assert set(asked(records)) == {"record static", "record triage", "record calibrate"}


def test_who_revises_in_a_pipeline_without_a_need_gets_the_records(blocks: Blocks) -> None:
    step = replace(GRIND, revises=True)
    assert slices.said(step, record(), OneRule("x"), blocks) == slices.settled(record())
