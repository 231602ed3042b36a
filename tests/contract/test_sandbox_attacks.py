"""What a program in a sandbox tries against the host, the engine and its neighbours, in each backend."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import FileEntry
from programsmith.sandboxes import open_sandbox
from programsmith.sandboxes.base import Sandbox, SandboxPlan
from tests.contract.backends import BACKENDS, Backend
from tests.contract.launches import ENV, limits
from tests.samples.reachable import open_up

pytestmark = pytest.mark.attack
ESCAPES = Path(__file__).parents[1] / "samples" / "escapes.py"
SEEN_OUTSIDE = {"loopback", "abstract socket", "netlink", "inotify_init1"}
"""What an ordinary user has on any host: a probe that does not even find these proves nothing."""


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def sandbox(backend: Backend) -> Iterator[Sandbox]:
    opened = open_sandbox(SandboxPlan(view=backend.root(), workspace="/build", env=ENV))
    yield opened
    opened.close()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[tuple[bytes, ...]]:
    """The probe's arguments: two listeners of the host, a file that it has, a process."""
    name, marker = uuid.uuid4().hex, tmp_path / "marker"
    marker.write_text("x")
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as unix:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        unix.bind("\0" + name)
        unix.listen()
        yield str(tcp.getsockname()[1]).encode(), name.encode(), os.fsencode(marker), str(os.getpid()).encode()


def python(sandbox: Sandbox, code: str, *words: bytes, **changes: float) -> Result:
    return sandbox.run((b"python3", b"-I", b"-c", code.encode(), *words), cwd="/build", limits=limits(**changes))


def test_no_way_out_is_open(sandbox: Sandbox, host: tuple[bytes, ...]) -> None:
    sandbox.put([FileEntry(b"escapes.py", content=ESCAPES.read_bytes())], "/build")
    result = sandbox.run((b"python3", b"-I", b"escapes.py", *host), cwd="/build", limits=limits())
    assert (result.exit_code, result.stdout, result.stderr) == (0, b"\n", b"")


def test_the_probe_finds_what_is_open(host: tuple[bytes, ...], tmp_path: Path) -> None:
    place = tmp_path / "probe"
    place.mkdir()
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"] if os.geteuid() == 0 else []
    if user and not shutil.which("setpriv"):
        pytest.skip("setpriv is not installed: apt-get install -y util-linux")
    script = place / "escapes.py"
    script.write_bytes(ESCAPES.read_bytes())
    open_up(place)
    words = [*user, "/usr/bin/python3" if user else sys.executable, "-I", str(script), *map(os.fsdecode, host)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, cwd="/")
    assert done.returncode == 0, done.stderr
    found = set(done.stdout.splitlines())
    assert found >= SEEN_OUTSIDE
    assert any(line.startswith("sees process") for line in found)


def test_a_fork_bomb_stays_inside(sandbox: Sandbox) -> None:
    code = (
        "import os, time\nn = 0\ntry:\n while True:\n  if os.fork() == 0: time.sleep(30); os._exit(0)\n  n += 1\n"
        "except BlockingIOError: print(n < 40)"
    )
    assert python(sandbox, code, pids=16).stdout == b"True\n"
    assert python(sandbox, "print('alive')").stdout == b"alive\n"


def test_memory_is_bounded_over_all_processes(sandbox: Sandbox) -> None:
    code = (
        "import os, time\nfor n in range(4):\n if os.fork() == 0:\n"
        "  x = bytearray(100 << 20); time.sleep(5); os._exit(0)\n"
        "for n in range(4): os.wait()\nprint('whole')"
    )
    result = python(sandbox, code, memory_bytes=200 << 20)
    assert "memory" in result.limits_hit
    assert python(sandbox, "print('alive')").stdout == b"alive\n"


@pytest.mark.parametrize("place", ["/build", "/tmp", "/dev/shm"])
def test_disk_is_bounded(sandbox: Sandbox, place: str) -> None:
    code = (
        "import sys, time\ntry:\n for n in range(200): open(f'{sys.argv[1]}/f{n}', 'wb').write(b'x' * (1 << 20))\n"
        " time.sleep(3)\nexcept OSError: print('full')"
    )
    result = python(sandbox, code, place.encode(), work_bytes=16 << 20)
    assert result.stdout == b"full\n" or "work" in result.limits_hit
    assert result.signal is not None or result.stdout == b"full\n"


def test_a_sparse_file_is_no_room_and_is_not_believed(sandbox: Sandbox) -> None:
    python(sandbox, "import os; os.truncate(os.open('f', os.O_CREAT | os.O_WRONLY), 20 << 20)")
    found = sandbox.take("/build", max_files=10, max_bytes=1000, cut=True)
    assert [(e.path, len(e.content)) for e in found] == [(b"f", 1001)]


def test_a_flood_of_output_ends_the_program(sandbox: Sandbox) -> None:
    begun = time.monotonic()
    result = python(sandbox, "import os\nwhile True: os.write(1, b'y' * 65536)", output_bytes=1 << 20)
    assert (result.limits_hit, len(result.stdout)) == ({"output"}, 1 << 20)
    assert time.monotonic() - begun < 30


def test_a_daemon_that_ignores_signals_ends_with_the_run(sandbox: Sandbox) -> None:
    mark = uuid.uuid4().hex.encode()
    code = (
        "import os, signal, time\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n"
        "  for s in range(1, 32):\n   if s not in (9, 19): signal.signal(s, signal.SIG_IGN)\n"
        "  time.sleep(60)\n os._exit(0)\n"
    )
    assert python(sandbox, code, mark).exit_code == 0
    alive = [p for p in Path("/proc").glob("[0-9]*/cmdline") if p.parent.name != str(os.getpid()) and _holds(p, mark)]
    assert alive == []


def _holds(path: Path, mark: bytes) -> bool:
    try:
        return mark in path.read_bytes()
    except OSError:
        return False


def test_links_of_every_kind_lead_nowhere(sandbox: Sandbox) -> None:
    code = (
        "import os\nopen('a', 'w').write('own'); os.link('a', 'b'); os.symlink('/etc/shadow', 's')\n"
        "os.mkdir('d'); os.symlink('../..', 'd/up'); os.symlink('d', 'e'); os.mkfifo('p')\n"
        "import socket; socket.socket(socket.AF_UNIX).bind('u')"
    )
    assert python(sandbox, code).exit_code == 0
    found = {e.path: (e.kind, e.content) for e in sandbox.take("/build", max_files=100, max_bytes=1 << 20)}
    assert found[b"a"] == found[b"b"] == ("file", b"own")
    assert found[b"s"] == ("link", b"/etc/shadow")
    assert found[b"d/up"] == ("link", b"../..")
    assert found[b"p"][0] == "special"
    assert found.get(b"u", ("special", b""))[0] == "special"


def test_nothing_that_is_seen_names_the_host_or_the_run(sandbox: Sandbox, tmp_path: Path) -> None:
    code = (
        "import os\nfor p in ('mounts', 'cmdline', 'environ', 'cgroup', 'status'):\n"
        " for pid in ('self', '1'):\n  try: print(open(f'/proc/{pid}/{p}', 'rb').read())\n  except OSError: pass\n"
        "print(os.uname())\nfor p in ('hosts', 'hostname', 'resolv.conf', 'machine-id'):\n"
        " print(os.path.exists('/etc/' + p) and open('/etc/' + p).read())"
    )
    said = python(sandbox, code).stdout
    for word in (socket.gethostname(), os.fspath(tmp_path), os.getcwd()):
        assert word.encode() not in said, word
