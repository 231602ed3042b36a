"""tests/environment.json: what a launch in the verifier's container may read and execute, and as whom."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from programsmith.bundle import places
from programsmith.bundle.tree import read_bundle
from programsmith.payload.verifier.plan import decode_policy
from programsmith.rulebook.load import Rulebook
from programsmith.toolchains.load import toolchains
from tests.unit.bundle.conftest import Toy

RULE = Rulebook(None).load("containers")
KNOWN = toolchains(Rulebook(None).load("toolchains"))


def made(language: str, exec_allowed: Iterable[str] = (), packages: Iterable[str] = (), slots: int = 2) -> Any:
    return json.loads(places.environment(KNOWN[language], exec_allowed, packages, slots, RULE))


@pytest.mark.parametrize("language", sorted(KNOWN))
def test_a_case_may_start_its_interpreter_and_what_the_oracle_started(language: str) -> None:
    run = made(language, ["/usr/bin/sort"])["run"]["view"]
    own = {f"/usr/bin/{name}" for name in KNOWN[language].run_programs}
    assert set(run["executables"]) == {*own, "/usr/bin/sort", *RULE["views"]["loaders"]}


@pytest.mark.parametrize(("source", "target"), [("python", "c"), ("c", "python")])
def test_only_an_original_of_another_language_has_a_view_of_its_own(source: str, target: str) -> None:
    value = json.loads(places.environment(KNOWN[target], ["/usr/bin/sort"], (), 2, RULE, KNOWN[source]))
    own = {f"/usr/bin/{name}" for tc in (KNOWN[source], KNOWN[target]) for name in tc.run_programs}
    assert set(value["original"]["executables"]) == {*own, "/usr/bin/sort", *RULE["views"]["loaders"]}
    assert {k: v for k, v in value.items() if k != "original"} == made(target, ["/usr/bin/sort"])


@pytest.mark.parametrize("language", sorted(KNOWN))
def test_no_case_reads_a_folder_of_programs(language: str) -> None:
    """A loader that may be started runs whatever program may be read."""
    read = [source for source, _ in made(language)["run"]["view"]["mounts"]]
    for folder in ("/usr", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib/gcc", "/usr/libexec", "/bin", "/", "/tests"):
        assert folder not in read


def test_a_build_has_the_toolchain_and_the_shell_and_more_only_with_packages() -> None:
    plain, more = (set(made("c", packages=p)["build"]["view"]["executables"]) for p in ((), ("libx-dev",)))
    assert {"/usr/bin/gcc", "/usr/bin/make", "/usr/bin/sh", "/usr/lib/gcc"} <= plain
    assert not {"/usr/bin", "/usr/bin/perl", "/usr/bin/python3"} & plain
    assert more - plain == {"/usr/bin"}


@pytest.mark.parametrize("slots", [1, 2, 5])
def test_every_slot_and_the_build_have_a_user_and_places_of_their_own(slots: int) -> None:
    value = made("python", slots=slots)
    run, build = value["run"], value["build"]
    users = {run["uid"] + n for n in range(slots)}
    assert build["uid"] not in users
    here = [place for one in (*run["places"], *build["places"]) for place in one.values()]
    assert len(set(here)) == len(here) == 2 * slots + 2
    assert sorted([*here, run["tree"]]) == sorted(places.folders(slots))
    assert {tuple(one) for one in run["places"]} == {("/tmp", "/work")}


def test_places_of_cases_are_file_systems_of_the_size_that_the_policy_says(toy: Toy) -> None:
    policy = decode_policy((toy.bundle / "tests" / "policy.json").read_bytes())
    found = places.scratch(2, policy)
    assert {p for one in places.slot_places(2) for p in one.values()} < set(found)
    assert {"noexec", "size=0", "nr_inodes=0"} < set(found.pop(places.TREE).split(","))  # what a build left fits
    for place, options in found.items():
        rule = policy.build if "build" in place else policy.case
        assert f"size={rule.work_bytes}," in options
        assert f"nr_inodes={rule.work_files + 1}" in options
        assert ("noexec" in options) == ("build" not in place)


def test_a_bundle_carries_the_file_for_the_verifier_alone(toy: Toy) -> None:
    files = read_bundle(toy.bundle)
    assert json.loads(files["tests/environment.json"].content)["kind"] == "uid"
    assert [p for p in files if p.endswith("environment.json")] == ["tests/environment.json"]
    text = files["tests/Dockerfile"].content.decode()
    assert all(place in text for place in places.folders(2))
