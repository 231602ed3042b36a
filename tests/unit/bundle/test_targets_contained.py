"""Each target language in its container: what is right in it scores 1, what is right in another language scores 0.

The other languages come in disguise: with names that say nothing, by every way that an image could have to compile
them, and by the interpreter that every verifier's image has for the grader.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from programsmith.blocks import create
from programsmith.bundle import controls
from programsmith.bundle.container import tests_digest as digest_of_tests
from programsmith.bundle.grade import Grade, Oracle, grade, replay
from programsmith.bundle.images import Base, Side, bundle_image
from programsmith.bundle.sides import read_sides
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.tree import write_tree
from programsmith.payload.verifier.words import BuildWord
from programsmith.records import codec
from programsmith.records.lock import OracleFacts
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes.base import DOCKER, Image
from programsmith.sources.tree import read_tar
from programsmith.toolchains.bases import base_tag
from tests.contract.backends import base_image
from tests.samples.behind import BY_COMPILER, INTERPRETED, disguised, ways
from tests.unit.bundle.conftest import CASES, Toy, make

pytestmark = pytest.mark.docker
RULE = Rulebook(None).load("containers")
TARGETS = ("c", "cpp", "go", "java", "javascript", "python", "rust")
Task = Callable[[str, str], tuple[Toy, Path]]
SCRIPT = INTERPRETED.replace(b"python3 -IS", b"node").replace(b"_py.", b"_js.")
OWN_COMPILER = ("c",)  # what is written in C is no other language there


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """Makes the sample in a language as a task in a language, and the environment in which its image grades it."""

    def task(source: str, language: str) -> tuple[Toy, Path]:
        for one in (language, "c"):
            base_image(one)
        toy = make(tmp_path_factory.mktemp(language), source, language, cases=CASES[:6])
        create.run(toy.job("create"))
        place = toy.folder / "docker.json"
        place.write_text(json.dumps(environment(toy, language)))
        return toy, place

    return task


def environment(toy: Toy, language: str) -> dict[str, Any]:
    """What grades in the verifier's image; no agent works here, so none has an image."""
    tag, compiler = base_tag(language, RULE["suite"]), base_tag("c", RULE["suite"])
    base = Base(tag=tag, id=tag, whole=True, agent=tag, compiler=compiler)
    image = Image(id=bundle_image(toy.bundle, Side.VERIFIER, base, more_packages=toy.manifest.more_packages))
    inside = json.loads((toy.bundle / "tests" / "environment.json").read_bytes())
    limits = {"cpus": 2, "memory_mb": 4096, "pids": RULE["verifier"]["pids"]}
    verifier = {"image": codec.encode(image), "tests": digest_of_tests(toy.bundle)}
    return {**inside, "kind": DOCKER, "fingerprint": "", **limits, **verifier}


def graded(toy: Toy, place: Path, name: str, files: Iterable[FileEntry]) -> Grade:
    folder, out = toy.folder / name, toy.folder / f"{name}.out"
    write_tree(str(folder), files)
    out.mkdir()
    return grade(toy.bundle, folder, place, out)


@pytest.mark.parametrize("language", TARGETS)
def test_a_target_builds_and_runs_its_own_language_and_no_other(tasks: Task, language: str) -> None:
    toy, place = tasks("python", language)
    cases = read_sides(toy.bundle).all
    own = graded(toy, place, "own", controls.table(language, cases))
    assert (own.reward, own.word) == (1, "AC"), own.reason
    if language not in OWN_COMPILER:
        found = graded(toy, place, "by_compiler", disguised("c", cases, BY_COMPILER))
        assert (found.reward, found.word) == (0, BuildWord.BUILD_FAIL), found.reason
        found_ways = ways((toy.folder / "by_compiler.out" / "build.log").read_bytes())
        assert [way for way in found_ways if language != "cpp" or not way.startswith(b"assembled by")] == []
    if language != "python":
        found = graded(toy, place, "by_interpreter", disguised("python", cases, INTERPRETED))
        assert found.reward == 0
        assert found.word not in list(BuildWord), found.reason


@pytest.mark.soak
def test_an_original_of_another_language_runs_where_its_interpreter_came_along(tasks: Task) -> None:
    if not shutil.which("node"):
        pytest.skip("node is absent; run: apt-get install -y nodejs")
    toy, place = tasks("javascript", "c")
    tree = toy.folder / "oracle"
    write_tree(str(tree), read_tar(toy.path("oracle.tar")))
    program = codec.load(toy.path("facts.json"), OracleFacts).program
    found = replay(toy.bundle, Oracle(tree=tree, program=program), place, toy.folder / "out")
    assert (found.reward, found.word) == (1, "AC"), found.reason
    held = disguised("javascript", read_sides(toy.bundle).all, SCRIPT)
    assert graded(toy, place, "by_its_interpreter", held).reward == 0
