"""The wheel as it is installed: with our C programs compiled, on a machine that has no compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from programsmith.sandboxes.prebuilt import COMPILERS, FOLDERS, tag
from tests.samples.reachable import open_up

ROOT = Path(__file__).parents[2]
USES = """
import sys
from pathlib import Path
import programsmith
from programsmith.agents.bridge.programs import NAMES, programs
from programsmith.payload.verifier.model import Limits
from programsmith.sandboxes import open_sandbox
from programsmith.sandboxes.base import Image, SandboxPlan
from programsmith.sandboxes.config import find_init, find_server
from programsmith.sandboxes.pid1 import compiled_init, compiled_server
from programsmith.sandboxes.prebuilt import place
from programsmith.sandboxes.view import list_view

assert Path(programsmith.__file__).is_relative_to(sys.argv[1]), programsmith.__file__
carried = {file.name: file.read_bytes() for file in place().iterdir()}
bridge = programs(Image(id="none")).folder
assert compiled_server().read_bytes() == Path(find_server()).read_bytes() == carried["launch"]
assert (Path(compiled_init()["folder"]) / "init").read_bytes() == carried["init"]
assert all((bridge / name).read_bytes() == carried[name] for name in NAMES)
limits = Limits(
    cpu_seconds=20, wall_seconds=60, memory_bytes=1 << 28, pids=16, output_bytes=1 << 16, work_bytes=1 << 24,
    work_files=9,
)
sandbox = open_sandbox(SandboxPlan(view=list_view(programs=["cat"])))
print(sandbox.run((b"cat",), cwd="/build", limits=limits, stdin=b"ran").stdout.decode())
sandbox.close()
"""


def missing() -> str:
    """What this machine lacks to build a wheel with compiled programs."""
    return "" if any(map(shutil.which, COMPILERS)) else "no C compiler: apt-get install -y gcc libc6-dev"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if missing():
        pytest.skip(missing())
    folder = tmp_path_factory.mktemp("wheel")
    words = ["wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)]
    done = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    (made,) = folder.iterdir()
    return made


def test_it_carries_programs_and_their_sources_and_says_for_which_machine(wheel: Path) -> None:
    machine = os.uname().machine
    assert wheel.name.endswith(f"-py3-none-manylinux_2_17_{machine}.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        for folder, programs in FOLDERS.items():
            for name in programs:
                assert f"programsmith/payload/{folder}/{name}.c" in names
                program = packed.read(f"programsmith/_compiled/{machine}/{name}")
                assert program[:4] == b"\x7fELF"
                assert b"/lib64/ld-linux" not in program, "it needs no loader of a C library"


def test_the_platform_is_one_that_whoever_builds_the_wheel_can_install_it_on() -> None:
    machine = os.uname().machine
    glibc, musl = f"manylinux_2_17_{machine}", f"musllinux_1_1_{machine}"
    assert tag(["linux_x", f"manylinux_2_36_{machine}", glibc]) == glibc
    assert tag([f"musllinux_1_2_{machine}", musl, f"linux_{machine}"]) == musl
    assert tag(["manylinux_2_17_i386", "linux_i386"]) is None


def test_without_a_compiler_it_runs_what_it_carries(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, symlinks=True)
    site = next(home.glob("lib/python3*/site-packages"))
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-compile", "--target", str(site), str(wheel)]
    assert subprocess.run(pip, capture_output=True, timeout=120).returncode == 0
    libraries = next(p for p in sys.path if p.endswith("site-packages"))
    (site / "others.pth").write_text(libraries + "\n")
    tools = tmp_path / "bin"
    tools.mkdir()
    open_up(tmp_path)
    for folder in ("/usr/bin", "/usr/sbin"):
        for tool in sorted(set(os.listdir(folder)) - set(os.listdir(tools))):
            if tool not in COMPILERS:
                (tools / tool).symlink_to(f"{folder}/{tool}")
    words = [str(home / "bin" / "python"), "-I", "-c", USES, str(site)]
    done = subprocess.run(words, env={"PATH": str(tools), "HOME": str(tmp_path)}, capture_output=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, b"ran\n"), done.stderr.decode()
