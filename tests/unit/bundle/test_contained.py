"""A bundle's two images: what they hold, when they are the same; an agent's container is gone before a verifier's."""

from __future__ import annotations

import io
import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from programsmith.blocks import images, sanity, static
from programsmith.bundle.container import contained
from programsmith.bundle.container import tests_digest as digest_of_tests
from programsmith.bundle.grade import read_grade
from programsmith.bundle.images import (
    CONTEXT,
    SHOWN,
    Base,
    Side,
    build_arguments,
    bundle_image,
    context,
    examined,
    find_base,
    require_base,
)
from programsmith.errors import InfraError, PrerequisiteError
from programsmith.payload.verifier.model import FileEntry
from programsmith.records import codec
from programsmith.records.outcome import Word
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes.base import BUBBLEWRAP
from programsmith.sandboxes.docker_container import Plan, create
from programsmith.sandboxes.docker_images import build_image, content_digest, read_layers
from programsmith.sandboxes.docker_used import reap_images
from programsmith.sandboxes.engine import OWNER, engine, find_image, labels
from programsmith.sandboxes.shared import shared_root
from programsmith.sandboxes.tars import write_tar_bytes
from programsmith.toolchains.load import toolchains
from tests.contract.backends import base_image
from tests.unit.bundle.benches import Bench
from tests.unit.bundle.conftest import Toy

pytestmark = pytest.mark.docker
RULE = Rulebook(None).load("containers")
LEFT_OUT = [*RULE["machine"], *RULE["volatile"]]


@pytest.fixture
def base() -> Base:
    base_image("python")
    return require_base(toolchains(Rulebook(None).load("toolchains"))["python"], RULE["suite"])


@pytest.fixture
def alone(toy: Toy) -> Toy:
    """The Python task with images that no other test has: they are removed here while others may run."""
    for side in Side:
        (toy.bundle / CONTEXT[side] / SHOWN[side][1] / "own").write_text(uuid.uuid4().hex)
    return toy


def without_cache(files: list[FileEntry], tag: str, side: Side, base: Base) -> Any:
    """Build from the first step on, whatever was built before."""
    lines = engine().api.build(
        fileobj=io.BytesIO(write_tar_bytes(files, 0)), custom_context=True, tag=tag, nocache=True, rm=True,
        forcerm=True, network_mode="none", buildargs=build_arguments(side, base), labels=labels(), decode=True,
    )  # fmt: skip
    assert not [line for line in lines if "error" in line]
    return engine().images.get(tag)


@pytest.mark.parametrize("side", list(Side))
def test_a_rebuild_has_other_times_and_the_same_content(toy: Toy, base: Base, side: Side) -> None:
    files = context(toy.bundle, side)
    first, second = (without_cache(files, f"programsmith/test:{side}-{n}", side, base) for n in range(2))
    try:
        assert first.id != second.id
        assert content_digest(first, LEFT_OUT) == content_digest(second, LEFT_OUT)
        assert content_digest(first, LEFT_OUT) == content_digest(first, LEFT_OUT)
    finally:
        for image in (first, second):
            engine().images.remove(image.id, force=True)


def test_one_other_byte_mode_or_command_is_another_content(toy: Toy, base: Base) -> None:
    files = context(toy.bundle, Side.AGENT)
    plain = bundle_image(toy.bundle, Side.AGENT, base, more_packages=False)
    digests = {content_digest(engine().images.get(plain), LEFT_OUT)}
    changes: list[Callable[[FileEntry], FileEntry]] = [
        lambda e: FileEntry(e.path, "file", e.mode, e.content + b"#") if e.path == b"app/policy.json" else e,
        lambda e: FileEntry(e.path, "file", 0o600, e.content) if e.path == b"app/policy.json" else e,
        lambda e: (
            FileEntry(e.path, "file", e.mode, e.content.replace(b'CMD ["bash"]', b'CMD ["sh"]'))
            if e.path == b"Dockerfile"
            else e
        ),
        lambda e: (
            FileEntry(e.path, "file", e.mode, e.content + b"RUN touch /home/agent/x\nRUN rm /home/agent/x\n")
            if e.path == b"Dockerfile"
            else e
        ),
    ]
    for number, change in enumerate(changes):
        changed, tag = [change(e) for e in files], f"programsmith/test:change-{number}"
        built = build_image(changed, tag, build_arguments(Side.AGENT, base), "none")
        digests.add(content_digest(built, LEFT_OUT))
        engine().images.remove(str(built.id), force=True)
    assert len(digests) == 1 + len(changes)


def test_an_image_is_built_once_and_again_when_it_is_gone(alone: Toy, base: Base) -> None:
    first = bundle_image(alone.bundle, Side.VERIFIER, base, more_packages=False)
    assert bundle_image(alone.bundle, Side.VERIFIER, base, more_packages=False) == first
    digest = examined(alone.bundle, Side.VERIFIER, first, RULE, "").digest
    engine().images.remove(first, force=True)
    again = bundle_image(alone.bundle, Side.VERIFIER, base, more_packages=False)
    assert examined(alone.bundle, Side.VERIFIER, again, RULE, "").digest == digest


def test_an_image_goes_when_nobody_used_it_for_long_or_needs_it(alone: Toy, base: Base) -> None:
    agent, verifier = (bundle_image(alone.bundle, side, base, more_packages=False) for side in Side)
    for image in (agent, verifier):
        examined(alone.bundle, Side.AGENT if image == agent else Side.VERIFIER, image, RULE, "")
    mark = shared_root() / "images" / verifier.removeprefix("sha256:")
    before = time.time() - 31 * 86400
    os.utime(mark, (before, before))
    reap_images(30, {verifier})
    assert engine().images.get(verifier).id == verifier
    assert reap_images(30) >= 1
    assert find_image(verifier) is None
    assert not mark.exists()
    assert find_image(agent) is not None
    assert find_image(base.tag) is not None
    with pytest.raises(InfraError, match=r"that image was removed; .* programsmith forget"):
        create(Plan(image=verifier, command=["true"], workdir="/", memory_bytes=1 << 26, pids=8))
    assert bundle_image(alone.bundle, Side.VERIFIER, base, more_packages=False)


@pytest.mark.parametrize("side", list(Side))
def test_an_image_that_holds_something_else_is_refused(toy: Toy, base: Base, side: Side) -> None:
    place = "/app" if side is Side.AGENT else "/tests"
    whole = bundle_image(toy.bundle, side, base, more_packages=False)
    lines = f"ARG BASE\nFROM ${{BASE}}\nUSER root\nRUN echo x >{place}/planted\n"
    built = build_image([FileEntry(b"Dockerfile", content=lines.encode())], f"programsmith/test:planted-{side}",
                        {"BASE": whole}, "none")  # fmt: skip
    try:
        with pytest.raises(InfraError, match="not what the bundle holds: b'planted'"):
            examined(toy.bundle, side, str(built.id), RULE, "")
    finally:
        engine().images.remove(str(built.id), force=True)


def test_a_base_that_is_absent_is_not_fetched(toy: Toy) -> None:
    base_image("python")
    target = toolchains(Rulebook(None).load("toolchains"))["python"]
    with pytest.raises(PrerequisiteError, match=r"programsmith\.toolchains\.bases python.*docker pull debian"):
        require_base(target, "no-such-suite")
    assert find_base(target, "no-such-suite") is None
    with pytest.raises(InfraError, match="no image nowhere/none"):
        build_image(context(toy.bundle, Side.AGENT), "programsmith/test:x", {"BASE": "nowhere/none:1"}, "none")
    tags = {tag for image in engine().images.list() for tag in image.tags}
    assert [tag for tag in tags if tag.endswith(":no-such-suite") or tag.startswith("nowhere/")] == []


def contents(image: str) -> Iterator[tuple[str, int, bytes]]:
    """Name, mode and content of what an image holds besides programs and libraries of the distribution."""
    for layer in read_layers(engine().images.get(image)):
        for member, content in layer.entries:
            if member.size < 1 << 22 and not member.name.startswith(("usr/", "lib/")):
                yield member.name, member.mode, content.read() if content else b""


def test_the_agents_image_shows_nothing_of_the_verifier(toy: Toy, base: Base) -> None:
    agent, verifier = (bundle_image(toy.bundle, side, base, more_packages=False) for side in Side)
    sealed = {e.content for e in context(toy.bundle, Side.VERIFIER) if e.path in {b"held_out.sealed", b"verify.pyz"}}
    shown = list(contents(verifier))
    assert {("launcher", 0o700), ("tests", 0o700)} <= {(name, mode & 0o777) for name, mode, _ in shown}
    hidden = sealed | {content for name, _, content in shown if name == "launcher/launch"}
    assert len(hidden) == len(sealed) + 1
    assert not hidden & {content for _, _, content in contents(agent)}
    assert sealed <= {content for _, _, content in shown}


def test_the_launch_server_comes_without_its_compiler(toy: Toy, base: Base) -> None:
    verifier = bundle_image(toy.bundle, Side.VERIFIER, base, more_packages=False)
    programs = {m.name for layer in read_layers(engine().images.get(verifier)) for m, _ in layer.entries}
    assert {"launcher/launch", "usr/bin/python3"} <= programs
    assert not {"usr/bin/cc", "usr/bin/gcc", "sources/launch/launch.c"} & programs


def test_auto_takes_docker_where_a_base_was_made(toy: Toy, base: Base) -> None:
    toy.spec["sandbox"] = "auto"
    assert images._base(toy.job("images"), toolchains(Rulebook(None).load("toolchains"))["python"]) == base
    toy.spec["sandbox"] = BUBBLEWRAP
    assert images._base(toy.job("images"), toolchains(Rulebook(None).load("toolchains"))["python"]) is None


def place_of(toy: Toy, base: Base) -> dict[str, Any]:
    built = bundle_image(toy.bundle, Side.VERIFIER, base, more_packages=False)
    image = examined(toy.bundle, Side.VERIFIER, built, RULE, "")
    return {"kind": "docker", "image": codec.encode(image), "tests": digest_of_tests(toy.bundle),
            "cpus": 2, "memory_mb": 512, "pids": 256}  # fmt: skip


@contextmanager
def heard(base: Base) -> Iterator[list[tuple[str, str, str]]]:
    """What happens to containers of ours inside: action, container, image. All of it is there afterwards."""
    seen: list[tuple[str, str, str]] = []
    last: list[str] = []  # the container whose end is the last event
    stream = engine().events(decode=True, filters={"type": "container", "label": f"{OWNER}={labels()[OWNER]}"})

    def listen() -> None:
        for e in stream:
            seen.append((e["Action"], e["Actor"]["ID"], e["Actor"]["Attributes"]["image"]))
            if e["Action"] == "destroy" and e["Actor"]["ID"] in last:
                return

    thread = threading.Thread(target=listen)
    thread.start()
    try:
        yield seen
    finally:
        end = engine().containers.create(base.id, ["true"], labels=labels(), network_mode="none")
        last.append(str(end.id))
        end.remove()
        thread.join(60)
        seen[:] = [event for event in seen if event[1] not in last]
        stream.close()


def test_an_agents_container_is_gone_before_a_verifiers_is_made(bench: Bench, base: Base) -> None:
    if bench.kind == BUBBLEWRAP:
        pytest.skip("about containers alone")
    with heard(base) as seen:
        left = bench.sh("echo kept >submission/file; (setsid sleep 100 &) ; echo x >/tmp/planted")
        agent = bundle_image(bench.toy.bundle, Side.AGENT, base, more_packages=False)
        alive = [c.id for c in engine().containers.list(all=True, filters={"ancestor": agent})]
        assert alive == []
        submission = bench.folder / "submission"
        submission.mkdir()
        (submission / "file").write_bytes(left.files[b"file"].content)
        words = ("--submission", str(submission))
        contained(bench.toy.bundle, place_of(bench.toy, base), words, bench.folder, None, 60)
        assert read_grade(bench.folder).word == "NO_BUILD"
    first = {image: i for i, (action, _, image) in reversed(list(enumerate(seen))) if action == "create"}
    last = {image: i for i, (action, _, image) in enumerate(seen) if action == "destroy"}
    verifier = place_of(bench.toy, base)["image"]["id"]
    assert last[agent] < first[verifier]
    assert {image for action, _, image in seen if action == "start"} == {agent, verifier}
    assert {c for a, c, _ in seen if a == "create"} == {c for a, c, _ in seen if a == "destroy"}


@pytest.mark.parametrize(
    ("pair", "blocks"),
    [(("c", "c"), (images, sanity)), (("python", "c"), (images, sanity, static))],
    ids=["c", "other"],
)
def test_controls_and_checks_get_what_they_must(
    toys: Callable[[str, str], Toy], tmp_path: Path, pair: tuple[str, str], blocks: tuple[Any, ...]
) -> None:
    """Also where the original is in another language than the task, whose container starts none of its programs."""
    base_image(pair[1])
    toy = toys(*pair).copy(tmp_path / "toy")
    toy.spec["sandbox"] = "docker"
    toy.rules = {"acceptance": {"nulls_max": 0.02}}
    for block in blocks:
        outcome = block.run(toy.job(block.__name__.rpartition(".")[2]))
        assert outcome.word is Word.PASS, outcome.reason


def test_a_tests_folder_that_is_not_the_images_lies_over_it(toy: Toy, base: Base) -> None:
    """The verifier's refusal of a broken plan tells which folder it read: the image's own is whole."""
    place = place_of(toy, base)
    plan = toy.bundle / "tests" / "plan.json"
    plan.write_bytes(json.dumps({"broken": 1}).encode())
    out = toy.folder / "out"
    out.mkdir()
    with pytest.raises(InfraError, match=r"exit code 3.*verify\.pyz"):
        contained(toy.bundle, place, ("--submission", str(out)), out, None, 60)
    assert list(out.iterdir()) == []
