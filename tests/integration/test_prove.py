"""A built environment is proven in the other backend, and the verdict says so for as long as the bundle is that one."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from programsmith.compiler import proven
from programsmith.compiler.compile import Compiler
from programsmith.compiler.paths import Project
from programsmith.compiler.proving import different
from programsmith.compiler.slices import Blocks
from programsmith.rulebook.load import Rulebook
from tests.contract.backends import base_image
from tests.samples.engines import empty_engine, registry
from tests.samples.rot_project import ROOT, lay, rule

SPEC = """version: 1
name: rot
source: {path: rot}
task: {target_languages: [c], tool: rot}
goldens: {min_kept: 8, held_out: 8}
horizon: {min_lines: 10}
sandbox: bubblewrap
"""
BUILD = ("build", "spec=rot")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program in Python, built in views of this host to be re-implemented in C."""
    root = tmp_path_factory.mktemp("prove")
    lay(root)
    (root / "specs" / "rot.yaml").write_text(SPEC)
    assert verb(root, *BUILD)[0] == 0
    return root


def verb(root: Path, *words: str, **env: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "programsmith", *words]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=900, env={**os.environ, **env})
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def environments(root: Path) -> list[str]:
    """Where the spec is proven, as its verdict says; the exported task says the same."""
    verdict: dict[str, Any] = json.loads((root / "cache" / "rot" / "verdict.json").read_bytes())
    found = [e["kind"] for e in verdict["environments"]]
    task = tomllib.loads((root / "dist" / "drafts" / "rot" / "task.toml").read_text())["metadata"]["programsmith"]
    assert task["proven_in"] == sorted(found)
    assert task["environments"] == sorted(f"{e['kind']}:{e['fingerprint']}" for e in verdict["environments"])
    return found


@pytest.mark.parametrize("words", [(), ("sandbox=vm",), ("sandbox=docker", "sandbox=docker")])
def test_a_backend_that_there_is_not_is_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "rot.yaml").write_text(SPEC)
    code, out, err = verb(tmp_path, "prove", "spec=rot", *words)
    assert (code, out) == (3, "")
    assert f"wanted sandbox=docker or sandbox=bubblewrap, got {' '.join(words) or 'neither'}" in err


def test_what_is_not_built_is_refused_with_the_command(tmp_path: Path) -> None:
    lay(tmp_path)
    (tmp_path / "specs" / "rot.yaml").write_text(SPEC)
    code, out, err = verb(tmp_path, "prove", "spec=rot", "sandbox=docker")
    assert (code, out) == (3, "")
    assert "rot:ingest would run; run: programsmith build spec=rot" in err


def test_its_own_backend_needs_no_proof_and_an_engine_that_is_not_there_is_named(project: Path) -> None:
    assert verb(project, "prove", "spec=rot", "sandbox=bubblewrap")[:2] == (
        0,
        "rot  proven  bubblewrap, by its build\n",
    )
    nowhere = f"unix://{project}/nobody"
    code, out, err = verb(project, "prove", "spec=rot", "sandbox=docker", DOCKER_HOST=nowhere)
    assert (code, out) == (3, "")
    assert "apt-get install -y docker.io" in err
    assert environments(project) == ["bubblewrap"]
    assert [name for name in ("scratch", "run.json") if (project / "cache" / "rot" / name).exists()] == []


def test_what_is_left_of_a_killed_proof_goes_with_the_next_start(project: Path) -> None:
    cache, place = project / "cache" / "rot", project / "engine"
    with socket.socket(socket.AF_UNIX) as deaf:  # an engine that takes calls and answers none
        deaf.bind(str(place))
        deaf.listen()
        command = [sys.executable, "-m", "programsmith", "prove", "spec=rot", "sandbox=docker"]
        env = {**os.environ, "DOCKER_HOST": f"unix://{place}"}
        with subprocess.Popen(command, cwd=project, env=env, stdout=-1, stderr=-1, text=True) as proving:
            calls, _ = deaf.accept()
            assert (cache / "scratch" / "prove").is_dir()
            status = verb(project, "status", "spec=rot")[1]
            code, _, err = verb(project, "export", "spec=rot", "format=tar")
            proving.send_signal(signal.SIGKILL)
        calls.close()
    place.unlink()
    assert f"a build runs, pid {proving.pid}, at prove" in status
    assert (code, "or a proof or an export of it; wait or end it" in err) == (2, True), err
    assert "a build was killed" in verb(project, "status", "spec=rot")[1]
    assert verb(project, *BUILD)[0] == 0
    assert [name for name in ("scratch", "run.json") if (cache / name).exists()] == []


def test_two_exports_at_once_write_one_whole_tar(project: Path) -> None:
    command = [sys.executable, "-m", "programsmith", "export", "spec=rot", "format=tar"]
    runs = [subprocess.Popen(command, cwd=project, stdout=-1, stderr=-1, text=True) for _ in range(3)]
    said = [run.communicate(timeout=120) for run in runs]
    ends = [run.returncode for run in runs]
    assert 0 in ends
    assert set(ends) <= {0, 2}, said
    tars = {out for (out, _), end in zip(said, ends, strict=True) if end == 0}
    made = project / "dist" / "drafts" / "rot.tar"
    assert tars == {f"rot  tar  {made}  sha256:{hashlib.sha256(made.read_bytes()).hexdigest()}\n"}
    assert {path.name for path in made.parent.iterdir()} == {"rot", "rot.tar"}
    assert verb(project, "verify", str(made))[0] == 0
    made.unlink()


def test_an_export_that_cannot_be_is_refused_in_a_line(project: Path) -> None:
    for words, wanted in {
        (): "wanted format=tar, registry=HOST/NAME or --with-base, got none",
        ("registry=127.0.0.1:5000/tasks", "--with-base"): "give one at a time",
        ("registry=tasks",): "wanted HOST/NAME without a tag",
        ("registry=h.x/a", "registry=h.x/b"): "wanted one registry=, got 2",
        ("format=zip",): "wanted format=tar, got format=zip",
        ("registry=127.0.0.1:5000/tasks",): "run: programsmith prove sandbox=docker spec=rot",
    }.items():
        code, out, err = verb(project, "export", "spec=rot", *words)
        assert (code, out, len(err.splitlines())) == (3, "", 1)
        assert wanted in err
    assert not (project / "cache" / "rot" / "pushed.json").exists()


@pytest.mark.docker
def test_a_proof_is_recorded_and_lasts_as_long_as_the_bundle(project: Path) -> None:
    base_image("c")
    code, out, err = verb(project, "prove", "spec=rot", "sandbox=docker")
    assert code == 0, err
    assert out.startswith("rot  proven  docker ")
    assert environments(project) == ["bubblewrap", "docker"]
    assert "nothing to do" in verb(project, *BUILD)[2]
    spec = project / "specs" / "rot.yaml"
    spec.write_text(f"{SPEC}description: another bundle\n")
    assert verb(project, *BUILD)[0] == 0
    assert environments(project) == ["bubblewrap"]
    spec.write_text(SPEC)
    assert verb(project, *BUILD)[0] == 0
    assert environments(project) == ["bubblewrap", "docker"]


@pytest.mark.docker
def test_images_are_pushed_once_they_are_proven_and_named_by_digest(project: Path, tmp_path: Path) -> None:
    base_image("c")
    with registry(tmp_path / "open") as there:
        place = f"registry={there.host}/tasks"
        if "docker" not in environments(project):
            assert verb(project, "prove", "spec=rot", "sandbox=docker")[0] == 0
        proven_only = tree(project / "dist")
        there.stop()
        code, _, err = verb(project, "export", "spec=rot", place)
        assert (code, tree(project / "dist")) == (2, proven_only)
        assert "connection refused" in err
        there.start()
        code, out, err = verb(project, "export", "spec=rot", place)
        assert code == 0, err
        said = dict(
            re.findall(rf"^rot  registry  (\w+)  ({there.host}/tasks@sha256:[0-9a-f]{{64}})$", out, re.MULTILINE)
        )
        task = tomllib.loads((project / "dist" / "drafts" / "rot" / "task.toml").read_text())
        named = task["environment"]["docker_image"], task["verifier"]["environment"]["docker_image"]
        assert named == (said["agent"], said["verifier"])
        assert verb(project, "verify", "dist/drafts/rot")[0] == 0
        sent, written = there.sent(), tree(project / "dist")
        assert verb(project, "export", "spec=rot", place)[0] == 0
        assert (there.sent(), tree(project / "dist")) == (sent, written)


@pytest.mark.docker
@pytest.mark.soak
def test_a_task_with_its_base_is_built_where_there_is_none(project: Path, tmp_path: Path) -> None:
    """Whatever was pushed of it: what is carried names no registry. Its own solution gets 1 there, and nothing 0."""
    base_image("c")
    code, out, err = verb(project, "export", "spec=rot", "--with-base")
    assert code == 0, err
    assert re.search(
        r"^rot  with-base  \S+/dist/with-base/rot  \d+ bytes, \d+ of them 2 root file systems$", out, re.MULTILINE
    )
    task = project / "dist" / "with-base" / "rot"
    assert "docker_image" not in (task / "task.toml").read_text()
    assert verb(project, "verify", str(task))[0] == 0
    with empty_engine() as host:
        command = [sys.executable, str(ROOT / "tests" / "samples" / "built_elsewhere.py"), str(task), str(tmp_path)]
        env = {**os.environ, "DOCKER_HOST": host}
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, env=env, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "solution 1.0 AC\nnop 0.0 NO_BUILD\n"


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.docker
def test_what_does_not_run_there_is_not_proven(project: Path) -> None:
    """No build may read the C library: in views of the host that rule is not asked."""
    base_image("c")
    views = yaml.safe_load((ROOT / "rules" / "containers.yaml").read_text())["views"]
    rule(project, "containers", views={**views, "build": {**views["build"], "read": []}})
    assert verb(project, *BUILD)[0] == 0
    code, out, err = verb(project, "prove", "spec=rot", "sandbox=docker")
    assert code == 1, err
    log = project / "cache" / "rot" / "logs" / "prove.docker.log"
    assert out == f"rot  unproven  {log}\n"
    assert "docker: images says unbuildable: a program does not build" in err
    assert "a program does not build" in log.read_text()
    assert environments(project) == ["bubblewrap"]


ROW = {"id": "table", "reward": 1.0, "word": "AC", "held_out_passed": 8, "public_passed": 10, "failing": []}


def test_a_control_that_comes_to_something_else_is_named() -> None:
    assert different({"controls": [ROW]}, {"controls": [{**ROW, "seconds": 3}]}) == ""
    odd = different({"controls": [ROW]}, {"controls": [{**ROW, "held_out_passed": 7}]})
    assert odd == "table: held_out_passed is 7, was 8 where it was built"
    assert different({"controls": [ROW]}, {"controls": []}).startswith("table: reward is None, was 1.0")


def test_a_file_of_proofs_that_cannot_be_read_proves_nothing(tmp_path: Path) -> None:
    folder = Project(tmp_path).folder("x")
    folder.root.mkdir(parents=True)
    for text in ("", "[1]", '{"docker": 3}', "\xff"):
        folder.proven.write_text(text, encoding="latin-1")
        assert proven.proofs(folder, lambda: "d") == {}
    proof = {"bundle": "b", "fingerprint": "f", "decided": "d"}
    proven.keep(folder, "docker", proof)
    proven.keep(folder, "bubblewrap", {**proof, "decided": "e"})
    assert proven.proofs(folder, lambda: "d") == {"docker": proof}


def _longer_unused(rules: dict[str, Any]) -> None:
    rules["unused_days"] += 1


def _fewer_calls(rules: dict[str, Any]) -> None:
    rules["allow"] = rules["allow"][:-1]


def _fewer_checks(rules: dict[str, Any]) -> None:
    rules["checks"] = rules["checks"][:-1]


def _same(rules: dict[str, Any]) -> None:
    assert rules


@pytest.mark.parametrize(
    ("name", "edit", "void"),
    [
        ("seccomp", _fewer_calls, True), ("checks", _fewer_checks, True), ("containers", _longer_unused, True),
        ("seccomp", _same, False), ("batches", _same, False),
    ],
)  # fmt: skip
def test_a_proof_is_void_when_what_decided_it_is_another(tmp_path: Path, name: str, edit: Any, void: bool) -> None:
    before = Compiler().decided(Rulebook(tmp_path))
    text: dict[str, Any] = yaml.safe_load((ROOT / "rules" / f"{name}.yaml").read_text())
    edit(text)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / f"{name}.yaml").write_text(yaml.safe_dump(text))
    assert (Compiler().decided(Rulebook(tmp_path)) != before) is void


def test_a_proof_is_void_when_code_that_decided_it_is_another() -> None:
    class Edited(Blocks):
        def digest(self, block: str) -> str:
            return f"{super().digest(block)} and a line" if block == proven.PLACE else super().digest(block)

    book = Rulebook(None)
    assert Compiler(blocks=Edited()).decided(book) != Compiler(blocks=Blocks()).decided(book)
