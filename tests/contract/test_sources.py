"""The C sources: no warning, no undefined behaviour, no access out of bounds, in launches of every shape."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from programsmith.payload.verifier.compiled import CompiledLauncher
from programsmith.payload.verifier.launcher import Mount, View
from programsmith.payload.verifier.model import FileEntry
from programsmith.sandboxes.config import launcher_config
from programsmith.sandboxes.pid1 import sources
from tests.contract.launches import case, ended, limits, proves_nothing

PAYLOAD = sources().parent
STRICT = ("-Wall", "-Wextra", "-Werror", "-O2")
CHECKED = {
    "undefined behaviour": ("-fsanitize=undefined", "-fno-sanitize-recover"),
    "bounds": ("-fsanitize=address", "-fno-omit-frame-pointer"),
}
COMPILER = next(filter(None, map(shutil.which, ("gcc", "clang", "cc"))), None)
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler: apt-get install -y gcc libc6-dev")


def compiled(name: str, flags: tuple[str, ...], target: Path) -> None:
    words = [str(COMPILER), *STRICT, *flags, "-o", str(target), str(PAYLOAD / name / f"{name}.c")]
    done = subprocess.run(words, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("name", ["init", "launch"])
def test_a_program_compiles_without_a_warning(name: str, tmp_path: Path) -> None:
    compiled(name, (), tmp_path / name)


@pytest.mark.parametrize("flags", CHECKED.values(), ids=CHECKED)
def test_the_launch_server_does_nothing_undefined(
    flags: tuple[str, ...], view: View, tree: Mount, open_folder: Path
) -> None:
    server = open_folder / "launch"
    compiled("launch", flags, server)
    server.chmod(0o755)
    launcher = CompiledLauncher({**launcher_config(view, "compiled"), "server": str(server)})
    files = (
        FileEntry(b"d", "dir", 0o500),
        FileEntry(b"d/empty", "file", 0o600, b""),
        FileEntry(b"large", "file", 0o644, bytes(1 << 20)),
        FileEntry(b"l", "link", 0o777, b"large"),
        *(FileEntry(b"%d" % n, "file", 0o644, b"%d" % n) for n in range(100)),
    )
    try:
        result = launcher.run(case("import os; print(len(os.listdir('.')))", files=files, mounts=(tree,)))
        assert ended(result) == b"103\n"
        assert result.files == tuple(sorted(files))
        assert ended(launcher.run(case("print(1)", b"x" * 100_000))) == b"1\n"
        deep = "import os\nfor n in range(400):\n os.mkdir('d'); os.chdir('d')"
        assert launcher.run(case(deep, limits=limits(work_files=900))).files is None
        proves_nothing(launcher.run(case("pass", mounts=(Mount(source=tree.source, target="/usr/lib/x"),))))
        assert "wall" in launcher.run(case("import time; time.sleep(9)", limits=limits(wall_seconds=1))).limits_hit
        assert ended(launcher.run(case("print(2)"))) == b"2\n"
    finally:
        launcher.close()
