"""Control groups count memory, processes and CPU over all members, in whichever version this host has them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from programsmith.payload.verifier.cgroup import V1, V2, Group, Layout, Pool, open_pool

ROOM, MANY = 64 << 20, 64
TAKES = "held = bytearray(b'x' * ({} << 20))"
JOIN = "import os, sys, time\nfor path in sys.argv[1:]: open(path, 'w').write('0')\n"


@pytest.fixture
def pool() -> Pool:
    found = open_pool()
    if found is None:
        pytest.skip("needs control groups: run as root with a writable /sys/fs/cgroup")
    return found


@pytest.fixture
def group(pool: Pool) -> Iterator[Group]:
    made = pool.group(0)
    yield made
    made.remove()


def started(group: Group, code: str) -> subprocess.Popen[bytes]:
    """A member that runs the code."""
    return subprocess.Popen([sys.executable, "-c", JOIN + code, *group.entrances], stderr=subprocess.PIPE)


def ended(member: subprocess.Popen[bytes]) -> int:
    member.communicate()
    return member.returncode


def test_memory_counts_over_all_members(group: Group) -> None:
    group.begin(ROOM, MANY)
    assert ended(started(group, TAKES.format(20))) == 0
    assert group.hits() == frozenset()
    group.begin(ROOM, MANY)
    halves = "for _ in range(2):\n if not os.fork(): " + TAKES.format(45) + "; time.sleep(20); os._exit(0)\n"
    code = ended(started(group, halves + "try: found = [os.wait()[1], os.wait()[1]]\nexcept OSError: found = [9]\n"
                                         "sys.exit(any(found))"))  # fmt: skip
    assert code in {1, -signal.SIGKILL}
    assert group.hits() == {"memory"}


def test_processes_count_over_all_members(group: Group) -> None:
    group.begin(ROOM, 4)
    code = "for _ in range(8):\n if not os.fork(): time.sleep(20); os._exit(0)"
    member = started(group, code)
    member.wait()
    assert group.hits() == {"pids"}
    group.kill()
    assert b"BlockingIOError" in member.communicate()[1]


def test_cpu_counts_over_members_that_are_gone(group: Group) -> None:
    group.begin(ROOM, MANY)
    burns = "begun = time.process_time()\nwhile time.process_time() < begun + 0.3: pass\n"
    code = f"child = os.fork()\n{burns}if child: os.wait()"
    assert ended(started(group, code)) == 0
    assert group.cpu_seconds() >= 0.55
    group.mark()
    assert group.cpu_seconds() < 0.1


def test_a_group_is_ended_whole_and_leaves_no_folder(pool: Pool) -> None:
    group = pool.group(1)
    member = started(group, "os.fork(); print(1, flush=True); time.sleep(100)")
    folders = {os.path.dirname(path) for path in group.entrances}
    until = time.monotonic() + 60
    while any(len(Path(path).read_text().split()) < 2 for path in group.entrances) and time.monotonic() < until:
        time.sleep(0.01)
    group.remove()
    assert ended(member) == -signal.SIGKILL
    assert not any(os.path.exists(folder) for folder in folders)


def test_what_a_dead_launcher_left_goes(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_tag", f"programsmith-{1 << 30}-abcd")
    folders = [os.path.dirname(path) for path in pool.group(0).entrances]
    pool.reap()
    assert not any(os.path.exists(folder) for folder in folders)


FILES = {
    V1: {"memory.limit_in_bytes": "5", "memory.memsw.limit_in_bytes": "5", "pids.max": "7"},
    V2: {"memory.max": "5", "memory.swap.max": "0", "pids.max": "7"},
}
COUNTERS = {
    V1: {"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill {}\n",
         "cpuacct.usage": "{}000000000\n"},
    V2: {"memory.events": "low 0\nmax 4\noom 1\noom_kill {}\noom_group_kill 0\n",
         "cpu.stat": "usage_usec {}000000\nuser_usec 1\n"},
}  # fmt: skip


@pytest.mark.parametrize("layout", [V1, V2], ids=["version 1", "version 2"])
def test_either_version_has_its_files(layout: Layout, tmp_path: Path) -> None:
    """Plain files of the kernel's form, for the version that this host has not."""

    def count(number: int) -> None:
        for name, text in {**COUNTERS[layout], "pids.events": "max {}\n"}.items():
            (tmp_path / name).write_text(text.format(number))

    count(3)
    group = Group(dict.fromkeys(("memory", "pids", "cpuacct"), str(tmp_path)), layout)
    group.begin(5, 7)
    assert {name: (tmp_path / name).read_text() for name in FILES[layout]} == FILES[layout]
    assert group.hits() == {"memory", "pids"}
    group.begin(5, 7)
    assert (group.hits(), group.cpu_seconds()) == (frozenset(), 0)
    count(5)
    assert (group.hits(), group.cpu_seconds()) == ({"memory", "pids"}, 2)
    assert group.takes_threads is (layout is V1)
