"""The public runner's launcher: it keeps to the contract as far as a place without namespaces allows."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from programsmith.payload.verifier.landlock import ruleset
from programsmith.payload.verifier.launcher import Request, Result, Surroundings
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.payload.verifier.plain import PlainLauncher

LIMITS = Limits(
    cpu_seconds=5,
    wall_seconds=10,
    memory_bytes=512 << 20,
    pids=16,
    output_bytes=1 << 16,
    work_bytes=1 << 20,
    work_files=100,
)
LANDLOCK = ruleset(()) is not None


@pytest.fixture
def launcher(tmp_path: Path) -> PlainLauncher:
    (tmp_path / "submission").mkdir()
    return PlainLauncher(submission=str(tmp_path / "submission"), executables=("python3",))


def run(launcher: PlainLauncher, source: str, limits: Limits = LIMITS, **more: object) -> Result:
    program = Path(launcher.submission) / "executable"
    program.write_text(f"#!{sys.executable} -IS\n{source}\n")
    program.chmod(0o755)
    free = PlainLauncher(submission=launcher.submission, executables=(*launcher.executables, sys.executable))
    env = ((b"HOME", b"/work"), (b"WHERE", b"/app/submission/x"))
    words = (b"tool", b"\xff")
    return free.run(Request(program="/app/submission/executable", argv=words, env=env, limits=limits, **more))


def test_streams_end_and_files_come_back_as_bytes(launcher: PlainLauncher) -> None:
    source = (
        "import os, sys\ndata = sys.stdin.buffer.read()\nsys.stdout.buffer.write(data + os.fsencode(sys.argv[1]))\n"
        "sys.stderr.write('e')\nos.makedirs('d')\nopen('d/out', 'wb').write(b'\\0')\nos.symlink('d', 'l')\nsys.exit(3)"
    )
    got = run(launcher, source, stdin=b"\0in", files=(FileEntry(b"given", "file", 0o644, b"1"),))
    assert (got.started, got.exit_code, got.signal) == (True, 3, None)
    assert (got.stdout, got.stderr) == (b"\0in\xff", b"e")
    assert [(e.path, e.kind, e.content) for e in got.files or ()] == [
        (b"d", "dir", b""),
        (b"d/out", "file", b"\0"),
        (b"given", "file", b"1"),
        (b"l", "link", b"d"),
    ]


def test_files_move_between_folders_as_where_it_is_graded(launcher: PlainLauncher) -> None:
    got = run(launcher, "import os\nos.mkdir('d'); open('f', 'w').close(); os.rename('f', 'd/f')")
    assert (got.exit_code, [e.path for e in got.files or ()]) == (0, [b"d", b"d/f"])


def test_home_is_the_work_directory_and_paths_of_the_submission_are_translated(launcher: PlainLauncher) -> None:
    got = run(launcher, "import os\nprint(os.environ['HOME'] == os.getcwd(), os.environ['WHERE'])")
    assert got.stdout == f"True {launcher.submission}/x\n".encode()


def test_a_signal_is_told_from_an_exit_code(launcher: PlainLauncher) -> None:
    assert run(launcher, "import os\nos.kill(os.getpid(), 11)").signal == signal.SIGSEGV
    assert run(launcher, "import os\nos._exit(139)").exit_code == 139


def test_what_cannot_be_executed_is_not_started(launcher: PlainLauncher) -> None:
    (Path(launcher.submission) / "bad").write_bytes(b"\x7fELF")
    (Path(launcher.submission) / "bad").chmod(0o755)
    for name in ("bad", "missing"):
        got = launcher.run(Request(program=f"/app/submission/{name}", argv=(b"x",), env=(), limits=LIMITS))
        assert not got.started
        assert got.start_error


def test_time_and_output_are_limited(launcher: PlainLauncher) -> None:
    from dataclasses import replace

    assert run(launcher, "while 1: print('x' * 99)").limits_hit == {"output"}
    assert run(launcher, "import time\ntime.sleep(60)", replace(LIMITS, wall_seconds=0.5)).limits_hit == {"wall"}


def test_what_a_program_leaves_running_does_not_hold_its_pipes_open(launcher: PlainLauncher) -> None:
    began = time.monotonic()
    got = run(launcher, "import os, time\nif os.fork() == 0: time.sleep(60)\nprint('done')")
    assert (got.exit_code, got.stdout, got.limits_hit) == (0, b"done\n", frozenset())
    assert time.monotonic() - began < 8


@pytest.mark.skipif(not LANDLOCK, reason="this kernel has no Landlock: boot one with CONFIG_SECURITY_LANDLOCK")
def test_only_the_submission_and_the_listed_programs_can_be_executed(launcher: PlainLauncher) -> None:
    source = "import subprocess\ntry: print(subprocess.run(['/bin/echo', 'ran']))\nexcept OSError as e: print(e.errno)"
    assert run(launcher, source).stdout == b"13\n"
    free = PlainLauncher(submission=launcher.submission, executables=(sys.executable, "echo"))
    request = Request(program="/app/submission/executable", argv=(b"x",), env=(), limits=LIMITS)
    assert b"ran" in free.run(request).stdout


def test_a_build_runs_where_the_submission_lies_and_may_execute_anything(launcher: PlainLauncher) -> None:
    free = PlainLauncher(submission=launcher.submission, executables=None)
    around = Surroundings(cwd="/app/submission")
    words = (b"sh", b"-c", b"echo hi >made; cat made")
    got = free.run(
        Request(program="/bin/sh", argv=words, env=((b"PATH", b"/usr/bin:/bin"),), limits=LIMITS, surroundings=around)
    )
    assert got.stdout == b"hi\n"
    assert (Path(launcher.submission) / "made").read_bytes() == b"hi\n"
    assert [e.path for e in got.files or ()] == [b"made"]


def test_descriptors_of_the_runner_do_not_reach_the_program(launcher: PlainLauncher) -> None:
    read, write = os.pipe()
    os.set_inheritable(read, True)
    got = run(launcher, "import os\nprint(sorted(os.listdir('/proc/self/fd')))")
    os.close(read)
    os.close(write)
    assert got.stdout == b"['0', '1', '2', '3']\n"  # the last one is the listing itself
