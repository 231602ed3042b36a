"""An agent that attacks: by its commands, by children of its own, by itself. Prints one JSON object. Runs inside.

Argument: JSON with, for each of these sides, the names of attacks.py and what to try them on.
"""

from __future__ import annotations

import ctypes
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SHARED = "/tmp/attacks.py"
PORT = 8787


def listen(path: str) -> None:
    """Be there for orders, as some agents are for their commands."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()

    def answer() -> None:
        while True:
            one, _ = listener.accept()
            one.sendall(b"orders")
            one.close()

    threading.Thread(target=answer, daemon=True).start()


def left_open() -> socket.socket:
    """A connection to the relay whose descriptor the agent takes no care of."""
    number = ctypes.CDLL(None).socket(socket.AF_INET, socket.SOCK_STREAM, 0)
    ours = socket.socket(fileno=number)
    ours.connect(("127.0.0.1", PORT))
    return ours


def attack(words: list[str], side: dict[str, Any], **how: Any) -> dict[str, Any]:
    to = json.dumps(side["to"])
    done = subprocess.run([*words, to, *side["names"]], capture_output=True, timeout=90, close_fds=False, **how)
    sys.stderr.buffer.write(done.stderr)
    return json.loads(done.stdout or b"{}")  # type: ignore[no-any-return]


def asks() -> list[Any]:
    """The agent's own call of its model."""
    body = json.dumps({"model": "claude-haiku-4-5", "max_tokens": 16, "messages": [{"role": "user", "content": "hi"}]})
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=20)
    connection.request("POST", "/v1/messages", body, {"content-type": "application/json", "x-api-key": "no key"})
    answer = connection.getresponse()
    return [answer.status, answer.read().decode()]


def main() -> int:
    sides = json.loads(sys.argv[1])
    listen(sides["task"]["to"]["messaging"])
    shutil.copy(HERE / "attacks.py", SHARED)
    found: dict[str, Any] = {"before": asks()}
    kept = left_open()
    found["task"] = attack(["python3", "-I", SHARED], sides["task"], env={**os.environ, "LD_PRELOAD": "/tmp/x.so"})
    found["child"] = attack([sys.executable, "-I", "-S", str(HERE / "attacks.py")], sides["child"])
    kept.close()
    sys.path.insert(0, str(HERE))
    import attacks  # type: ignore[import-not-found]

    attacks.TO.update(sides["own"]["to"])
    own = {}
    for name in sides["own"]["names"]:
        try:
            own[name] = repr(getattr(attacks, name)() or "")
        except OSError as fault:
            own[name] = ""
            print(f"{name}: {fault!r}", file=sys.stderr)
    found["own"] = own
    found["after"] = asks()
    print(json.dumps(found), flush=True)
    if sides["turn"]:  # the same process, another program
        os.execv(
            sys.executable,
            [sys.executable, "-I", "-S", str(HERE / "attacks.py"), json.dumps(sides["own"]["to"]), "relay"],
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
