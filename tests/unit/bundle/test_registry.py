"""Images in a registry that really runs: resolved by digest, sent once, refused in a line, finished after a break."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from programsmith.bundle.images import Base, Side, arguments_of
from programsmith.bundle.registry import is_there, push_all
from programsmith.errors import InfraError, InputError
from programsmith.sandboxes.base import Image
from programsmith.sandboxes.docker_registry import REPOSITORY, has, probe, push, repository
from programsmith.sandboxes.engine import engine
from tests.contract.backends import base_image
from tests.samples.engines import WORD, registry

SAMPLES = Path(__file__).parents[2] / "samples"
GOOD = ("127.0.0.1:5000/tasks", "registry.example.org/o/tasks", "localhost/x", "localhost:5000/x", "h.x/a-b_c.d")
ODD = (
    "",
    "tasks",
    "a/b",
    "h.x",
    "h.x/A",
    "h.x/a:tag",
    "h.x/a@sha256:" + "0" * 64,
    "https://h.x/a",
    "h.x/a//b",
    "u:p@h.x/a",
)


def test_a_repository_is_a_host_and_a_name_and_no_more() -> None:
    assert [name for name in GOOD if repository(name) != name] == []
    assert [name for name in ODD if REPOSITORY.fullmatch(name)] == []
    for name in (*ODD, f"h.x/{'a' * 300}"):
        with pytest.raises(InputError, match="wanted HOST/NAME without a tag"):
            repository(name)


@pytest.fixture
def tiny() -> Iterator[list[str]]:
    """Ids of small images that are told apart by one file."""
    base_image("python")
    made = []
    for number in range(4):
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w") as tar:
            member = tarfile.TarInfo(f"file-{os.getpid()}-{number}")
            member.size = 4096
            tar.addfile(member, io.BytesIO(os.urandom(4096)))
        name = f"programsmith/test-tiny:{os.getpid()}-{number}"
        repository_, _, tag = name.partition(":")
        engine().api.import_image_from_data(raw.getvalue(), repository=repository_, tag=tag)
        made.append(name)
    yield made
    for name in made:
        engine().images.remove(name, force=True)


def pushed(tiny: list[str], place: str, say=lambda line: None):
    agent, verifier, base, agents_base = tiny
    sides = {Side.AGENT: agent, Side.VERIFIER: verifier}
    images = {side: Image(id=str(engine().images.get(name).id), digest="ab" * 32) for side, name in sides.items()}
    own = Base(tag=base, id="", whole=True, agent=agents_base, compiler=base)
    return push_all("rot", place, "debian:x", arguments_of({}, own), images, say)


@pytest.mark.docker
def test_what_is_pushed_is_named_by_the_digest_that_the_registry_tells_and_sent_once(tiny, tmp_path) -> None:
    with registry(tmp_path / "open") as there:
        place = f"{there.host}/some/tasks"
        given = pushed(tiny, place)
        references = {*given.images.values(), *(name for row in given.bases.values() for name in row.values())}
        assert len(references) == len(tiny)
        assert all(has(name) for name in references)
        assert given.bases["verifier"]["BASE"] == given.bases["verifier"]["COMPILER"] != given.bases["agent"]["BASE"]
        before = there.sent()
        assert is_there(given, place)
        assert not is_there(given, f"{there.host}/other")
        assert there.sent() == before
        assert pushed(tiny, place) == given
        assert {line.partition(" ")[0] for line in there.sent()[len(before) :]} == {"PUT"}  # a manifest's name again
        assert not has(f"{place}@sha256:{'0' * 64}")
    assert [tag for image in engine().images.list() for tag in image.tags if tag.startswith(there.host)] == []


@pytest.mark.docker
def test_a_registry_that_dies_halfway_is_told_and_the_next_push_sends_the_rest(tiny, tmp_path) -> None:
    with registry(tmp_path / "open") as there:
        place, told = f"{there.host}/tasks", []

        def dies(line: str) -> None:
            told.append(line)
            there.stop()

        with pytest.raises(InfraError, match=r"connection refused.* run again to go on") as caught:
            pushed(tiny, place, dies)
        assert len(told) == 1
        assert len(str(caught.value).splitlines()) == 1
        with pytest.raises(InfraError, match="connection refused"):
            probe(place)
        there.start()
        before = len(there.sent())
        given = pushed(tiny, place)
        assert is_there(given, place)
        sent = [line for line in there.sent()[before:] if line.startswith("PATCH")]
        assert len(sent) == 2 * (len(tiny) - 1)  # layer and configuration of all but the one that had arrived


def run(there, image: str, client: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(SAMPLES / "pusher.py"), image, f"{there.host}/tasks", "x"]
    env = {**os.environ, "DOCKER_CONFIG": str(client)}
    return subprocess.run(words, capture_output=True, text=True, timeout=300, env=env, cwd=SAMPLES.parents[1])


@pytest.mark.docker
def test_credentials_are_the_clients_own_and_shown_nowhere(tiny, tmp_path) -> None:
    """A registry that wants a password gets it from the client's configuration; one that refuses is told in a line."""
    with registry(tmp_path / "closed", closed=True) as there:
        (tmp_path / "none").mkdir()
        for client in (tmp_path / "none", there.credentials("another-word")):
            done = run(there, tiny[0], client)
            assert (done.returncode, done.stdout) == (2, "")
            assert len(done.stderr.splitlines()) == 1
            assert "refuses the credentials" in done.stderr
            assert f"run: docker login {there.host}" in done.stderr
            assert "another-word" not in done.stderr
        assert there.sent() == []
        done = run(there, tiny[0], there.credentials(WORD))
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"{there.host}/tasks@sha256:")
        assert WORD not in done.stdout + done.stderr


@pytest.mark.docker
def test_an_image_that_is_not_here_is_not_pushed(tmp_path) -> None:
    base_image("python")
    with registry(tmp_path / "open") as there, pytest.raises(InfraError, match="pushing to"):
        push("programsmith/none:none", f"{there.host}/tasks", "x")
    assert there.sent() == []
