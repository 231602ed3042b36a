"""Runs of a real Harbor over an engine that has bases and no registry: its jobs read back, its containers watched."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes.engine import engine
from programsmith.toolchains.bases import COMPILER, agent_tag, base_tag
from tests.contract.backends import base_image

VERSION = "0.26.0"
HERE = Path(__file__).parent
PROGRAM, EXAMPLE = "PROGRAMSMITH_HARBOR", "PROGRAMSMITH_EXAMPLE"
SECONDS = 1800
CONCURRENT = 3  # much of a trial is waiting for the engine
PROJECT, LAST = "com.docker.compose.project", "the-last-event"


def program() -> str:
    """Where Harbor is; skips with what provides it."""
    found = os.environ.get(PROGRAM) or shutil.which("harbor")
    if found is None:
        pytest.skip(
            f"no Harbor here; run: python3.12 -m venv VENV && VENV/bin/pip install harbor=={VERSION}, and give "
            f"VENV/bin/harbor in {PROGRAM}; or, as root: .ci/run"
        )
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True).returncode:
        pytest.skip("Harbor wants docker's compose plugin, version 2; run: apt-get install docker-compose (Debian 13)")
    base_image("python", of=agent_tag)
    return found


def example() -> Path:
    """The example as it was exported; skips with what exports it."""
    place = Path(os.environ.get(EXAMPLE) or Path(__file__).parents[3] / "dist" / "tally")
    if not (place / "task.toml").exists():
        pytest.skip(f"no export of the example in {place}; run: doit build spec=specs/tally.yaml")
    return place


@dataclass(frozen=True, slots=True)
class Ran:
    """One trial as Harbor left it."""

    folder: Path

    @property
    def result(self) -> Mapping[str, Any]:
        value: Mapping[str, Any] = json.loads((self.folder / "result.json").read_bytes())
        return value

    @property
    def rewards(self) -> object:
        """What Harbor takes for the rewards; None where it has none."""
        return (self.result["verifier_result"] or {}).get("rewards")

    @property
    def details(self) -> Mapping[str, Any]:
        value: Mapping[str, Any] = json.loads((self.folder / "verifier" / "details.json").read_bytes())
        return value

    @property
    def artifacts(self) -> Mapping[str, str]:
        """What Harbor says of each artifact."""
        return {r["source"]: r["status"] for r in json.loads((self.folder / "artifacts/manifest.json").read_bytes())}


@dataclass(frozen=True, slots=True)
class Harbor:
    """A Harbor and the folder of its jobs."""

    program: str
    folder: Path

    def say(self, *words: object, **env: str) -> str:
        """What a command prints; fails where it fails."""
        suite = Rulebook(None).load("containers")["suite"]
        bases = {"BASE": agent_tag("python", suite), "COMPILER": base_tag(COMPILER, suite)}
        own = {"PYTHONPATH": str(HERE), "LITELLM_LOCAL_MODEL_COST_MAP": "True", "HOME": str(self.folder)}
        docker = {"DOCKER_CONFIG": os.environ.get("DOCKER_CONFIG") or str(Path.home() / ".docker")}
        done = subprocess.run(
            [self.program, *map(str, words)], env={**os.environ, **bases, **own, **docker, **env}, cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout

    def one(self, name: str, task: Path, agent: str, **env: str) -> Ran:
        """One trial of an agent of Harbor's own."""
        self.say("run", "-p", task, "-a", agent, *self._job(name), "-q", "-y", **env)
        (ran,) = self.trials(name)
        return ran

    def handed_in(
        self, name: str, task: Path, given: Mapping[str, tuple[Path, str]], own: Sequence[str] = ()
    ) -> dict[str, Ran]:
        """A trial for each folder that is handed in, with a script that runs in the agent's container as root.

        And one of each agent of Harbor's own, by its name.
        """
        agents = [
            {"import_path": "handed_in:HandedIn", "kwargs": {"label": label, "submission": str(folder), "script": text}}
            for label, (folder, text) in given.items()
        ] + [{"name": name} for name in own]
        config = self.folder / f"{name}.json"
        config.write_text(json.dumps({"agents": agents, "tasks": [{"path": str(task)}]}))
        self.say("run", "-c", config, *self._job(name), "-q", "-y")
        return labelled(self.trials(name))

    def regraded(self, name: str, job: str, task: Path) -> dict[str, Ran]:
        """The trials of a job, graded again by the verifier of another task of the same name."""
        self.say("job", "regrade", self.folder / "jobs" / job, "-p", task, *self._job(name))
        return labelled(self.trials(name))

    def trials(self, name: str) -> list[Ran]:
        return [Ran(path.parent) for path in sorted((self.folder / "jobs" / name).glob("*/result.json"))]

    def _job(self, name: str) -> Sequence[object]:
        return ("-e", "offline:Offline", "-n", CONCURRENT, "-o", self.folder / "jobs", "--job-name", name)


def labelled(trials: Sequence[Ran]) -> dict[str, Ran]:
    agents = {ran: ran.result["config"]["agent"] for ran in trials}
    return {str(agent["kwargs"].get("label", agent["name"])): ran for ran, agent in agents.items()}


@contextmanager
def watched() -> Iterator[list[tuple[str, str, str]]]:
    """What happens to containers of compose meanwhile: action, its project, its network where it was started."""
    seen: list[tuple[str, str, str]] = []
    client = engine()
    stream = client.events(decode=True, filters={"type": "container", "label": PROJECT})

    def listen() -> None:
        for e in stream:
            action, project, network = e["Action"], e["Actor"]["Attributes"][PROJECT], ""
            if project == LAST:
                return
            if action == "start":
                network = client.api.inspect_container(e["Actor"]["ID"])["HostConfig"]["NetworkMode"]
            if action in {"create", "start", "destroy"}:
                seen.append((action, project, network))

    thread = threading.Thread(target=listen)
    thread.start()
    try:
        yield seen
    finally:
        image = base_image("python").id
        client.containers.create(image, ["true"], labels={PROJECT: LAST}, network_mode="none").remove()
        thread.join(60)
        stream.close()
