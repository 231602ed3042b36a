"""A harness that asks its model as often as it is told, whatever it is answered, and does no more.

Runs inside, as the agent: arguments are a path, a body and a number of calls. It leaves a submission first, so that
there would be something to grade.
"""

from __future__ import annotations

import http.client
import subprocess
import sys

PORT = 8787


def main(path: str, body: str, times: str) -> int:
    subprocess.run(["sh", "-c", "echo left >/app/submission/left"], check=True)
    for _ in range(int(times)):
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
        try:
            connection.request("POST", path, body, {"content-type": "application/json"})
            answer = connection.getresponse()
            print(answer.status, answer.read())
        except (OSError, http.client.HTTPException) as broken:
            print(type(broken).__name__)
        connection.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
