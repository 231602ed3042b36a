"""The programs that a bundle carries, each one file: the verifier and the agent's public runner.

In: the files of payload/ that the program consists of. Out: the bytes of a zip application, the same for the same
sources: sorted names, one fixed time, stored without compression. Import names stay as they are in the checkout.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
VERIFIER = "payload/verifier"
INIT = "payload/init"
CHECK = "payload/bundle"
_NOT_FOR_SCORING = ("plain.py", "landlock.py", "contained.py")
_FOR_SCORING_ONLY = (
    *("__main__.py", "faults.py", "grade.py", "launchers.py", "report.py", "unseal.py"),
    *("bwrap.py", "cgroup.py", "compiled.py", "host.py", "isolated.py", "isolation.py", "root.py", "seccomp.py"),
    *("server.py", "settle.py", "slots.py", "uid.py", "views.py", "wire.py"),
)
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)
_PLAIN_FILE = 0o100644 << 16


def verify_pyz() -> bytes:
    """The verifier: standard library, and cryptography for unsealing. It cannot launch anything without isolation."""
    files = [p for p in (*_modules(VERIFIER), *_modules(INIT)) if p.name not in _NOT_FOR_SCORING]
    return _zip(files, "programsmith.payload.verifier.__main__")


def check_pyz() -> bytes:
    """The public runner: the verifier's own policy, words and comparators, without anything that scores or unseals."""
    return b"#!/usr/bin/env python3\n" + _zip(check_files(), "programsmith.payload.bundle.check")


def check_files() -> list[Path]:
    """Sources of the public runner."""
    return [*(p for p in _modules(VERIFIER) if p.name not in _FOR_SCORING_ONLY), *_modules(CHECK)]


def _modules(folder: str) -> list[Path]:
    return sorted((PACKAGE / folder).glob("*.py"))


def _zip(files: Iterable[Path], main: str) -> bytes:
    held = {f"programsmith/{p.relative_to(PACKAGE).as_posix()}": p.read_bytes() for p in files}
    for package in ("programsmith", "programsmith/payload"):
        held[f"{package}/__init__.py"] = b""
    held["__main__.py"] = f"import sys\n\nfrom {main} import main\n\nsys.exit(main())\n".encode("ascii")
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for name in sorted(held):
            entry = zipfile.ZipInfo(name, _FIXED_TIME)
            entry.external_attr, entry.create_system = _PLAIN_FILE, 3
            archive.writestr(entry, held[name])
    return raw.getvalue()
