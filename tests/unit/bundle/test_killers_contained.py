"""What tries to end its grader in a container gets 0 and a word of its own, never an abnormal end, and hurts nobody."""

from __future__ import annotations

import dataclasses
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from programsmith.adversaries.cut import Choice, cut
from programsmith.blocks import images
from programsmith.bundle.controls import table
from programsmith.bundle.grade import grade
from programsmith.bundle.sides import read_sides
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.tree import write_tree
from programsmith.sandboxes.base import DOCKER
from programsmith.sandboxes.docker_container import Plan, create, remove_container
from programsmith.sandboxes.engine import engine
from tests.contract.backends import base_image
from tests.samples import kills

pytestmark = pytest.mark.docker
PHASES = ("build", "run")
QUICK = [("build", "signals"), ("run", "signals"), ("run", "memory"), ("build", "descriptors"), ("run", "disk")]
ALL = [(phase, way) for phase in PHASES for way in kills.WAYS]
SOURCE = Path(kills.__file__).read_bytes()
BUILDS = (
    b'cd /app/submission\n{ echo "#!$(command -v python3) -IS"; cat kills.py; } >executable\nchmod 755 executable\n'
)
CASE = {"cpu_floor_seconds": 3, "cpu_factor": 1, "wall_factor": 1, "wall_extra_seconds": 20, "reruns": 1}
BUILD = {"cpu_seconds": 20, "wall_seconds": 60}


@pytest.fixture(scope="module")
def contained(toys, tmp_path_factory):
    """The task in its image, its cases few and its times short; every other limit is what it always is."""
    base_image("python")
    folder = tmp_path_factory.mktemp("killers")
    toy = toys("python", "python").copy(folder / "toy")
    toy.spec["sandbox"] = DOCKER
    images.run(toy.job("images"))
    sides = cut(read_sides(toy.bundle), toy.bundle, Choice(limits=CASE, building=BUILD, whole=False), folder / "cut")
    return toy, folder / "cut", sides.held_out


def graded(contained, folder, files):
    toy, bundle, _ = contained
    write_tree(str(folder), files)
    return grade(bundle, folder, toy.path("r/environments.json"), folder.with_suffix(".out"))


def killer(phase, way):
    """A submission without an answer that does it in its build, or in each case."""
    first, later = (way, "") if phase == "build" else ("", way)
    script = BUILDS + (f"exec python3 kills.py {first}\n".encode() if first else b"")
    said = SOURCE.replace(b"sys.argv[1]", f'"{later or "traces"}"'.encode()) if later else SOURCE
    return FileEntry(b"compile.sh", "file", 0o755, script), FileEntry(b"kills.py", content=said)


@pytest.mark.parametrize("tries", [QUICK, pytest.param(ALL, marks=pytest.mark.soak)], ids=["few", "all"])
def test_who_tries_to_end_the_grader_gets_nothing_and_no_abnormal_end(contained, tmp_path, tries):
    def one(each):
        return graded(contained, tmp_path / "-".join(each), killer(*each))

    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(tries, pool.map(one, tries), strict=True))
    print({"-".join(name): (got.word, got.reason, got.ends) for name, got in found.items()})
    assert {name: (got.reward, got.ends) for name, got in found.items()} == dict.fromkeys(tries, (0.0, ()))
    assert graded(contained, tmp_path / "right", table("python", contained[2])).reward == 1.0


@pytest.fixture
def crowd():
    """A container beside, in which the first users of a verifier have as many processes as a case may have."""
    first, many = 61000, 70
    code = (
        "import os, time\n"
        f"for user in range({first}, {first + 3}):\n"
        f" for _ in range({many}):\n"
        "  if not os.fork():\n"
        "   os.setresuid(user, user, user); time.sleep(300)\n"
        "time.sleep(300)"
    )
    image = str(base_image("python").id)
    name = create(Plan(image=image, command=["python3", "-c", code], workdir="/", memory_bytes=1 << 31, pids=1024))
    engine().api.start(name)
    until = time.monotonic() + 240
    while len(engine().api.top(name)["Processes"]) <= 3 * many:
        assert time.monotonic() < until
        time.sleep(0.1)
    yield
    remove_container(name)


def test_processes_of_another_container_are_not_counted_into_a_cases_limit(contained, crowd, tmp_path):
    """The kernel counts by user over all containers: whoever has the users of another takes its processes from it."""
    forks = b"import sys\nos.fork() or os._exit(0)\nos.wait()\n"
    right = [
        dataclasses.replace(e, content=e.content.replace(b"import sys\n", forks, 1)) if e.path == b"main.py" else e
        for e in table("python", contained[2])
    ]
    got = graded(contained, tmp_path / "right", right)
    assert (got.reward, got.word, got.ends) == (1.0, "AC", ())
