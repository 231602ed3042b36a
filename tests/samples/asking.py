"""An agent that asks the original by a command, and looks for a way of its own."""

import json
import os
import socket
import subprocess

SOCKET = "/run/oracle/ask"


def direct() -> str:
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(SOCKET)
    except OSError as fault:
        return type(fault).__name__
    return "connected"


def ask(line: str) -> list:
    done = subprocess.run(["sh", "-c", line], stdin=subprocess.DEVNULL, capture_output=True)
    return [done.returncode, done.stdout.decode(), done.stderr.decode()]


print(
    json.dumps(
        {
            "asked": ask("printf abc | /app/reference/rot -n 1"),
            "died": ask("exec /app/reference/rot die"),
            "there": os.path.exists(SOCKET),
            "direct": direct(),
        }
    )
)
