"""What every launcher does with an honest case: it starts what was asked for and tells exactly what happened."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from programsmith.payload.verifier.launcher import Launcher, Mount, Request, Surroundings
from programsmith.payload.verifier.model import FileEntry
from tests.contract import contained
from tests.contract.launches import ENV, PYTHON, case, ended, limits

WANTED = {"work", "work_files", "output", "wall"}


def test_probe_proves_isolation_and_names_what_the_kernel_enforces(launcher: Launcher) -> None:
    assert set(launcher.probe()) >= WANTED


@pytest.mark.parametrize("code", [0, 1, 7, 126, 127, 137, 139, 255])
def test_exit_codes_are_exit_codes(launcher: Launcher, code: int) -> None:
    result = launcher.run(case(f"import os; os._exit({code})"))
    ended(result, code)
    assert result.signal is None


@pytest.mark.parametrize("number", [6, 9, 11, 15])
def test_a_signal_is_no_exit_code(launcher: Launcher, number: int) -> None:
    result = launcher.run(case(f"import os, signal; signal.signal(6, signal.SIG_DFL); os.kill(os.getpid(), {number})"))
    assert (result.fault, result.signal, result.exit_code) == (None, number, None)


def test_arguments_environment_and_streams_are_bytes(launcher: Launcher) -> None:
    code = "import os, sys; print(ascii([os.fsencode(a) for a in sys.argv[1:]]), ascii(dict(os.environb)))"
    words = (b"", b"a b", b"\xff\xfe", b"-n", b"$(id)")
    env = (*ENV, (b"ODD", b"\xff=\n"), (b"EMPTY", b""))
    said = ended(launcher.run(case(code, *words, env=env)))
    argv, environment = said.decode("ascii").strip().split("] {")
    assert argv + "]" == ascii(list(words))
    assert "{" + environment == ascii(dict(env))


def test_stdin_passes_through_whole_and_both_streams_apart(launcher: Launcher) -> None:
    code = (
        "import sys; d = sys.stdin.buffer.read()\n"
        "sys.stdout.buffer.write(d[::-1]); sys.stderr.buffer.write(b'e' + d[:3])"
    )
    data = bytes(range(256)) * 2048
    result = launcher.run(case(code, stdin=data))
    assert ended(result) == data[::-1]
    assert result.stderr == b"e\0\1\2"


def test_the_program_is_called_by_the_name_it_is_given(launcher: Launcher) -> None:
    request = Request(program="/usr/bin/cat", argv=(b"other", b"/proc/self/cmdline"), env=(), limits=limits())
    assert ended(launcher.run(request)) == b"other\0/proc/self/cmdline\0"


def test_nothing_of_the_harness_is_inherited(launcher: Launcher) -> None:
    code = (
        "import os, resource as r\n"
        "print(sorted(os.listdir('/proc/self/fd')), os.getsid(0) == os.getpid(), dict(os.environ))\n"
        "print([r.getrlimit(n) for n in (r.RLIMIT_CORE, r.RLIMIT_NOFILE, r.RLIMIT_STACK)])\n"
        "print(open('/proc/self/oom_score_adj').read().strip(), os.getuid(), os.getgid(), os.getgroups())"
    )
    said = ended(launcher.run(case(code, env=ENV))).decode().splitlines()
    assert (
        said[0] == "['0', '1', '2', '3'] True {'PATH': '/usr/bin:/bin', 'LANG': 'C.UTF-8'}"
    )  # 3 is the open folder itself
    # a core of one byte is none: with a limit of 0, a host that pipes dumps would start its helper all the same
    assert said[1] == "[(1, 1), (256, 256), (8388608, 67108864)]"
    user = contained.FIRST_UID if contained.is_inside() else 1000
    assert said[2] == f"1000 {user} {user} []"


def test_signals_start_at_their_defaults(launcher: Launcher) -> None:
    request = Request(program="/usr/bin/cat", argv=(b"cat", b"/proc/self/status"), env=(), limits=limits())
    facts = dict(line.split(b":\t", 1) for line in ended(launcher.run(request)).splitlines())
    bounding = () if contained.is_inside() else (b"CapBnd",)  # who holds five capabilities cannot narrow that set
    assert {facts[name].strip(b"0") for name in (b"SigIgn", b"SigBlk", b"SigCgt", b"CapPrm", *bounding)} == {b""}
    assert (facts[b"NoNewPrivs"], facts[b"Seccomp"]) == (b"1", b"2")
    assert facts[b"PPid"] == b"1" or contained.is_inside()


@contained.OWN_ROOT
def test_surroundings_are_what_the_request_says(launcher: Launcher) -> None:
    around = Surroundings(hostname="elsewhere", cwd="/somewhere/deep", umask=0o077, one_cpu=True)
    code = "import os; print(os.uname().nodename, os.getcwd(), oct(os.umask(0)), len(os.sched_getaffinity(0)))"
    result = launcher.run(case(code, surroundings=around, files=(FileEntry(b"in", "file", 0o644, b""),)))
    assert ended(result) == b"elsewhere /somewhere/deep 0o77 1\n"
    assert [e.path for e in result.files or ()] == [b"in"]


def test_reversing_files_turns_directory_order_around(launcher: Launcher) -> None:
    files = tuple(FileEntry(b"f%d" % n, "file", 0o644, b"") for n in range(9))
    code = "import os; print(*os.listdir('.'))"
    first = ended(launcher.run(case(code, files=files))).split()
    second = ended(launcher.run(case(code, files=files, surroundings=Surroundings(reverse_files=True)))).split()
    assert first == second[::-1]


def test_failing_to_execute_is_told_by_errno_and_never_as_an_exit_code(launcher: Launcher, tree: Mount) -> None:
    contents = {"bad": b"\x7fELF then nothing", "text": b"no program\n", "gone": b"#!/no/such/interpreter\n"}
    for name, content in contents.items():
        Path(tree.source, name).write_bytes(content)
        Path(tree.source, name).chmod(0o755)
    Path(tree.source, "plain").write_bytes(b"#!/usr/bin/python3\n")
    errors = {}
    for name in (*contents, "plain", "missing"):
        request = Request(program=f"/opt/tree/{name}", argv=(b"x",), env=ENV, limits=limits(), mounts=(tree,))
        result = launcher.run(request)
        assert (result.fault, result.started, result.exit_code, result.signal) == (None, False, None, None)
        errors[name] = result.start_error
    assert errors == {"bad": 8, "text": 8, "gone": 2, "plain": 13, "missing": 2}


def test_launches_side_by_side_do_not_mix(launcher: Launcher) -> None:
    def one(number: int) -> bytes:
        entry = FileEntry(b"n", "file", 0o644, b"%d" % number)
        return ended(
            launcher.run(
                case("import sys; print(open('n').read(), sys.stdin.read())", stdin=b"%d" % number, files=(entry,))
            )
        )

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(one, range(12))) == [b"%d %d\n" % (n, n) for n in range(12)]


def test_cpu_time_counts_children_that_nobody_waited_for(launcher: Launcher) -> None:
    code = (
        "import os, time\nr, w = os.pipe()\nif os.fork() == 0:\n while time.process_time() < 0.4: pass\n os._exit(0)\n"
        "os.close(w); os.read(r, 1)"
    )
    result = launcher.run(case(code))
    assert ended(result) == b""
    assert 0.38 < result.cpu_seconds < 1.5


def test_launching_leaves_no_descriptor_open(launcher: Launcher) -> None:
    launcher.run(case("pass"))
    before = os.listdir("/proc/self/fd")
    for _ in range(3):
        launcher.run(case("pass"))
    assert os.listdir("/proc/self/fd") == before


def test_results_are_plain_values(launcher: Launcher) -> None:
    result = launcher.run(case("pass", collect=False))
    assert result.files is None
    assert json.dumps([result.exit_code, result.cpu_seconds, result.wall_seconds, sorted(result.limits_hit)])
    assert PYTHON in case("pass").program
