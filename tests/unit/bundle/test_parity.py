"""The same submissions get the same word for every case in a view of this host and in the verifier's container."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from programsmith.bundle import controls
from programsmith.bundle.grade import Grade, Oracle, grade, replay
from programsmith.bundle.sides import Sides, read_sides
from programsmith.bundle.solution import solution
from programsmith.bundle.submissions import difference, read_submissions, scale_of
from programsmith.bundle.submissions import verdict as expected
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.tree import write_tree
from programsmith.records import codec
from programsmith.records.lock import OracleFacts
from programsmith.sandboxes.base import BUBBLEWRAP, DOCKER
from programsmith.sources.tree import read_tar
from tests.contract.backends import base_image
from tests.unit.bundle.conftest import Toy, environments

pytestmark = pytest.mark.docker
LANGUAGES = ("python", "c")


@pytest.fixture(scope="module", params=LANGUAGES)
def places(
    request: pytest.FixtureRequest, toys: Callable[[str, str], Toy], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Toy, Mapping[str, Path]]:
    """A task and its environment of either kind."""
    base_image(request.param)
    toy = toys(request.param, request.param).copy(tmp_path_factory.mktemp("parity") / "toy")
    return toy, environments(toy)


def submissions(toy: Toy, sides: Sides) -> dict[str, controls.Files]:
    language, cases = toy.manifest.target_language, sides.all
    at = sides.held_out[0].case.id
    right, half = controls.table(language, cases), controls.table(language, cases[::2])
    broken = [dataclasses.replace(e, content=b"#!/bin/sh\nexit 3\n") if e.path == b"compile.sh" else e for e in right]
    idle = [dataclasses.replace(e, content=b"#!/bin/sh\nexit 0\n") if e.path == b"compile.sh" else e for e in right]
    return {
        "source": solution(toy.bundle),
        "table": right,
        "one_off": controls.table(language, controls.altered(cases, at)),
        "half": half,
        "nothing": (),
        "public_only": controls.table(language, sides.public),
        "most_frequent": controls.table(language, (), controls.most_frequent(sides.public)),
        "empty": controls.table(language, (), (b"", 0)),
        "failing": controls.table(language, (), (b"", 1)),
        "echo": controls.program(language, "nulls", "echo_last"),
        "hello": controls.program(language, "probes", "hello"),
        "build_fails": tuple(broken),
        "builds_nothing": tuple(idle),
        "packed_program": (*right, FileEntry(b"blob", content=Path("/bin/true").read_bytes())),
    }


def verdict(got: Grade) -> dict[str, Any]:
    return {"reward": got.reward, "word": got.word, "cases": got.details["cases"]}


def test_every_submission_gets_the_same_vector(places: tuple[Toy, Mapping[str, Path]], tmp_path: Path) -> None:
    toy, found = places
    sides = read_sides(toy.bundle)
    made = submissions(toy, sides)
    assert len(made) >= 12
    for name, files in made.items():
        folder = tmp_path / name
        write_tree(str(folder), files)
        got = {k: verdict(grade(toy.bundle, folder, e, tmp_path / f"{name}.{k}")) for k, e in found.items()}
        assert got[BUBBLEWRAP] == got[DOCKER], name
        if name in {"source", "table"}:
            assert got[DOCKER]["reward"] == 1, name
        if name in {"one_off", "half", "nothing", "build_fails", "builds_nothing", "packed_program"}:
            assert got[DOCKER]["reward"] == 0, name


@pytest.mark.parametrize("name", ["says_nul", "leaves_a_file", "mixes_up_stderr", "crashes", "floods", "never_starts"])
def test_a_submission_of_the_bundle_gets_its_verdict_in_the_container_too(
    places: tuple[Toy, Mapping[str, Path]], tmp_path: Path, name: str
) -> None:
    toy, found = places
    one = next(one for one in read_submissions(toy.bundle) if one.id == name)
    write_tree(str(tmp_path / name), one.files)
    got = grade(toy.bundle, tmp_path / name, found[DOCKER], tmp_path / "out")
    assert difference(expected(one, scale_of(read_sides(toy.bundle))), got.details) == ""


def test_the_oracle_gets_the_same_vector(places: tuple[Toy, Mapping[str, Path]], tmp_path: Path) -> None:
    toy, found = places
    facts = codec.load(toy.path("facts.json"), OracleFacts)
    tree = tmp_path / "oracle"
    write_tree(str(tree), read_tar(toy.path("oracle.tar")))
    oracle = Oracle(tree=tree, program=facts.program)
    got = {k: verdict(replay(toy.bundle, oracle, e, tmp_path / k)) for k, e in found.items()}
    assert got[BUBBLEWRAP] == got[DOCKER]
    assert got[DOCKER]["reward"] == 1
