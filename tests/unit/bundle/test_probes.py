"""Each try of the probe `tries` succeeds where nothing isolates: a try that cannot succeed would prove nothing."""

from __future__ import annotations

import re
import subprocess

import pytest

from programsmith.bundle.controls import program, table_module
from programsmith.payload.table.form import write
from programsmith.payload.verifier.environment import BASE_ENV, SUBMISSION
from programsmith.payload.verifier.model import Case, Expected
from programsmith.payload.verifier.tree import write_tree

TRIES = ("nothing", "reads", "writes", "finds", "others", "privileged", "executes")
CASES = [(Case(argv=(name.encode(),)), Expected(exit_code=3, stdout=name.encode() + b"!\n")) for name in TRIES]


@pytest.fixture(scope="module", params=["python", "c"])
def built(request, tmp_path_factory):
    """A folder with the probe of a language, built, whose places lie in that folder."""
    folder = tmp_path_factory.mktemp(request.param)
    for name in ("tmp", "shm", "tests", "work"):
        (folder / name).mkdir()
    (folder / "tests" / "x").touch()
    write_tree(str(folder / "app"), (*program(request.param, "probes", "tries"), *table_module(request.param)))
    moved = {SUBMISSION: "app", "/tmp": "tmp", "/dev/shm": "shm", "/tests": "tests"}
    former = re.compile(r'(?<=["\s])(' + "|".join(map(re.escape, moved)) + r')(?=["/\s])')
    for path in (folder / "app").iterdir():
        path.write_text(former.sub(lambda m: f"{folder}/{moved[m[1]]}", path.read_text()))
    (folder / "app" / "table.txt").write_bytes(write(CASES, dict(BASE_ENV)))
    (folder / "app" / "tries.txt").write_text("\n".join(TRIES))
    subprocess.run(["sh", "compile.sh"], cwd=folder / "app", check=True)
    return folder


@pytest.mark.parametrize("name", TRIES)
def test_a_try_succeeds_where_nothing_isolates(built, name):
    for left in ("tmp", "shm"):
        (built / left / "left-by-a-case").touch()
    said = subprocess.run(
        [str(built / "app" / "executable"), name], cwd=built / "work", stdin=subprocess.DEVNULL, capture_output=True
    )
    assert (said.returncode, said.stdout) == (3, name.encode() + b"!\n"), said.stderr
