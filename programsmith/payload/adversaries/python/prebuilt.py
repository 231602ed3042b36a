"""Runs compiled code that came with the submission, made from a program that nobody can read any more."""

from __future__ import annotations

import marshal
import os
import sys

HEADER = 16  # bytes of a bytecode file before its code

if __name__ == "__main__":
    with open("/app/submission/answer.bin", "rb") as file:
        code = marshal.loads(file.read()[HEADER:])  # noqa: S302 - the point
    found: dict[str, object] = {"__name__": "prebuilt"}
    exec(code, found)  # noqa: S102 - the point
    main = found["main"]
    os._exit(main() if callable(main) else sys.maxsize)
