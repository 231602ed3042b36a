"""An agent that tries how commands behave from where it is; prints one JSON object. Runs inside, as the agent.

Each of its checks says what it saw; the test knows what a plain host would show.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import pty
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOME = Path("/home/agent")
ALL = bytes(range(256)) * 4096
SECONDS = 120.0


def run(*words: str | bytes, **how: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(words, capture_output=True, timeout=SECONDS, **how)


def wait_for(path: Path) -> bytes:
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        if path.exists() and (content := path.read_bytes()).endswith(b"\n"):
            return content
        time.sleep(0.01)
    return b"never"


def exit_codes() -> list[int]:
    return [run("sh", "-c", f"exit {code}").returncode for code in (0, 1, 37, 126, 127, 255)]


def signal_deaths() -> list[int]:
    return [run("sh", "-c", f"kill -{name} $$").returncode for name in ("KILL", "TERM", "SEGV", "USR1")]


def stdin() -> str:
    return hashlib.sha256(run("cat", input=ALL).stdout).hexdigest()


def end_of_stdin() -> list[bool]:
    return [run("cat", stdin=subprocess.DEVNULL).stdout == b"", run("cat", input=b"").stdout == b""]


def file_as_stdin() -> list[str]:
    """A file that is read in turn: by the agent, by a command, by the agent."""
    (HOME / "lines").write_bytes(b"one\ntwo\nthree\n")
    with open(HOME / "lines", "rb", buffering=0) as lines:
        first = lines.read(4)
        second = run("python3", "-c", "import os; print(os.read(0, 4))", stdin=lines).stdout
        return [repr(first), second.decode().strip(), repr(lines.read())]


def directory() -> list[str]:
    inner = HOME / "a b" / "ü"
    inner.mkdir(parents=True)
    gone = HOME / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    lost = run("pwd")
    os.chdir(HOME)
    return [
        run("pwd", cwd=inner).stdout.decode(),
        str(lost.returncode),
        run("pwd", cwd="/home/harness").stderr.decode(),
    ]


def mask() -> list[str]:
    before = os.umask(0o037)
    said = run("sh", "-c", "umask; : >made").stdout.decode().strip()
    os.umask(before)
    return [said, oct((HOME / "made").stat().st_mode & 0o777)]


def large_output() -> list[str]:
    done = run("python3", "-c", "import sys\nfor n in range(512): sys.stdout.buffer.write(bytes(range(256)) * 256)")
    both = run("python3", "-c", "import os\nfor n in range(256): os.write(1, b'o' * 4096); os.write(2, b'e' * 4096)")
    return [hashlib.sha256(done.stdout).hexdigest(), str(len(both.stdout)), str(len(both.stderr))]


def reader_that_leaves() -> list[int]:
    """What a pipe to nobody does to a command."""
    code = "import os, signal\nsignal.signal(13, signal.SIG_DFL)\nwhile True: os.write(1, b'y' * 4096)"
    command = subprocess.Popen(["python3", "-c", code], stdout=subprocess.PIPE)
    assert command.stdout is not None
    command.stdout.read(10)
    command.stdout.close()
    return [command.wait(SECONDS)]


def background() -> list[str]:
    mark = HOME / "job"
    begun = run(
        "sh", "-c", f"(while ! [ -e {mark}.go ]; do sleep 0.02; done; echo done >{mark}) >/dev/null 2>&1 & exit 3"
    )
    early = mark.exists()
    Path(f"{mark}.go").touch()
    return [str(begun.returncode), str(early), wait_for(mark).decode()]


def background_output() -> str:
    """A job that goes on writing to the agent's pipe after its shell has ended."""
    go = HOME / "out.go"
    shell = subprocess.Popen(
        ["sh", "-c", f"(while ! [ -e {go} ]; do sleep 0.02; done; echo late) & exit 0"], stdout=subprocess.PIPE
    )
    assert shell.stdout is not None
    shell.wait(SECONDS)
    go.touch()
    return shell.stdout.read().decode()


def signals() -> list[str | int]:
    code = "trap 'echo got; exit 9' INT; echo ready; while :; do sleep 0.02; done"
    caught = subprocess.Popen(["sh", "-c", code], stdout=subprocess.PIPE)
    assert caught.stdout is not None
    caught.stdout.readline()
    caught.send_signal(signal.SIGINT)
    said = caught.stdout.read().decode()
    plain = subprocess.Popen(["sleep", "60"])
    wait_until_runs("sleep")
    plain.terminate()
    return [said, caught.wait(SECONDS), plain.wait(SECONDS)]


def wait_until_runs(name: str) -> None:
    """Until the task's sandbox has a process of that name."""
    code = (
        "import pathlib, sys, time\nfor n in range(500):\n for p in pathlib.Path('/proc').glob('[0-9]*/comm'):\n"
        "  try:\n   if p.read_text().strip() == sys.argv[1]: sys.exit(0)\n  except OSError: pass\n time.sleep(0.02)\n"
        "sys.exit(1)"
    )
    assert run("python3", "-c", code, name).returncode == 0, f"no process {name}"


def killed_group() -> list[str | int]:
    """The agent kills the group of a shell with a child, as on a time-out."""
    mark = HOME / "pids"
    shell = subprocess.Popen(["sh", "-c", f"sleep 300 & echo $$ $! >{mark}; wait"], start_new_session=True)
    pids = wait_for(mark).decode().split()
    os.killpg(shell.pid, signal.SIGKILL)
    code = "import os, sys, time\nfor n in range(500):\n" + "".join(
        f" {line}\n"
        for line in (
            "alive = [p for p in sys.argv[1:] if os.path.exists(f'/proc/{p}/cmdline')]",
            "left = [p for p in alive if open(f'/proc/{p}/cmdline').read()]",
            "if not left: break",
            "time.sleep(0.02)",
        )
    )
    return [shell.wait(SECONDS), run("python3", "-c", code + "print(left)", *pids).stdout.decode().strip()]


def ignored_signals() -> str:
    code = "import signal; print(*(int(signal.getsignal(n) == signal.SIG_IGN) for n in (1, 2, 15)))"

    def deafen() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    return run("python3", "-c", code, preexec_fn=deafen).stdout.decode().strip()


def environment() -> dict[str, str | None]:
    names = [
        "PLAIN",
        "ODD",
        "LD_PRELOAD",
        "MY_API_KEY",
        "CLAUDE_CODE_MESSAGING_TOKEN",
        "X_BASE_URL",
        "OWN_SECRET",
        "PATH",
    ]
    given = {**os.environb, b"PLAIN": b"a=b", b"ODD": b"\xff\n\x01", b"LD_PRELOAD": b"/tmp/x.so", b"MY_API_KEY": b"k"}
    given |= {b"CLAUDE_CODE_MESSAGING_TOKEN": b"t", b"X_BASE_URL": b"u", b"OWN_SECRET": b"s"}
    code = "import os, sys, json; print(json.dumps({n: os.environ.get(n) for n in sys.argv[1:]}))"
    return json.loads(run("python3", "-c", code, *names, env=given).stdout)  # type: ignore[no-any-return]


def words() -> list[str]:
    odd = [b"", b"a b", b"\xff\xfe", b"new\nline", b"--", b"'\"$x"]
    code = "import os, sys; print([os.fsencode(a) for a in sys.argv[1:]])"
    own = subprocess.run(["odd name", "-c", "echo $0"], executable="/usr/bin/sh", capture_output=True)
    long = run("python3", "-c", "import sys; print(len(sys.argv), sum(map(len, sys.argv[1:])))", *["x" * 100_000] * 12)
    same = repr(odd) == run("python3", "-c", code, *odd).stdout.decode().strip()
    return [str(same), own.stdout.decode().strip(), long.stdout.decode().strip()]


def unknown() -> list[str | int]:
    try:
        run("no-such-command")
    except FileNotFoundError:
        return ["none", run("sh", "-c", "no-such-command").returncode]
    return ["found", 0]


def many() -> list[int]:
    """Commands side by side, more than a server's few."""
    all_of_them = [subprocess.Popen(["sh", "-c", f"sleep 0.2; exit {n}"]) for n in range(20)]
    return [command.wait(SECONDS) for command in all_of_them]


def closed_streams() -> str:
    code = "import os\nfor n in (0, 1):\n try: os.fstat(n)\n except OSError: os.write(2, b'%d closed ' % n)"
    done = subprocess.run(["python3", "-c", code], stderr=subprocess.PIPE, preexec_fn=lambda: os.closerange(0, 2))
    return done.stderr.decode()


def refused_streams() -> list[int]:
    """Streams that would lead a command into the agent's sandbox, or to its network."""
    folder = os.open("/home/harness", os.O_RDONLY)
    path = os.open("/home/harness", os.O_PATH)
    with socket.socket(socket.AF_INET) as inet, socket.socketpair()[0] as unix:
        return [run("sh", "-c", ":", stdin=stream).returncode for stream in (folder, path, inet, unix)]


def too_many_streams() -> list[Any]:
    """What comes back where more descriptors come along than there are streams, and a command after that."""
    with socket.socket(socket.AF_UNIX) as server, open(os.devnull, "rb") as none:
        server.settimeout(SECONDS)
        server.connect("/run/line/commands")
        strings = b"/usr/bin/sh\0/\0sh\0-c\0exit 3\0"
        socket.send_fds(server, [struct.pack("<6I", len(strings), 3, 0, 0, 7, 0)], [none.fileno()] * 9)
        server.sendall(strings)
        return [list(server.recv(8, socket.MSG_WAITALL)), run("sh", "-c", "exit 5").returncode]


def terminal() -> dict[str, Any]:
    """A command on a terminal of the agent's: its size, its session, a typed interrupt, its end."""
    code = (
        "import os, sys\nown = os.tcgetpgrp(0) == os.getpgrp(), os.getsid(0) == os.getpid()\n"
        "print(os.isatty(0), *os.get_terminal_size(), *own)\n"
        "print(input().upper(), flush=True)\nimport time\nprint('waits', flush=True)\ntime.sleep(60)"
    )
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, b"\x28\0\x64\0\0\0\0\0")

    def own() -> None:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    command = subprocess.Popen(["python3", "-c", code], stdin=slave, stdout=slave, stderr=slave, preexec_fn=own)  # noqa: PLW1509
    os.close(slave)
    said = read_until(master, b"True\r\n")
    os.write(master, b"typed\n")
    said += read_until(master, b"waits\r\n")
    os.write(master, b"\x03")
    ended = command.wait(SECONDS)
    os.close(master)
    return {"said": said.decode().split("\r\n")[:1], "echoed": "TYPED" in said.decode(), "ended": ended}


def read_until(fd: int, mark: bytes) -> bytes:
    said = b""
    while mark not in said:
        said += os.read(fd, 4096)
    return said


def places() -> dict[str, str]:
    """What one side writes and the other reads."""
    found = {}
    for folder in ("/home/agent", "/tmp", "/app/submission"):
        Path(folder, "from-agent").write_text("a")
        run("sh", "-c", f"cat {folder}/from-agent >{folder}/back")
        found[folder] = Path(folder, "back").read_text()
    Path("/home/harness/own").write_text("own")
    found["private"] = run("cat", "/home/harness/own").stderr.decode()
    found["tree"] = run("ls", "/opt/agent").stderr.decode()
    return found


CHECKS: tuple[Callable[[], Any], ...] = (
    exit_codes, signal_deaths, stdin, end_of_stdin, file_as_stdin, directory, mask, large_output, reader_that_leaves,
    background, background_output, signals, killed_group, ignored_signals, environment, words, unknown, many,
    closed_streams, refused_streams, too_many_streams, terminal, places,
)  # fmt: skip


def main() -> int:
    os.chdir(HOME)
    found: dict[str, Any] = {}
    for check in CHECKS:
        try:
            found[check.__name__] = check()
        except Exception as fault:  # noqa: BLE001 - the test says which check
            found[check.__name__] = repr(fault)
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
