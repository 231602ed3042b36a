"""A build whose gradings end abnormally says so as infra, with a class; mended, the next one goes on and buys nothing.

In a view of the host the verifier ends itself for as long as a file says so. In containers it is the real engine that
is killed, has no room or no memory, just as the first container of a verifier runs; but for the first, on request.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from programsmith.toolchains.bases import agent_tag, base_tag
from tests.contract.backends import base_image
from tests.integration.own_engine import ROOM, OwnEngine, own_engine
from tests.samples.otherwise import EDITS
from tests.samples.rot_project import ROOT, lay, lay_solvers, rule

pytestmark = pytest.mark.filterwarnings(  # the engine's client leaves sockets to the collector where an engine dies
    "ignore::pytest.PytestUnraisableExceptionWarning"
)
TRIALS = 6
SPEC = f"""version: 1
name: rot
source: {{path: rot}}
task: {{target_languages: [python], tool: rot}}
goldens: {{min_kept: 8, held_out: 8}}
horizon: {{min_lines: 10}}
budget: {{agent_wall: 1m}}
rollouts: [{{agent: scripted, script: solvers/solver.py, trials: {TRIALS}}}]
difficulty: [{{basis: rollouts, pass_rate: {{min: 0.1, max: 0.9}}, confidence: 0.75, trials_max: {TRIALS}}}]
probe: {{adversaries: [stale_executable, reward_from_run]}}
revisions: {{max: 0}}
sandbox: SANDBOX
"""


class Project:
    """One spec; `build` gives the exit code, and keeps which tasks answered and which were infra."""

    def __init__(self, root: Path, sandbox: str, **env: str) -> None:
        self.root, self.env = root, {**os.environ, **env}
        lay(root)
        lay_solvers(root)
        rule(root, "adversaries", wanted={"adversaries": 2, "defences": 2})
        rule(root, "retries", attempts=1)
        (root / "specs" / "rot.yaml").write_text(SPEC.replace("SANDBOX", sandbox))
        self.answered: set[str] = set()
        self.infra: dict[str, str] = {}

    def build(self, **env: str) -> int:
        words = [sys.executable, "-m", "doit", "build", "spec=rot", "-n", "2"]
        done = subprocess.run(
            words, cwd=self.root, env={**self.env, **env}, capture_output=True, text=True, timeout=1800
        )
        self.said = done.stderr
        lines = [line.split(None, 3) for line in done.stderr.splitlines() if line.startswith("rot ")]
        self.infra = {words[1]: words[3] for words in lines if words[2:3] == ["infra"]}
        self.answered = {words[1] for words in lines} - set(self.infra)
        return done.returncode

    def anew(self) -> None:
        """Want every trial again, with other bytes: what was graded is graded no more."""
        path = self.root / "solvers" / "solver.py"
        path.write_text(path.read_text().replace("attempt", "further attempt"))

    def trials(self) -> set[str]:
        """Those that were just bought."""
        return {name for name in self.answered if ":trial:" in name}

    def grades(self) -> list[dict[str, Any]]:
        places = sorted((self.root / "cache" / "rot" / "r0" / "trials" / "scripted-solver").iterdir())
        return [json.loads((place / "grade.json").read_bytes())["evidence"] for place in places]

    def goes_on(self, bought: set[str]) -> None:
        """The next build ends as if nothing had been, and buys what was not bought yet."""
        assert self.build() == 0, self.said
        assert not self.trials() & bought
        assert len(self.trials() | bought) == TRIALS
        assert [grade["reward"] for grade in self.grades()] == [1, 1, 1, 0, 0, 0]


ENDS = {
    "engine_killed": "import signal; os.kill(os.getpid(), signal.SIGKILL)",
    "oom_ours": "bytearray(1 << 60)",
    "disk_full": "open('FULL/more', 'wb').write(bytes(1 << 20))",
}


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Built by a program whose verifier does what the file `spoilt` says, where there is one."""
    root = tmp_path_factory.mktemp("ends")
    for name in ("programsmith", "rules"):
        shutil.copytree(ROOT / name, root / "other" / name, ignore=shutil.ignore_patterns("*.pyc"))
    graded = EDITS["a_verifier_that_ends"]
    spoilt = graded.new.replace(
        "PLACE", bytes(root / "spoilt").hex()
    )  # a bundle with a path of its host would not pass
    dataclasses.replace(graded, new=spoilt).apply(root / "other")
    project = Project(root, "bubblewrap", PYTHONPATH=str(root / "other"))
    assert project.build() == 0, project.said
    return project


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A file system without room for a megabyte."""
    at = tmp_path / "full"
    at.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(at)], capture_output=True).returncode:
        pytest.skip("needs the right to mount: run as root")
    yield at
    subprocess.run(["umount", str(at)], check=True)


def test_with_a_verifier_that_ends_itself(embedded: Project, full: Path) -> None:
    embedded.anew()
    spoilt, bought = embedded.root / "spoilt", set()
    for fault, line in ENDS.items():
        spoilt.write_text(line.replace("FULL", str(full)))
        assert embedded.build() == 2, embedded.said
        bought |= embedded.trials()
        assert embedded.infra
        assert all(":grade:" in name for name in embedded.infra)
        assert all(said.startswith(f"{fault}: ") for said in embedded.infra.values()), embedded.infra
    spoilt.unlink()
    assert len(bought) == TRIALS
    assert not embedded.trials()
    embedded.goes_on(bought)


@pytest.fixture(scope="module")
def engine() -> Iterator[OwnEngine]:
    """An engine of our own with the bases."""
    images = [base_image(language, of=tag) for language in ("python", "c") for tag in (base_tag, agent_tag)]
    if os.geteuid() != 0 or not shutil.which("dockerd", path="/usr/sbin:/sbin:/usr/bin:/usr/local/bin"):
        pytest.skip("starts an engine of its own: as root, apt-get install -y docker.io")
    with own_engine(Path(tempfile.mkdtemp(prefix="programsmith.")), images) as found:
        yield found


@pytest.fixture(scope="module")
def contained(engine: OwnEngine, tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("ends"), "docker", DOCKER_HOST=engine.host)
    assert project.build() == 0, project.said
    return project


def verifier(project: Project) -> str:
    """The image in which submissions are graded."""
    place = json.loads((project.root / "cache" / "rot" / "r0" / "environments.json").read_bytes())
    return str(place["image"]["id"])


Broken = Callable[[OwnEngine, str], None]
MENDED: dict[str, tuple[str, Broken, Callable[[OwnEngine], None]]] = {
    "killed": ("engine_killed", lambda engine, _: engine.kill(), lambda engine: engine.start()),
    "no room": ("disk_full", lambda engine, _: engine.room("full"), lambda engine: engine.room(ROOM)),
    "no memory": ("oom_ours", lambda engine, _: engine.memory(LEAST), lambda engine: engine.memory(-1)),
}
LEAST = 16 << 20  # bytes in which no verifier runs


@pytest.mark.docker
@pytest.mark.parametrize(
    "how", [how if how == "killed" else pytest.param(how, marks=pytest.mark.soak) for how in MENDED]
)
def test_with_an_engine_that(how: str, engine: OwnEngine, contained: Project) -> None:
    fault, breaks, mends = MENDED[how]
    contained.anew()
    with engine.at_first(verifier(contained), lambda container: breaks(engine, container)):
        assert contained.build() == 2, contained.said
    assert [said for said in contained.infra.values() if said.startswith(f"{fault}: ")], contained.infra
    bought = contained.trials()
    mends(engine)
    contained.goes_on(bought)


@pytest.mark.docker
@pytest.mark.soak
def test_a_container_whose_shim_is_killed_is_graded_again(engine: OwnEngine, contained: Project) -> None:
    contained.anew()
    with engine.at_first(verifier(contained), engine.kill_shim):
        assert contained.build() == 0, contained.said
    ends = [end for grade in contained.grades() for end in grade["ends"]]
    assert len(ends) == 1
    assert ends[0].startswith("engine_killed: ")
    assert [grade["reward"] for grade in contained.grades()] == [1, 1, 1, 0, 0, 0]
