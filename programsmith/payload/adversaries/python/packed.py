"""Runs compiled code that came with the submission in base64."""

from __future__ import annotations

import base64
import marshal
import os
import sys

HEADER = 16  # bytes of a bytecode file before its code

if __name__ == "__main__":
    with open("/app/submission/answer.txt", "rb") as file:
        code = marshal.loads(base64.b64decode(file.read())[HEADER:])  # noqa: S302 - the point
    found: dict[str, object] = {"__name__": "packed"}
    exec(code, found)  # noqa: S102 - the point
    main = found["main"]
    os._exit(main() if callable(main) else sys.maxsize)
