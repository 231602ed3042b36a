"""An agent that does one thing, named by its first argument, and ends or not. Runs inside, as the agent."""

from __future__ import annotations

import ctypes
import http.client
import json
import mmap
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
PORT = 8787


def leaves_jobs(mark: str) -> int:
    """Commands that go on, and a daemon that no shell knows."""
    code = (
        "import os, signal, sys, time\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n"
        "  for n in range(1, 32):\n   if n not in (9, 19): signal.signal(n, signal.SIG_IGN)\n"
        "  open('/home/agent/up', 'w').close()\n  time.sleep(600)\n os._exit(0)\n"
    )
    subprocess.run(["sh", "-c", "sleep 600 & exit 0", mark], stdout=subprocess.DEVNULL)
    subprocess.run(["python3", "-c", code, mark])
    while not os.path.exists("/home/agent/up"):
        time.sleep(0.01)
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", mark], start_new_session=True)
    Path("/app/submission/work").write_text("done")
    Path("/home/harness/log").write_text("kept")
    return 7


def dies() -> int:
    os.kill(os.getpid(), signal.SIGTERM)
    return 0


def waits(*_mark: str) -> int:
    subprocess.Popen(["sleep", "600"])
    print("waits", flush=True)
    time.sleep(600)
    return 0


def kills_server() -> int:
    """A command may end its own sandbox, and with it the trial."""
    code = "import os\nfor pid in range(os.getpid() - 1, 1, -1):\n try: os.kill(pid, 9)\n except OSError: pass"
    subprocess.run(["python3", "-c", code])
    time.sleep(600)
    return 0


def floods() -> int:
    while True:
        os.write(1, b"y" * 65536)


def command_floods() -> int:
    """What a command floods with is the agent's to read, not the host's to keep."""
    code = "import os\nfor n in range(1 << 11): os.write(1, b'z' * 65536)"
    command = subprocess.Popen(["python3", "-c", code], stdout=subprocess.PIPE)
    assert command.stdout is not None
    total = 0
    while part := command.stdout.read1(1 << 20):
        total += len(part)
    print(total, command.wait())
    return 0


def exhausts(side: str, name: str, to: str) -> int:
    """A command, or a child of the agent, takes more than there is, which may end the sandbox that it is in."""
    own = Path(__file__).parent / "exhausting.py"
    Path("/tmp/exhausting.py").write_bytes(own.read_bytes())
    python = "python3" if side == "command" else sys.executable
    done = subprocess.run([python, "-I", "-S", "/tmp/exhausting.py", name, to], capture_output=True)
    print(json.loads(done.stdout or "false"))
    return 0


def hoards(way: str, size: str, within: str) -> int:
    """The agent's own process shares memory, which it may drop or unmap at once and which is held all the same.

    `within`: what a command of it shares meanwhile.
    """
    held, piece, call = [], b"x" * (16 << 20), ctypes.CDLL(None).munmap
    command = None
    if json.loads(within):
        own = Path(__file__).parent / "exhausting.py"
        Path("/tmp/exhausting.py").write_bytes(own.read_bytes())
        held.append(mmap.mmap(-1, 4096))
        command = subprocess.Popen(["python3", "-I", "-S", "/tmp/exhausting.py", "memory", within])
    for _ in range(int(size) // len(piece)):
        one = mmap.mmap(-1, len(piece))
        one.write(piece)
        if way == "drops":
            one.madvise(mmap.MADV_DONTNEED)
        if way == "unmaps":
            at = ctypes.addressof(ctypes.c_char.from_buffer(one)) + mmap.PAGESIZE
            call(ctypes.c_void_p(at), ctypes.c_size_t(len(piece) - mmap.PAGESIZE))
        held.append(one)
    time.sleep(1)
    print(command.wait() if command else "held")
    return 0


def links() -> int:
    """What is no plain file, in the submission."""
    code = (
        "import os, socket\nos.chdir('/app/submission')\n"
        "os.symlink('/etc/passwd', 'absolute')\nos.symlink('../../home/agent', 'up')\n"
        "open('file', 'w').write('own')\nos.link('file', 'hard')\n"
        "os.mkfifo('pipe')\nsocket.socket(socket.AF_UNIX).bind('socket')\n"
        "os.truncate(os.open('sparse', os.O_CREAT | os.O_WRONLY), 1 << 27)\n"
        "os.makedirs('deep/' + '/'.join('d' * 200))\n"
        "for n in range(300): open(f'many{n}', 'w').close()"
    )
    return subprocess.run(["python3", "-c", code]).returncode


def asks(requests: str) -> int:
    """Requests to the model, as (method, path, body, headers); prints status and answer of each."""
    found = []
    for method, path, body, headers in json.loads(requests):
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=20)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        found.append([answer.status, answer.read().decode()])
        connection.close()
    print(json.dumps(found))
    return 0


def streams() -> int:
    """A stream, piece by piece, beside other connections; then one that the agent breaks off."""
    body = json.dumps({
        "model": "claude-haiku-4-5", "max_tokens": 16, "stream": True, "messages": [{"role": "user", "content": "hi"}],
    })  # fmt: skip
    others = [threading.Thread(target=socket.create_connection, args=(("127.0.0.1", PORT),)) for _ in range(20)]
    for one in others:
        one.start()
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=20)
    connection.request("POST", "/v1/messages", body, {"content-type": "application/json"})
    answer = connection.getresponse()
    pieces = [answer.read1(1 << 16)]
    Path("/home/agent/first").touch()
    while piece := answer.read1(1 << 16):
        pieces.append(piece)
    print(json.dumps([answer.status, len(pieces) > 1, b"".join(pieces).decode()]))
    return 0


def uploads(size: str) -> int:
    """A body that is larger than every buffer on the way, answered by its size."""
    connection = socket.create_connection(("127.0.0.1", PORT))
    sender = threading.Thread(target=connection.sendall, args=(b"u" * int(size),))
    sender.start()
    total = 0
    while total < int(size):
        total += len(connection.recv(1 << 16))
    sender.join()
    connection.shutdown(socket.SHUT_WR)
    print(total, connection.recv(10))
    return 0


if __name__ == "__main__":
    sys.exit(globals()[sys.argv[1]](*sys.argv[2:]))
