"""Each try of the probe `tries` succeeds where nothing isolates: a try that cannot succeed would prove nothing."""

from __future__ import annotations

import importlib.util
import mmap
import re
import subprocess

import pytest

from programsmith.bundle.controls import program, table_module
from programsmith.bundle.render import PAYLOAD
from programsmith.checks import build_limits
from programsmith.payload.table.form import write
from programsmith.payload.verifier.environment import BASE_ENV, SUBMISSION
from programsmith.payload.verifier.model import Case, Expected
from programsmith.payload.verifier.tree import write_tree

TRIES = ("nothing", "reads", "writes", "finds", "others", "privileged", "executes", "loads", "makes")
COMPILED = {"makes": "loads"}  # a compiled program is machine code, and need not make any
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
    tries = [COMPILED.get(name, name) if request.param == "c" else name for name in TRIES]
    (folder / "app" / "tries.txt").write_text("\n".join(tries))
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


@pytest.mark.parametrize("how", ["loads", "maps", "holds", "turns"])
def test_each_way_to_make_code_is_open_where_nothing_isolates(how, tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("tries", PAYLOAD / "probes" / "python" / "tries.py")
    tries = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tries)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tries.txt").write_text("makes\n")
    anonymous = (-1, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    given = {"maps": ("tries.txt",), "holds": anonymous}
    assert getattr(tries, how)(*given.get(how, ()))
    assert [p.name for p in tmp_path.iterdir()] == ["tries.txt"]


@pytest.mark.parametrize("way", ["says", "fills", "litters", "waits", "burns", "grows", "forks"])
def test_each_build_that_takes_more_builds_where_nothing_bounds_it(way, tmp_path):
    write_tree(str(tmp_path / "app"), build_limits.submission(way))
    script = (tmp_path / "app" / "compile.sh").read_text()
    assert f"\n  {way})" in script
    done = subprocess.run(["sh", "-c", script.replace(SUBMISSION, str(tmp_path / "app"))], stdout=subprocess.DEVNULL)
    assert done.returncode == 0
    assert (tmp_path / "app" / "executable").stat().st_size
