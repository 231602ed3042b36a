"""The five properties, tried out from inside; each try is known to work where nothing isolates."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from programsmith.payload.verifier.launcher import Launcher, Mount, Request
from programsmith.payload.verifier.model import FileEntry
from tests.contract import contained
from tests.contract.launches import ENV, case, ended, limits

CALLS = {  # call and arguments (x86_64 number, arguments): the errno that it must give
    "io_uring_setup": ((425, 1, 0), 38),
    "ptrace": ((101, 0, 0, 0, 0), 1),
    "process_vm_readv": ((310, 1, 0, 0, 0, 0, 0), 1),
    "bpf": ((321, 0, 0, 0), 1),
    "perf_event_open": ((298, 0, 0, 0, 0, 0), 1),
    "userfaultfd": ((323, 0), 1),
    "keyctl": ((250, 0, 0, 0, 0, 0), 38),
    "add_key": ((248, 0, 0, 0, 0, 0), 38),
    "unshare": ((272, 0x10000000), 1),
    "setns": ((308, 0, 0), 1),
    "clone into a user namespace": ((56, 0x10000011, 0, 0, 0, 0), 1),
    "clone3": ((435, 0, 0), 38),
    "mount": ((165, 0, 0, 0, 0, 0), 1),
    "umount2": ((166, 0, 2), 1),
    "open_tree": ((428, -100, 0, 0), 38),
    "fsopen": ((430, 0, 0), 38),
    "statmount": ((457, 0, 0, 0, 0), 38),
    "chroot": ((161, 0), 1),
    "pivot_root": ((155, 0, 0), 1),
    "shmget": ((29, 0, 4096, 0o1600), 38),
    "memfd_create": ((319, 0, 0), 38),
    "mq_open": ((240, 0, 0, 0, 0), 38),
    "inotify_init1": ((294, 0), 38),
    "pidfd_getfd": ((438, 0, 0, 0), 1),
    "open_by_handle_at": ((304, 0, 0, 0), 1),
    "kexec_load": ((246, 0, 0, 0, 0), 1),
    "syslog": ((103, 3, 0, 0), 1),
    "TIOCSTI": ((16, 0, 0x5412, 0), 1),
    "x32 getpid": ((0x40000000 + 39,), 38),
    "socket of vsock": ((41, 40, 1, 0), 97),
    "socket of netlink": ((41, 16, 3, 0), 97),
    "socket of packet": ((41, 17, 3, 0), 97),
    "socket of alg": ((41, 38, 5, 0), 97),
    "family with high bits": ((41, (1 << 32) + 40, 1, 0), 97),
    "socket of unix": ((41, 1, 1, 0), 97),
    "socket of IPv4": ((41, 2, 1, 0), 97),
    "socket of IPv6": ((41, 10, 2, 0), 97),
    "raw socket": ((41, 2, 3, 1), 97),
    "pair of IPv4": ((53, 2, 1, 0, 0), 97),
}
X86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="call numbers of x86_64: run on that machine")


@X86_64
def test_calls_that_reach_past_the_sandbox_are_closed(launcher: Launcher) -> None:
    code = (
        f"import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nfor name, (words, _) in {CALLS!r}.items():\n"
        " ctypes.set_errno(0)\n done = libc.syscall(*map(ctypes.c_long, words))\n"
        " print(name, done, ctypes.get_errno(), sep='|')"
    )
    said = ended(launcher.run(case(code))).decode().splitlines()
    got = {line.split("|")[0]: tuple(map(int, line.split("|")[1:])) for line in said}
    assert got == {name: (-1, error) for name, (_, error) in CALLS.items()}


@X86_64
def test_the_32_bit_gate_kills(launcher: Launcher) -> None:
    code = (
        "import ctypes, mmap\nm = mmap.mmap(-1, 4096, prot=7)\nm.write(bytes.fromhex('b814000000cd80c3'))\n"
        "ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()\nprint('alive')"
    )
    result = launcher.run(case(code))
    assert (result.fault, result.signal, result.stdout) == (None, 31, b"")


def test_no_file_of_others_is_read(launcher: Launcher, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    marker.write_text("secret")
    for place in (*marker.parents[:-1], marker):
        mode = place.stat().st_mode
        if mode & 0o055 != 0o055:  # a folder of everybody's, such as /tmp, keeps its mode
            place.chmod(mode | 0o055)
    places = [
        str(marker),
        "/etc/shadow",
        "/proc/1/environ",
        "/proc/1/cmdline",
        *(f"/proc/{os.getpid()}/{p}" for p in ("cmdline", "maps")),
    ]
    code = (
        "import os\nfor p in {!r}:\n try: open(p, 'rb').read(1); print('read', p)\n except OSError: pass\n"
        "for p in {!r}:\n try: os.listdir(p); print('listed', p)\n except OSError: pass"
    )
    said = ended(launcher.run(case(code.format(places, [str(tmp_path), "/root", f"/proc/{os.getpid()}/fd"]))))
    assert said in {b"", b"read /proc/1/cmdline\n" * (not contained.is_inside())}


@contained.OWN_ROOT
def test_the_host_is_not_there(launcher: Launcher, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    marker.write_text("secret")
    code = (
        f"import os; print(sorted(os.listdir('/')), os.path.exists({str(marker)!r}),"
        " sorted(os.listdir('/etc')), os.listdir('/run/init'))"
    )
    said = ended(launcher.run(case(code))).decode()
    assert marker.read_text() == "secret"
    assert said == (
        "['bin', 'dev', 'etc', 'lib', 'lib64', 'opt', 'proc', 'run', 'tmp', 'usr', 'work'] False "
        "['group', 'hosts', 'passwd'] []\n"
    )


def test_proc_tells_nothing_about_case_host_or_init(launcher: Launcher, tree: Mount) -> None:
    code = (
        "import os\ntry: print(sorted(os.listdir('/proc')))\nexcept OSError: print('closed')\n"
        "for p in ('1/mem', '1/environ', '1/maps', '1/cmdline', 'sys/kernel/random/boot_id', 'cpuinfo', 'kcore'):\n"
        ""
        " try: print(p, open('/proc/' + p, 'rb').read(8))\n except OSError: pass\n"
        "for p in ('mountinfo', 'environ', 'cmdline', 'cgroup'): print(open('/proc/self/' + p).read())"
    )
    name = b"named-after-the-case"
    said = ended(launcher.run(case(code, files=(FileEntry(name, "file", 0o644, b"x"),))))
    first, rest = said.split(b"\n", 1)
    assert first == (b"closed" if contained.is_inside() else b"['2', 'self', 'thread-self']")
    assert b"1/" not in rest.split(b"\n", 1)[0]
    assert name not in said
    assert os.fsencode(tree.source) not in said
    groups = re.findall(rb"^\d+:[^:\n]*:(.*)$", said, re.MULTILINE)  # mounts may name a checkout of that name
    assert groups
    assert not [group for group in groups if b"programsmith-" in group]


def test_only_the_standard_streams_are_open_and_the_status_channel_is_not(launcher: Launcher) -> None:
    code = (
        "import os\nfor fd in range(3, 256):\n"
        " try: os.write(fd, b'X' + bytes(40)); print('wrote', fd)\n except OSError: pass\n"
        "os.write(1, b'Z' + bytes(8)); os.write(2, b'X' + bytes(32)); os._exit(9)"
    )
    result = launcher.run(case(code))
    assert ended(result, 9) == b"Z" + bytes(8)


def test_the_root_is_read_only(launcher: Launcher) -> None:
    code = (
        "import os\n"
        "for p in ('/x', '/usr/bin/x', '/etc/passwd', '/opt/python/x', '/dev/x', '/run/x', '/run/init/x', '/proc/x'):\n"
        ""
        " try: open(p, 'a').close(); print(p)\n except OSError: pass\n"
        "try: os.rename('/usr/bin/cat', '/tmp/cat'); print('moved')\nexcept OSError: pass"
    )
    assert ended(launcher.run(case(code))) == b""


def test_there_is_no_network(launcher: Launcher) -> None:
    name = f"\0programsmith-test-{os.getpid()}"
    with (
        contextlib.closing(socket.create_server(("127.0.0.1", 0))) as server,
        contextlib.closing(socket.socket(socket.AF_UNIX)) as local,
    ):
        local.bind(name)
        local.listen()
        code = (
            "import socket\n"
            f"for f, a in ((2, ('127.0.0.1', {server.getsockname()[1]})), (1, {name!r}), (2, ('192.0.2.1', 80))):\n"
            ""
            " try: s = socket.socket(f); s.settimeout(1); s.connect(a); print('reached', a)\n"
            " except OSError as e: pass\n"
            "try: print(socket.getaddrinfo('example.org', 80))\nexcept OSError: pass\n"
            "print([n for _, n in socket.if_nameindex()])\n"
        ).replace("print([n for _, n in socket.if_nameindex()])\n", "")
        control = subprocess.run(
            [sys.executable, "-I", "-c", code.rsplit("try:", 1)[0]], capture_output=True, timeout=30
        ).stdout
        assert control.count(b"reached") >= 2  # the tries work where nothing isolates
        assert ended(launcher.run(case(code))) == b""


def test_siblings_are_neither_seen_nor_hurt(launcher: Launcher) -> None:
    results = []
    sleeper = threading.Thread(
        target=lambda: results.append(launcher.run(case("import time; time.sleep(2); print('whole')")))
    )
    sleeper.start()
    time.sleep(0.5)
    code = (
        "import os, signal\ntry: print([p for p in os.listdir('/proc') if p.isdigit()])\nexcept OSError: print(['2'])\n"
        "for pid in {1, -1, os.getppid() or 1, *range(3, 3000)} - {os.getpid()}:\n"
        " for s in (19, 9):\n  try: os.kill(pid, s)\n  except OSError: pass\nprint('still here')"
    )
    assert ended(launcher.run(case(code))) == b"['2']\nstill here\n"
    sleeper.join()
    assert ended(results[0]) == b"whole\n"


def test_only_the_list_is_executed(launcher: Launcher, tree: Mount) -> None:
    shutil.copy("/bin/true", Path(tree.source, "own"))
    code = (
        "import ctypes, glob, os, shutil, subprocess\nlibrary = glob.glob('/usr/lib/*/libc.so.6')[0]\n"
        "open('script', 'w').write('#!/usr/bin/python3\\nprint(1)\\n'); os.chmod('script', 0o755)\n"
        "shutil.copy('/usr/bin/cat', 'copy'); shutil.copy(library, '/tmp/l.so')\n"
        "loader = [p for place in ('/usr/lib*', '/usr/lib*/*') for p in glob.glob(place + '/ld-linux*')][0]\n"
        "for words in (['./script'], ['./copy'], [loader, './copy', '/etc/passwd'], [library]):\n"
        " try: print(words, subprocess.run(words, capture_output=True).returncode == 0)\n"
        " except OSError as e: print(words, e.errno)\n"
        "try: ctypes.CDLL('/tmp/l.so'); print('loaded')\nexcept OSError: print('not loaded')\n"
        "for words in (['/opt/tree/own'], ['/usr/bin/cat', '/etc/hosts']):\n"
        " print(subprocess.run(words, capture_output=True).returncode)"
    )
    said = ended(launcher.run(case(code, mounts=(tree,)))).decode().splitlines()
    assert said[:2] == ["['./script'] 13", "['./copy'] 13"]
    assert said[2].endswith("False")
    assert said[3].endswith(" 13")
    assert said[4:] == ["not loaded", "0", "0"]


def test_a_setuid_program_gains_nothing(launcher: Launcher, tree: Mount) -> None:
    own = Path(tree.source, "own")
    shutil.copy(sys.executable if os.geteuid() else "/bin/cat", own)
    own.chmod(0o6755)
    request = Request(
        program="/opt/tree/own", argv=(b"cat", b"/proc/self/status"), env=ENV, limits=limits(), mounts=(tree,)
    )
    if os.geteuid():
        pytest.skip("only root owns a setuid program that would matter: run as root")
    facts = ended(launcher.run(request))
    user = contained.FIRST_UID if contained.is_inside() else 1000
    assert f"Uid:\t{user}\t{user}\t{user}\t{user}".encode() in facts
