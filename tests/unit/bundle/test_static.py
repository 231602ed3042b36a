"""Each check stays green on what create writes, and each spoiled bundle makes exactly those red that must see it."""

from __future__ import annotations

import dataclasses
import json
import shutil
import tempfile
from pathlib import Path

import pytest

import programsmith.checks as package
from programsmith.blocks import create, static
from programsmith.bundle.controls import targets
from programsmith.bundle.sides import read_sides
from programsmith.checks import egress
from programsmith.checks.base import Scene
from programsmith.checks.no_upstream_pointer import run as no_upstream_pointer
from programsmith.checks.oracle_bytes import run as oracle_bytes
from programsmith.checks.page import checks_page, purpose
from programsmith.checks.registry import CHECKS
from programsmith.errors import InfraError
from programsmith.payload.verifier import seccomp
from programsmith.payload.verifier.model import canonical
from programsmith.records import codec
from programsmith.records.lock import Lock
from programsmith.records.outcome import Word
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes.shared import shared_root
from programsmith.toolchains.load import toolchains
from tests.unit.bundle.spoiled import MUTATIONS, RUNNING, WEAKENED, refresh, secret_answer

LOOKING = tuple(name for name in CHECKS if name not in RUNNING)


def judged(toy, names):
    """Ids of the checks that are red, of those named."""
    rule = Rulebook(None).load("checks")["checks"]
    toy.rules = {"checks": {"checks": [row for row in rule if row["id"] in names]}}
    outcome = static.run(toy.job("static"))
    rows = outcome.evidence["checks"]
    assert [r["id"] for r in rows] == [row["id"] for row in rule if row["id"] in names]
    assert (outcome.word is Word.PASS) == all(r["passed"] for r in rows) == toy.path("r/static.ok").exists()
    return {r["id"]: r["reason"] for r in rows if not r["passed"]}


def scene(toy, read):
    """What a check is handed, with something that was read already."""
    return Scene(
        bundle=toy.bundle, environments=toy.path("r/environments.json"), manifest=toy.manifest,
        lock=codec.load(toy.path("lock.json"), Lock), oracle=(), schema={}, scratch=toy.folder, read=read,
    )  # fmt: skip


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_spoiled_bundle_makes_exactly_its_checks_red_and_they_say_where(toy, name, monkeypatch):
    monkeypatch.setenv("PATH_TOKEN", "a value that nobody else has")
    wanted, mutate = MUTATIONS[name]
    mutate(toy)
    red = judged(toy, LOOKING)
    assert set(red) == set(wanted.split())
    assert all(": " in reason for reason in red.values())


def test_a_bundle_as_created_is_green_and_leaves_the_same_stamp(toy):
    assert judged(toy, CHECKS) == {}
    stamp = toy.path("r/static.ok").read_bytes()
    toy.path("r/static.ok").unlink()
    assert judged(toy, LOOKING) == {}
    assert toy.path("r/static.ok").read_bytes() == stamp
    assert json.loads(stamp)["tree"] == toy.manifest.tree


def test_a_bundle_whose_agents_may_ask_is_green_with_the_one_command_alone(asked_toys, tmp_path):
    toy = asked_toys("python", "python").copy(tmp_path / "toy")
    assert judged(toy, LOOKING) == {}
    toy.path("r/static.ok").unlink()
    ask = toy.bundle / "environment/app/reference/rot"
    ask.write_bytes(ask.read_bytes() + b"\n")
    refresh(toy)
    assert "oracle_access" in judged(toy, {"oracle_access"})


@pytest.mark.parametrize("target", sorted({*targets()} - {"cpp", "python"}))
def test_the_probes_of_another_target_run_too(toys, tmp_path, target):
    toy = toys("c", target).copy(tmp_path / "toy")
    assert judged(toy, CHECKS) == {}


@pytest.mark.parametrize("name", WEAKENED)
def test_a_program_without_its_defence_makes_exactly_its_check_red(toy, name):
    wanted, weaken = WEAKENED[name]
    weaken(toy)
    red = judged(toy, {"harbor_validity", "sealing", "fresh_output", "build_isolation", wanted})
    assert set(red) == {wanted}
    assert ": wanted " in red[wanted]


@pytest.fixture
def reached():
    """A folder that the users of launches reach, wherever temporary files lie."""
    with tempfile.TemporaryDirectory(prefix="test-", dir=shared_root()) as place:
        Path(place).chmod(0o755)
        yield Path(place)


@pytest.mark.parametrize("stage", ["build", "run"])
def test_a_stage_with_the_hosts_network_makes_egress_red(toy, stage, reached, monkeypatch):
    monkeypatch.setattr(seccomp, "CASE_FAMILIES", seccomp.FAMILIES)  # two fences stand before a network
    value = json.loads(toy.path("r/environments.json").read_bytes())
    shim = reached / "bwrap"
    real = value[stage]["bwrap"]
    shim.write_text(
        '#!/bin/bash\nkept=()\nfor word in "$@"; do [ "$word" = --unshare-net ] || kept+=("$word"); done\n'
        f'exec {real} "${{kept[@]}}"\n'
    )
    shim.chmod(0o755)
    # the launcher over bwrap, which such a shim can weaken where no slot has a network of its own
    value[stage] |= {"bwrap": str(shim), "server": None, "cgroup": False}
    toy.path("r/environments.json").write_text(json.dumps(value))
    if stage == "run":
        with pytest.raises(InfraError, match="network"):  # the launcher's own probe sees it first
            judged(toy, ("egress",))
        return
    red = judged(toy, ("egress",))
    assert "build stage" in red["egress"]


def test_a_project_that_lies_deep_is_judged_like_any_other(toy, tmp_path):
    deep = toy.copy(tmp_path / ("d" * 120))
    assert judged(deep, ("fresh_output", "grader_hidden", "egress")) == {}


def test_egress_knows_nothing_where_its_control_fails(toy, monkeypatch):
    monkeypatch.setattr(egress, "NEEDED", (*egress.NEEDED, "tcp:moon"))
    with pytest.raises(InfraError, match="tcp:moon"):
        judged(toy, ("egress",))


def test_a_held_out_answer_as_a_public_input_is_a_leak(toy):
    sides = read_sides(toy.bundle)
    answer = secret_answer(toy)
    given = dataclasses.replace(sides.public[0], case=dataclasses.replace(sides.public[0].case, stdin=answer))
    read = {"sides": dataclasses.replace(sides, public=(given, *sides.public[1:]))}
    row = oracle_bytes(scene(toy, read), {"run_bytes": 64, "distinct_bytes": 6, "answer_bytes": 40})
    assert not row.passed
    assert "as input" in row.reason
    assert answer.decode() not in json.dumps(row.evidence)


def test_an_address_that_the_oracle_prints_may_stand_in_public_cases_only(toy):
    sides = read_sides(toy.bundle)
    said = b"Report bugs to https://example.org/turner/rot-tool\n"
    printed = dataclasses.replace(sides.public[0], expected=dataclasses.replace(sides.public[0].expected, stdout=said))
    case = toy.bundle / "environment/app/cases" / printed.case.id
    (case / "expected_stdout").write_bytes(said)
    read = {"sides": dataclasses.replace(sides, public=(printed, *sides.public[1:]))}
    assert no_upstream_pointer(scene(toy, read), {}).passed
    assert not no_upstream_pointer(scene(toy, {}), {}).passed


def test_every_check_has_a_file_a_rule_a_row_in_the_docs_and_a_bundle_that_makes_it_red():
    book = Rulebook(None)
    plumbing = {"__init__", "base", "registry", "page", "search", "stages", "listeners", "attempts", "asked"}
    files = {p.stem for p in Path(package.__file__).parent.glob("*.py")} - plumbing
    assert files == set(CHECKS) == {row["id"] for row in book.load("checks")["checks"]}
    assert len(CHECKS) >= 24
    watched = {name for d in book.load("defences")["defences"] for name in d["watched_by"]}
    spoiled = {check for wanted, _ in (*MUTATIONS.values(), *WEAKENED.values()) for check in wanted.split()}
    assert spoiled | watched == set(CHECKS)  # test_defences removes what is watched
    page = (Path(__file__).parents[3] / "docs" / "checks.md").read_text(encoding="utf-8")
    assert page == checks_page(book.load("checks"), book.load("defences"))
    assert all(purpose(name) for name in CHECKS)


def test_evidence_is_json_and_holds_no_answer(toy):
    judged(toy, LOOKING)
    raw = canonical(static.run(toy.job("static")).evidence)
    assert secret_answer(toy) not in raw


def test_a_bundle_that_its_owner_sealed_is_green_with_the_secret(toy):
    toy.owner_secret, toy.spec["seal"] = bytes(range(32)), "owner"
    shutil.rmtree(toy.bundle)
    create.run(toy.job("create"))
    assert judged(toy, {*LOOKING, "grader_hidden", "broken_bundle", "strict_comparison"}) == {}


def test_a_task_from_one_language_to_another_is_green_and_its_wrapper_alone_is_waived(toys, tmp_path):
    toy = toys("c", "python").copy(tmp_path / "toy")
    assert toy.manifest.solution == "wrapper"
    assert judged(toy, LOOKING) == {}
    toy.path("r/static.ok").unlink()
    codec.dump(toy.path("r/manifest.json"), dataclasses.replace(toy.manifest, waived="0" * 64))
    assert set(judged(toy, LOOKING)) == {"waiver"}


@pytest.mark.parametrize(
    "edit", [lambda v: v["original"]["executables"].append("/usr/bin/perl"), lambda v: v.pop("original")]
)
@pytest.mark.parametrize("carried", [True, False])
def test_behind_the_wrapper_nothing_starts_but_what_both_languages_do(toys, tmp_path, edit, carried):
    toy = toys("python", "c").copy(tmp_path / "toy")
    path = toy.bundle / "tests" / "environment.json" if carried else toy.path("r/environments.json")
    value = json.loads(path.read_bytes())
    edit(value)
    path.write_text(json.dumps(value))
    assert "original" in judged(toy, {"listed_programs"})["listed_programs"]


def test_an_original_of_the_tasks_own_language_has_no_view_of_its_own(toy):
    path = toy.bundle / "tests" / "environment.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "original": {}}))
    assert "original: wanted none" in judged(toy, {"listed_programs"})["listed_programs"]


def test_the_check_of_programs_knows_what_each_language_starts():
    rows = {row["id"]: row for row in Rulebook(None).load("checks")["checks"]}
    known = toolchains(Rulebook(None).load("toolchains"))
    assert rows["listed_programs"]["parameters"]["runs"] == {n: list(tc.run_programs) for n, tc in known.items()}
