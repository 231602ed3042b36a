"""The registry holds what the rules promise: each defence is tried, each exploit exists, ids are unique."""

from __future__ import annotations

import dataclasses

import pytest

from programsmith.adversaries.exploit import KITS, build_script
from programsmith.adversaries.registry import adversaries, chosen, defences
from programsmith.adversaries.weaken import EDITS
from programsmith.bundle.controls import program, targets
from programsmith.bundle.render import PAYLOAD
from programsmith.checks.registry import CHECKS
from programsmith.errors import InputError
from programsmith.rulebook.load import Rulebook
from programsmith.spec.load import load_spec

BOOK = Rulebook(None)
DEFENCES = defences(BOOK.load("defences"))
RULE = BOOK.load("adversaries")
KNOWN = adversaries(RULE, DEFENCES)
HOME = PAYLOAD / "adversaries"
SLACK = 3  # so many may turn out to prove nothing on some bundle


def test_every_defence_has_an_adversary_and_a_static_check():
    assert {one.defence for one in KNOWN.values()} == set(DEFENCES)
    assert all(set(d.watched_by) <= set(CHECKS) and d.watched_by for d in DEFENCES.values())


def test_every_defence_can_be_removed_in_the_way_that_it_says():
    for one in DEFENCES.values():
        has = {"program": (HOME / "weak" / f"{one.id}.py").exists(), "bundle": one.id in EDITS}
        assert {way for way, there in has.items() if there} == set(one.without), one.id


@pytest.mark.parametrize("language", targets())
@pytest.mark.parametrize("backend", ["bubblewrap", "docker"])
def test_the_core_set_has_more_than_enough_in_each_backend(language, backend):
    core = [one for one in chosen(KNOWN, "core", language) if backend in one.backends]
    wanted = RULE["wanted"]
    assert (wanted["adversaries"], wanted["defences"]) >= (20, 15)
    assert len(core) >= wanted["adversaries"] + SLACK
    assert len({one.defence for one in core}) >= wanted["defences"] + SLACK
    assert len([one for one in core if one.cases == "any"]) >= wanted["adversaries"]  # whatever cases a task has
    assert {one.id for one in core} < {one.id for one in chosen(KNOWN, "all", language)}


@pytest.mark.parametrize("language", targets())
@pytest.mark.parametrize("backend", ["bubblewrap", "docker"])
def test_all_of_them_are_enough_in_each_backend(language, backend):
    able = [one for one in chosen(KNOWN, "all", language) if backend in one.backends]
    assert len(able) >= 60
    assert len({one.defence for one in able}) >= 20


def test_every_adversary_has_the_files_that_its_row_names():
    for one in KNOWN.values():
        for language in one.languages:
            assert program(language, "adversaries", one.exploit)
            assert not one.build or build_script(one.build, language).is_file(), one.id
        assert not one.agent or (HOME / "agent" / f"{one.agent}.py").is_file(), one.id
        assert all((HOME / "ships" / name).is_file() for name in one.ships.values()), one.id


def test_no_exploit_lies_there_unused():
    used = {one.exploit for one in KNOWN.values()} | {one.agent for one in KNOWN.values()}
    used |= {one.build for one in KNOWN.values()}
    found = {p.stem for kind in (*KITS, "agent") for p in (HOME / kind).iterdir() if p.is_file()}
    found |= {p.stem for p in (HOME / "build").rglob("*.sh")}
    assert found - {"__init__"} <= used


def test_ids_choose_adversaries_in_the_language_of_the_task():
    assert [one.id for one in chosen(KNOWN, ["forks", "prebuilt_elf"], "python")] == ["forks"]


def test_an_unknown_id_is_refused_by_name():
    with pytest.raises(InputError, match="nobody"):
        chosen(KNOWN, ["nobody"], "python")


def test_two_of_one_id_are_refused():
    with pytest.raises(InputError, match="forks stands there twice"):
        adversaries({"adversaries": [r for r in RULE["adversaries"] if r["id"] == "forks"] * 2}, DEFENCES)
    with pytest.raises(InputError, match="twice"):
        defences({"defences": BOOK.load("defences")["defences"][:1] * 2})


def test_an_adversary_against_nothing_is_refused():
    rows = [{**RULE["adversaries"][0], "defence": "luck"}]
    with pytest.raises(InputError, match="no defence 'luck'"):
        adversaries({"adversaries": rows}, DEFENCES)


def test_rows_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        next(iter(KNOWN.values())).id = "other"


@pytest.mark.parametrize("wanted", ["all", "core", "[forks, floods]"])
def test_a_spec_names_a_set_or_adversaries(tmp_path, wanted):
    assert spec(tmp_path, wanted) == ({"all": "all", "core": "core"}.get(wanted) or ["forks", "floods"])


@pytest.mark.parametrize("wanted", ["some", "[]", "[forks, forks]", "[No]"])
def test_a_spec_that_names_nothing_known_is_refused(tmp_path, wanted):
    with pytest.raises(InputError, match="adversaries"):
        spec(tmp_path, wanted)


def spec(folder, wanted):
    (folder / "specs").mkdir()
    (folder / "specs" / "x.yaml").write_text(
        "version: 1\nname: x\nsource: {path: specs}\ntask: {target_languages: [python]}\n"
        f"probe: {{adversaries: {wanted}}}\n"
    )
    return load_spec(folder / "specs" / "x.yaml", folder).values["probe"]["adversaries"]
