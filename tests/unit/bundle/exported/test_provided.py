"""Tasks whose images are in a registry, or that carry what these are made on: what is added, and that one can tell."""

from __future__ import annotations

import dataclasses
import json
import tomllib

import pytest

from programsmith.bundle.label import belongs
from programsmith.bundle.present import read_present
from programsmith.bundle.provided import PROVIDED, Provided, as_judged, provide, provided, public_base
from programsmith.bundle.tree import read_bundle
from programsmith.errors import InputError
from programsmith.records import codec
from tests.samples.exporting import FINGERPRINT, GOOD, SEED, exported, lie, public, resigned, states

HERE = "127.0.0.1:5000/tasks@sha256:"
PUSHED = Provided(
    public="debian:bookworm-slim",
    bases={"agent": {"BASE": HERE + "a" * 64}, "verifier": {"BASE": HERE + "b" * 64, "COMPILER": HERE + "c" * 64}},
    images={"agent": HERE + "d" * 64, "verifier": HERE + "e" * 64},
)
CARRIED = Provided(
    public="debian:bookworm-slim",
    bases={"agent": {"BASE": "base"}, "verifier": {"BASE": "base", "COMPILER": "compiler"}},
)
ROOTS = {"environment/base.tar.gz": b"1", "tests/base.tar.gz": b"2", "tests/compiler.tar.gz": b"3"}


@pytest.fixture
def pushed(toys, tmp_path):
    """A task whose bundle a registry has."""
    toy = toys("python", "python").copy(tmp_path / "toy")
    toy.spec["pushed"] = {"bundle": toy.manifest.tree, "fingerprint": FINGERPRINT, "provided": codec.encode(PUSHED)}
    return exported(toy, tmp_path / "pushed" / "rot")


def lines_of(task, side):
    return (task / side / "Dockerfile").read_text().splitlines()


def test_images_are_named_by_digest_and_the_task_holds(pushed, verified):
    task = tomllib.loads((pushed / "task.toml").read_text())
    said = {"agent": task["environment"], "verifier": task["verifier"]["environment"]}
    assert {side: place["docker_image"] for side, place in said.items()} == PUSHED.images
    assert f"ARG BASE={PUSHED.bases['agent']['BASE']}" in lines_of(pushed, "environment")
    assert {f"ARG {name}={ref}" for name, ref in PUSHED.bases["verifier"].items()} <= {*lines_of(pushed, "tests")}
    code, lines = verified(pushed, "--key", public(SEED))
    assert (code, states(lines)) == (0, GOOD), lines


@pytest.mark.parametrize("other", ["bundle", "fingerprint"])
def test_a_digest_of_another_bundle_or_of_other_images_is_written_nowhere(toys, tmp_path, other):
    toy = toys("python", "python").copy(tmp_path / "toy")
    ours = {"bundle": toy.manifest.tree, "fingerprint": FINGERPRINT, "provided": codec.encode(PUSHED)}
    toy.spec["pushed"] = {**ours, other: "0" * 64}
    task = exported(toy, tmp_path / "other" / "rot")
    assert not [path for path, e in read_bundle(task).items() if b"@sha256:" in e.content and belongs(path)]
    assert PROVIDED not in json.loads((task / "provenance.json").read_bytes())


@pytest.mark.parametrize("path", ["environment/Dockerfile", "tests/Dockerfile", "task.toml"])
def test_another_image_than_the_one_that_was_pushed_is_told(pushed, verified, path):
    text = (pushed / path).read_bytes()
    (pushed / path).write_bytes(text.replace(b"tasks@sha256:", b"other@sha256:"))
    if path == "task.toml":
        resigned(pushed)
    else:
        forge_beside(pushed)
    code, lines = verified(pushed)
    assert (code, lines["label"]["state"]) == (1, "differs")


def forge_beside(task):
    """Make the label fit the edited files, as far as one can who leaves `images` as it is."""
    lie(task, "notes", tomllib.loads((task / "task.toml").read_text())["metadata"]["programsmith"]["notes"])


@pytest.mark.parametrize("given", [
    {"public": "x", "bases": {"agent": {"BASE": "../../etc"}, "verifier": {"BASE": "base"}}, "images": {}},
    {"public": "x", "bases": {"agent": {"BASE": "a:tag"}, "verifier": {"BASE": "b:tag"}}, "images": {"agent": "c:tag"}},
    {"public": "x", "bases": {}, "images": {"agent": 7}}, {"bases": {}}, [], None,
])  # fmt: skip
def test_what_is_said_of_images_in_no_form_of_ours_is_refused(pushed, verified, given):
    proof = json.loads((pushed / "provenance.json").read_bytes())
    (pushed / "provenance.json").write_text(json.dumps({**proof, PROVIDED: given}))
    resigned(pushed)
    code, lines = verified(pushed)
    assert (code, lines["label"]["state"]) == (1, "differs")


@pytest.mark.parametrize("given", [PUSHED, CARRIED])
def test_what_was_judged_is_found_again(toy, given):
    bundle = read_bundle(toy.bundle)
    roots = ROOTS if given.carries else {}
    made = provide(bundle, given, roots)
    assert public_base(bundle) == given.public
    assert {path for path in made if made[path] != bundle.get(path)} >= {"environment/Dockerfile", "tests/Dockerfile"}
    assert made.keys() - bundle.keys() == set(roots)
    assert as_judged(made, given) == bundle
    assert provided({PROVIDED: codec.encode(given)}) == given
    with pytest.raises(InputError):
        as_judged(bundle, given)
    with pytest.raises(InputError):
        provide(made, given, roots)


def test_who_answers_queries_is_built_on_what_the_verifier_is(asked_toys):
    """The same for the third Dockerfile, where a task has one."""
    bundle = read_bundle(asked_toys("python", "python").bundle)
    third = {f"solution/reference/{name}.tar.gz": b"4" for name in ("base", "compiler")}
    for given, roots in ((PUSHED, {}), (CARRIED, {**ROOTS, **third})):
        own = dataclasses.replace(given, bases={**given.bases, "reference": given.bases["verifier"]})
        made = provide(bundle, own, roots)
        text = made["solution/reference/Dockerfile"].content.decode()
        assert f"ARG BASE={own.bases['verifier']['BASE']}\n" in text
        assert ("COPY --from=context /context /reference\n" in text) == own.carries
        assert made.keys() - bundle.keys() == set(roots)
        assert as_judged(made, own) == bundle
        assert provided({PROVIDED: codec.encode(own)}) == own


def test_a_dockerfile_that_carries_starts_from_nothing(toy):
    made = provide(read_bundle(toy.bundle), CARRIED, ROOTS)
    for side in ("environment", "tests"):
        lines = made[f"{side}/Dockerfile"].content.decode().splitlines()
        froms = [line.split()[1] for line in lines if line.startswith("FROM ")]
        assert set(froms) <= {"scratch", "base", "${BASE}", "${COMPILER}"}
        assert froms[0] == "scratch"
        adds = [line.split()[1] for line in lines if line.startswith("ADD ")]
        assert {f"{side}/{name}" for name in adds} == {path for path in ROOTS if path.startswith(side)}
    assert "COPY . /tests" not in made["tests/Dockerfile"].content.decode().splitlines()


def test_a_file_that_nobody_carries_is_none_of_the_bundle(pushed, verified):
    (pushed / "environment" / "base.tar.gz").write_bytes(b"more")
    forge_beside(pushed)
    code, lines = verified(pushed)
    assert (code, lines["label"]["state"]) == (1, "differs")
    assert read_present(pushed).files["environment/base.tar.gz"].content == b"more"
