"""What every sandbox does: a workspace that lasts, fresh processes for each run, hostile trees read and removed."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from programsmith.errors import InfraError, InputError
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import FileEntry
from programsmith.sandboxes import open_sandbox
from programsmith.sandboxes.base import Sandbox, SandboxPlan
from tests.contract.backends import BACKENDS, Backend
from tests.contract.launches import ENV, limits

CAPS = {"max_files": 100, "max_bytes": 1 << 20}


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def sandbox(backend: Backend) -> Iterator[Sandbox]:
    opened = open_sandbox(SandboxPlan(view=backend.root(), workspace="/build", env=ENV))
    yield opened
    opened.close()


def python(sandbox: Sandbox, code: str, *words: bytes, cwd: str = "/build", **changes: float) -> Result:
    return sandbox.run((b"python3", b"-I", b"-c", code.encode(), *words), cwd=cwd, limits=limits(**changes))


def test_the_workspace_outlives_a_run_and_other_places_do_not(sandbox: Sandbox) -> None:
    python(sandbox, "for d in ('/build', '/tmp'): open(d + '/kept', 'w').write('x')")
    result = python(sandbox, "import os; print(os.listdir('/build'), os.listdir('/tmp'), os.getcwd())")
    assert result.stdout == b"['kept'] [] /build\n"


def test_put_and_take_are_exact(sandbox: Sandbox) -> None:
    entries = (
        FileEntry(b"a", "dir", 0o755),
        FileEntry(b"a/\xff\n", "file", 0o640, b"\0x"),
        FileEntry(b"a/run", "file", 0o755, b"#!/usr/bin/python3\nprint(1)\n"),
        FileEntry(b"l", "link", 0o777, b"/etc/passwd"),
    )
    sandbox.put(entries, "/build/src")
    assert sandbox.take("/build/src", **CAPS) == tuple(sorted(entries))
    code = "import subprocess; open('new', 'w'); print(subprocess.run(['a/run'], capture_output=True).stdout)"
    assert python(sandbox, code, cwd="/build/src").stdout == b"b'1\\n'\n"
    assert FileEntry(b"new", "file", 0o644, b"") in sandbox.take("/build/src", **CAPS)


def test_put_replaces_and_never_writes_through_a_link(sandbox: Sandbox, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("whole")
    python(
        sandbox,
        "import os, sys; os.symlink(sys.argv[1], 'l'); os.symlink(os.path.dirname(sys.argv[1]), 'd')",
        os.fsencode(victim),
    )
    sandbox.put([FileEntry(b"l", "file", 0o644, b"new")], "/build")
    assert victim.read_text() == "whole"
    with pytest.raises(InfraError, match="d/victim"):
        sandbox.put([FileEntry(b"d/victim", "file", 0o644, b"new")], "/build")
    with pytest.raises(InputError):
        sandbox.put([FileEntry(b"victim", "file", 0o644, b"new")], "/build/d")
    assert victim.read_text() == "whole"


@pytest.mark.parametrize("at", ["/etc", "/build/../etc", "/buildx", "build"])
def test_paths_outside_the_workspace_are_refused(sandbox: Sandbox, at: str) -> None:
    with pytest.raises(InputError, match="workspace"):
        sandbox.take(at, **CAPS)
    with pytest.raises(InputError, match="workspace"):
        sandbox.put([FileEntry(b"f")], at)


def test_take_follows_nothing_and_opens_no_special_file(sandbox: Sandbox) -> None:
    python(sandbox, "import os; os.mkfifo('fifo'); os.symlink('/etc/shadow', 'l'); os.symlink('/etc', 'd')")
    assert [(e.path, e.kind) for e in sandbox.take("/build", **CAPS)] == [
        (b"d", "link"),
        (b"fifo", "special"),
        (b"l", "link"),
    ]
    with pytest.raises(InputError):
        sandbox.take("/build/d", **CAPS)


def test_take_has_caps(sandbox: Sandbox) -> None:
    python(sandbox, "open('big', 'wb').write(bytes(1 << 20)); [open(f'f{n}', 'w') for n in range(20)]")
    with pytest.raises(InputError, match="more than"):
        sandbox.take("/build", max_files=10, max_bytes=1 << 30)
    with pytest.raises(InputError, match="more than"):
        sandbox.take("/build", max_files=100, max_bytes=1000)
    python(sandbox, "import os\nfor n in range(400):\n os.mkdir('d'); os.chdir('d')")
    with pytest.raises(InputError, match="deeper"):
        sandbox.take("/build", max_files=1000, max_bytes=1 << 30)


def test_whatever_a_run_leaves_is_removed(backend: Backend) -> None:
    root = backend.root()  # first of all: it skips where the backend has no engine
    before = backend.traces()
    sandbox = open_sandbox(SandboxPlan(view=root, env=ENV))
    assert backend.traces() > before
    code = (
        "import os\nfor n in range(3000):\n os.mkdir('d'); os.chdir('d')\n"
        "os.chdir('/build'); os.mkdir('shut'); open('shut/f', 'w')\n"
        "os.mkdir(b'\\xff\\n'); os.symlink('/', 'root'); os.mkfifo('fifo'); os.chmod('shut', 0)\nos.chmod('.', 0)"
    )
    assert python(sandbox, code, work_files=4000).exit_code == 0
    sandbox.close()
    assert backend.traces() == before
    sandbox.close()


def test_what_a_run_closed_is_read_and_run_again(sandbox: Sandbox) -> None:
    python(sandbox, "import os\nos.mkdir('d'); open('d/f', 'w').write('x')\nfor p in ('d/f', 'd', '.'): os.chmod(p, 0)")
    found = sandbox.take("/build", **CAPS)
    assert found == (FileEntry(b"d", "dir", 0), FileEntry(b"d/f", "file", 0, b"x"))
    assert python(sandbox, "import os; print(os.listdir('.'))").stdout == b"['d']\n"


def test_what_a_killed_process_left_is_reaped(backend: Backend, sandbox: Sandbox) -> None:
    sandbox.put([FileEntry(b"mine")], "/build")
    is_left = backend.plant()  # whoever opens a sandbox next removes it: another test may, meanwhile
    open_sandbox(SandboxPlan(view=backend.root(), env=ENV)).close()
    assert not is_left()
    assert sandbox.take("/build", **CAPS) == (FileEntry(b"mine"),)


def test_a_run_sees_no_host_and_reaches_no_network(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "marker").write_text("x")
    code = (
        "import os, socket, sys\nprint(os.path.exists(sys.argv[1]), os.access('/root', os.R_OK), os.getuid())\n"
        "print({p for p in os.listdir('/proc') if p.isdigit()} <= {'1', str(os.getpid())})\n"
        "for family, kind in ((16, 3), (40, 1)):\n"
        " try: socket.socket(family, kind); print('open', family)\n except OSError: pass\n"
        "try: socket.socket().connect(('192.0.2.1', 80)); print('reached')\nexcept OSError: pass"
    )
    said = python(sandbox, code, os.fsencode(tmp_path / "marker")).stdout
    assert said == b"False False 1000\nTrue\n"


def test_nothing_of_a_run_outlives_it(sandbox: Sandbox) -> None:
    mark = uuid.uuid4().hex
    python(sandbox, "import os, time\nif os.fork() == 0:\n os.setsid(); time.sleep(60)", mark.encode())
    alive = [
        p
        for p in Path("/proc").glob("[0-9]*/cmdline")
        if p.parent.name != str(os.getpid()) and mark.encode() in _read(p)
    ]
    assert alive == []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_limits_hold_and_are_told(sandbox: Sandbox) -> None:
    assert python(sandbox, "while True: pass", cpu_seconds=1).limits_hit == {"cpu"}
    assert python(sandbox, "import time; time.sleep(60)", wall_seconds=1.5).limits_hit == {"wall"}
    assert python(sandbox, "while True: print('y' * 9999)", output_bytes=10000).limits_hit == {"output"}
    assert (
        "work"
        in python(
            sandbox, "import signal; signal.signal(25, signal.SIG_DFL); open('f', 'wb').truncate(1 << 40)"
        ).limits_hit
    )
    assert "work" in python(sandbox, "[open(f'f{n}', 'w') for n in range(240)]\n", work_files=100).limits_hit


def test_a_program_that_is_missing_is_told_by_errno(sandbox: Sandbox) -> None:
    result = sandbox.run((b"absent",), cwd="/build", limits=limits())
    assert (result.started, result.start_error) == (False, 2)


def test_a_folder_that_is_missing_is_infra(sandbox: Sandbox) -> None:
    with pytest.raises(InfraError, match="current directory"):
        python(sandbox, "pass", cwd="/build/absent")


def test_sandboxes_do_not_share_a_workspace(backend: Backend, sandbox: Sandbox) -> None:
    other = open_sandbox(SandboxPlan(view=backend.root(), env=ENV))
    try:
        python(sandbox, "open('mine', 'w')")
        assert python(other, "import os; print(os.listdir('.'))").stdout == b"[]\n"
    finally:
        other.close()
