"""Limits hold over all processes of a case, and passing one is told by name and is never a fault of ours."""

from __future__ import annotations

import mmap
import os
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from programsmith.payload.verifier.launcher import Launcher
from tests.contract.launches import case, ended, limits, undisturbed

BURN = "while True: pass"


def needs(launcher: Launcher, limit: str) -> None:
    """Skip where this user cannot have the kernel count."""
    if limit not in launcher.probe():
        pytest.skip(f"the kernel does not enforce {limit} here: run as root, or delegate a control group")


def running(mark: str) -> list[str]:
    """Host processes whose command line holds `mark`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "cmdline").read_bytes():
                found.append(folder.name)
        except OSError:
            continue
    return [pid for pid in found if pid != str(os.getpid())]


def test_cpu_is_summed_over_children(launcher: Launcher) -> None:
    code = f"import os\nfor _ in range(7): os.fork() or exec({BURN!r})\n{BURN}"
    result = launcher.run(case(code, limits=limits(cpu_seconds=1)))
    assert result.fault is None
    assert "cpu" in result.limits_hit
    assert result.cpu_seconds < 4


def test_cpu_of_children_that_are_never_reaped_counts(launcher: Launcher) -> None:
    code = (
        "import os, signal, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "for _ in range(20):\n if os.fork() == 0:\n  while time.process_time() < 0.3: pass\n"
        "  os._exit(0)\n try: os.wait()\n except OSError: pass"
    )
    result = launcher.run(case(code, limits=limits(cpu_seconds=1)))
    assert "cpu" in result.limits_hit


MUCH = "open('f', 'wb').write(bytes(300_000))"  # more than a pipe takes
LONG = (
    "import os\nfor n in range(110): os.mkdir('d' * 250); os.chdir('d' * 250)\n"
    "for n in range(150): open(f'{n:03}' + 'f' * 240, 'w')"
)


@pytest.mark.parametrize(
    ("code", "limit"),
    [(f"{MUCH}\nimport time; time.sleep(60)", "wall"), (f"{MUCH}\nprint('x' * 3_000_000)", "output"), (LONG, "work")],
    ids=["wall", "output", "work"],
)
def test_what_a_launch_left_is_no_fault_where_a_limit_ended_it(launcher: Launcher, code: str, limit: str) -> None:
    result = launcher.run(case(code, limits=limits(wall_seconds=2, work_bytes=1 << 20)))
    assert (result.fault, result.started) == (None, True)
    assert limit in result.limits_hit


WAITS = (
    "import time; time.sleep(60)",
    "import os; os.kill(os.getpid(), 19)",
    "import signal; signal.pause()",
    "import os, time\nfor fd in (0, 1, 2): os.close(fd)\ntime.sleep(60)",
)


@pytest.mark.parametrize("code", WAITS)
def test_waiting_ends_at_the_wall(launcher: Launcher, code: str) -> None:
    begun = time.monotonic()
    result = launcher.run(case(code, limits=limits(wall_seconds=1.5)))
    assert (result.fault, result.limits_hit, result.exit_code) == (None, {"wall"}, None)
    assert time.monotonic() - begun < 8


@pytest.mark.parametrize("stream", [1, 2])
def test_a_flood_is_cut_at_the_cap(launcher: Launcher, stream: int) -> None:
    result = launcher.run(
        case(f"import os\nwhile True: os.write({stream}, b'y' * 65536)", limits=limits(output_bytes=100000))
    )
    assert (result.fault, result.limits_hit) == (None, {"output"})
    assert len(result.stdout) + len(result.stderr) == 100000


def test_right_output_then_a_flood_is_told(launcher: Launcher) -> None:
    code = "import os\nos.write(1, b'right')\nwhile True: os.write(1, b'y' * 65536)"
    result = launcher.run(case(code, limits=limits(output_bytes=5)))
    assert result.stdout == b"right"
    assert "output" in result.limits_hit


def test_a_program_that_reads_nothing_ends_by_itself(launcher: Launcher) -> None:
    assert ended(launcher.run(case("import os; os.close(0); print(1)", stdin=bytes(4 << 20)))) == b"1\n"
    assert ended(launcher.run(case("print(2)", stdin=bytes(4 << 20)))) == b"2\n"


def test_survivors_are_dead_and_hold_nothing_open(launcher: Launcher) -> None:
    mark = uuid.uuid4().hex
    code = (
        "import os, sys, time\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0: time.sleep(60)\n"
        " os._exit(0)\nprint('done')"
    )
    begun = time.monotonic()
    assert ended(launcher.run(case(code, mark.encode()))) == b"done\n"
    assert time.monotonic() - begun < 10
    assert running(mark) == []


def test_everything_dies_at_the_wall(launcher: Launcher) -> None:
    mark = uuid.uuid4().hex
    code = "import os, time\nfor _ in range(4): os.fork() or os.setsid()\ntime.sleep(60)"
    result = launcher.run(case(code, mark.encode(), limits=limits(wall_seconds=1.5, pids=40)))
    assert "wall" in result.limits_hit
    assert running(mark) == []


FORKS = (
    "import os, time\nn = 0\ntry:\n while n < 200:\n"
    "  if os.fork() == 0: time.sleep(20); os._exit(0)\n  n += 1\nexcept OSError: pass\nprint(n)"
)
THREADS = (
    "import threading, time\nn = 0\ntry:\n while n < 200:\n"
    "  threading.Thread(target=time.sleep, args=(20,), daemon=True).start(); n += 1\n"
    "except RuntimeError: pass\nprint(n, flush=True)\nimport os; os._exit(0)"
)


@pytest.mark.parametrize("code", [FORKS, THREADS], ids=["forks", "threads"])
def test_processes_and_threads_are_limited(launcher: Launcher, code: str) -> None:
    result = launcher.run(case(code, limits=limits(pids=16, memory_bytes=1 << 30)))
    assert result.fault is None
    assert result.exit_code == 0
    assert 10 <= int(result.stdout) <= 16


def test_a_fork_storm_cannot_outrun_the_end(launcher: Launcher) -> None:
    code = "import os\nwhile True:\n try: os.fork()\n except OSError: pass"
    result = launcher.run(case(code, limits=limits(cpu_seconds=1, wall_seconds=10)))
    assert result.fault is None
    assert result.limits_hit & {"cpu", "wall"}


ONE_HOG = "b = [bytearray(30 << 20) for _ in range(20)]"
SIX_HOGS = (
    "import os, time\nfor _ in range(6):\n if os.fork() == 0:\n"
    "  b = bytearray(b'x' * (60 << 20)); time.sleep(5); os._exit(0)\n"
    "for _ in range(6): os.wait()"
)


SIX_MAPPINGS = (
    "import mmap, os, time\nfor _ in range(6):\n if os.fork() == 0:\n"
    "  m = mmap.mmap(-1, 60 << 20); m.write(b'x' * (60 << 20)); time.sleep(5); os._exit(0)\n"
    "for _ in range(6): os.wait()"
)
CLOSED = "import ctypes; ctypes.CDLL(None).prctl(4, 0)\n"  # shuts what others may ask about a process
NAMED = "import ctypes; ctypes.CDLL(None).prctl(15, b'VmRSS: 0')\n"  # called like a line that tells of its memory
SHARED = (
    "import ctypes, mmap\nheld, piece = [], b'x' * (20 << 20)\n"
    "for _ in range(60):\n m = mmap.mmap(-1, 20 << 20); m.write(piece); held.append(m)\n"
)
DROPPED = SHARED + " m.madvise(mmap.MADV_DONTNEED)"
UNMAPPED = SHARED + (
    " start = ctypes.addressof(ctypes.c_char.from_buffer(m)) + 4096\n"
    " assert ctypes.CDLL(None).munmap(ctypes.c_void_p(start), ctypes.c_size_t((20 << 20) - 4096)) == 0"
)
TABLES = (
    "import mmap\nm = mmap.mmap(-1, 600 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)\n"
    "for at in range(0, len(m), 2 << 20): m[at]"
)
HOGS = {
    "one process": ONE_HOG,
    "six children": SIX_HOGS,
    "shared": SIX_MAPPINGS,
    "closed": CLOSED + SIX_MAPPINGS,
    "named": NAMED + SIX_HOGS,
    "dropped": DROPPED,
    "dropped and closed": CLOSED + DROPPED,
    "unmapped": UNMAPPED,
    "page tables": TABLES,
}


def test_what_processes_share_counts_once(launcher: Launcher) -> None:
    code = (
        "import mmap, os, time\nm = mmap.mmap(-1, 60 << 20); m.write(b'x' * (60 << 20))\n"
        "for _ in range(6):\n if os.fork() == 0:\n"
        "  [m[n] for n in range(0, 60 << 20, 4096)]; time.sleep(0.6); os._exit(0)\n"
        "for _ in range(6): assert os.wait()[1] == 0"
    )
    ended(undisturbed(launcher, case(code, limits=limits(memory_bytes=200 << 20, work_bytes=512 << 20))))


@pytest.mark.parametrize("code", HOGS.values(), ids=HOGS)
def test_memory_is_limited_over_all_processes(launcher: Launcher, code: str) -> None:
    result = undisturbed(launcher, case(code, limits=limits(memory_bytes=100 << 20)))
    assert result.fault is None
    assert "memory" in result.limits_hit or b"MemoryError" in result.stderr


def test_shared_memory_that_is_dropped_and_used_again_counts_once(launcher: Launcher) -> None:
    code = (
        "import mmap\nm = mmap.mmap(-1, 40 << 20)\n"
        "for _ in range(8): m.seek(0); m.write(b'x' * (40 << 20)); m.madvise(mmap.MADV_DONTNEED)"
    )
    ended(undisturbed(launcher, case(code, limits=limits(memory_bytes=100 << 20))))


@pytest.mark.parametrize("holds", ["", "m = mmap.mmap(-1, 4096)"], ids=["nothing", "a page"])
def test_shared_memory_of_others_counts_for_nobody(launcher: Launcher, holds: str) -> None:
    """Where it may be the launch's, it is run again: the launch ends, and that proves nothing."""
    watched = "memory" not in launcher.probe()
    code = f"import mmap, time\n{holds}\nprint(1, flush=True); time.sleep(0.6)"
    request = case(code, limits=limits(memory_bytes=60 << 20))
    with mmap.mmap(-1, 160 << 20) as others, ThreadPoolExecutor(1) as beside:
        launched = beside.submit(launcher.run, request)
        time.sleep(0.2)
        others.write(bytes(160 << 20))
        result = launched.result()
    if holds and watched and result.fault:
        assert "memory that others share" in result.fault
        result = launcher.run(request)
    ended(result)


def test_memory_outside_any_process_is_counted(launcher: Launcher) -> None:
    needs(launcher, "memory")
    code = (
        "import os\nf = [open(f'm{n}', 'wb') for n in range(20)]\n"
        "for d in f: d.write(bytes(20 << 20)); d.flush()\nprint('held')"
    )
    result = launcher.run(case(code, limits=limits(memory_bytes=100 << 20, work_bytes=1 << 30)))
    assert (result.fault, result.stdout) == (None, b"")
    assert "memory" in result.limits_hit


def test_the_work_directory_has_a_size_over_all_files(launcher: Launcher) -> None:
    code = "import itertools\nfor n in itertools.count():\n with open(f'f{n}', 'wb') as f: f.write(bytes(8 << 20))"
    result = launcher.run(case(code))
    assert (result.fault, result.exit_code) == (None, 1)
    assert b"No space left" in result.stderr
    assert "work" in result.limits_hit


@pytest.mark.parametrize("folder", ["/work", "/tmp", "/dev/shm"])
def test_entries_are_limited_everywhere(launcher: Launcher, folder: str) -> None:
    code = f"import itertools, os\nos.chdir({folder!r})\nfor n in itertools.count(): open(f'f{{n}}', 'w').close()"
    result = launcher.run(case(code))
    assert (result.fault, result.exit_code) == (None, 1)
    assert "work" in result.limits_hit


def test_one_giant_file_is_stopped(launcher: Launcher) -> None:
    code = "import signal\nsignal.signal(25, signal.SIG_DFL)\nopen('f', 'wb').truncate(1 << 40)"
    result = launcher.run(case(code))
    assert (result.fault, result.signal) == (None, 25)
    assert "work" in result.limits_hit


def test_stack_recursion_is_a_signal(launcher: Launcher) -> None:
    code = (
        "import ctypes, sys\nsys.setrecursionlimit(10**7)\n"
        "call = ctypes.CFUNCTYPE(None)(lambda: call())\ncall()"  # each call lies on the stack of the machine
    )
    result = launcher.run(case(code))
    assert (result.fault, result.signal, result.limits_hit) == (None, 11, frozenset())
