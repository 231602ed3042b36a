"""Unpacks machine code that was compiled elsewhere into a file, and loads it in the way that way.txt names."""

from __future__ import annotations

import ctypes
import glob
import importlib
import importlib.machinery
import os
import sys
import tempfile
from importlib.util import module_from_spec, spec_from_file_location

FILE = os.path.join(tempfile.gettempdir(), "answer.so")
LOADERS = ("/lib64/ld-linux*", "/lib/ld-linux*", "/usr/lib*/*/ld-linux*", "/usr/lib*/ld-linux*")


def by_loader() -> None:
    """As the program that the dynamic loader is asked to start."""
    for loader in [path for pattern in LOADERS for path in glob.glob(pattern)]:
        os.execv(loader, [loader, FILE, *sys.argv[1:]])  # noqa: S606


def as_library() -> None:
    """As a library."""
    ctypes.CDLL(FILE)


def as_extension() -> None:
    """As an extension module."""
    loader = importlib.machinery.ExtensionFileLoader("answer", FILE)
    spec = spec_from_file_location("answer", FILE, loader=loader)
    if spec:
        module_from_spec(spec)


if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    program = importlib.import_module("unmask").unmasked()
    with open(FILE, "wb") as file:
        file.write(program)
    os.chmod(FILE, 0o755)  # noqa: S103
    {"loader": by_loader, "library": as_library, "extension": as_extension}[
        importlib.import_module("kit").word("way")
    ]()
