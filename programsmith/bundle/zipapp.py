"""The programs that a bundle carries, each one file: the verifier, the agent's public runner, both sides of queries.

In: the files of payload/ that the program consists of. Out: the bytes of a zip application, the same for the same
sources: sorted names, one fixed time, stored without compression. Import names stay as they are in the checkout. The
verifier takes its modules from where its image keeps them compiled, if it is that very program, byte for byte: to
compile them again would take longer than many a grading.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from pathlib import Path

from programsmith.bundle.places import KEPT

PACKAGE = Path(__file__).parent.parent
VERIFIER = "payload/verifier"
INIT = "payload/init"
CHECK = "payload/bundle"
QUERY = "payload/query"
_ASKS = (f"{VERIFIER}/model.py", f"{VERIFIER}/tree.py", f"{QUERY}/ask.py", f"{QUERY}/wire.py")
_NOT_FOR_SCORING = ("plain.py", "landlock.py", "contained.py")
_FOR_SCORING_ONLY = (
    *("__main__.py", "faults.py", "grade.py", "launchers.py", "report.py", "unseal.py"),
    *("bwrap.py", "cgroup.py", "compiled.py", "host.py", "isolated.py", "isolation.py", "root.py", "seccomp.py"),
    *("server.py", "settle.py", "slots.py", "uid.py", "views.py", "wire.py"),
)
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)
_PLAIN_FILE = 0o100644 << 16
_MAIN = "import sys\n{first}\nfrom {main} import main\n\nsys.exit(main())\n"
_ASKING = "import sys\n\nfrom programsmith.payload.query.ask import main\n\nsys.exit(main({variables!r}))\n"
_FROM_KEPT = f"""import hashlib

with open(sys.argv[0], "rb") as program:
    sys.path.insert(0, "{KEPT}/" + hashlib.sha256(program.read()).hexdigest())
"""


def verify_pyz() -> bytes:
    """The verifier: standard library, and cryptography for unsealing. It cannot launch anything without isolation."""
    files = [p for p in (*_modules(VERIFIER), *_modules(INIT)) if p.name not in _NOT_FOR_SCORING]
    return _zip(files, _MAIN.format(first=_FROM_KEPT, main="programsmith.payload.verifier.__main__"))


def check_pyz() -> bytes:
    """The public runner: the verifier's own policy, words and comparators, without anything that scores or unseals."""
    return b"#!/usr/bin/env python3\n" + _zip(
        check_files(), _MAIN.format(first="", main="programsmith.payload.bundle.check")
    )


def ask_pyz(variables: Iterable[str] = ()) -> bytes:
    """The command that asks the original, with `variables` by name: nothing in it knows where that is, or runs it."""
    packages = [PACKAGE / folder / "__init__.py" for folder in (VERIFIER, QUERY)]
    files = sorted([*packages, *(PACKAGE / path for path in _ASKS)])
    main = _ASKING.format(variables=tuple(sorted(variables)))
    return b"#!/usr/bin/python3 -IS\n" + _zip(files, main)


def answer_pyz() -> bytes:
    """What answers queries in a container of its own: the original's side of them, and the launcher of containers."""
    modules = [p for p in (*_modules(VERIFIER), *_modules(INIT)) if p.name not in _NOT_FOR_SCORING]
    files = [*modules, *_modules(QUERY)]
    return _zip(files, _MAIN.format(first="", main="programsmith.payload.query.serve"))


def check_files() -> list[Path]:
    """Sources of the public runner."""
    return [*(p for p in _modules(VERIFIER) if p.name not in _FOR_SCORING_ONLY), *_modules(CHECK)]


def _modules(folder: str) -> list[Path]:
    return sorted((PACKAGE / folder).glob("*.py"))


def _zip(files: Iterable[Path], main: str) -> bytes:
    held = {f"programsmith/{p.relative_to(PACKAGE).as_posix()}": p.read_bytes() for p in files}
    for package in ("programsmith", "programsmith/payload"):
        held[f"{package}/__init__.py"] = b""
    held["__main__.py"] = main.encode("ascii")
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for name in sorted(held):
            entry = zipfile.ZipInfo(name, _FIXED_TIME)
            entry.external_attr, entry.create_system = _PLAIN_FILE, 3
            archive.writestr(entry, held[name])
    return raw.getvalue()
