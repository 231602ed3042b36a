"""Runs compiled code that came with the submission in an encoding, which way.txt names."""

from __future__ import annotations

import base64
import gzip
import importlib
import marshal
import os
import sys
from collections.abc import Callable

HEADER = 16  # bytes of a bytecode file before its code
WAYS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "base64": ("txt", base64.b64decode),
    "hex": ("txt", lambda text: bytes.fromhex(text.decode())),
    "gzip": ("gz", gzip.decompress),
    "twice": ("txt", lambda text: gzip.decompress(base64.b64decode(text))),
}

if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    suffix, decode = WAYS[importlib.import_module("kit").word("way")]
    with open(f"/app/submission/answer.{suffix}", "rb") as file:
        code = marshal.loads(decode(file.read())[HEADER:])  # noqa: S302 - the point
    found: dict[str, object] = {"__name__": "packed"}
    exec(code, found)  # noqa: S102 - the point
    main = found["main"]
    os._exit(main() if callable(main) else sys.maxsize)
