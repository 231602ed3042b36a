"""Programs of ours that a wheel carries compiled: for whoever has no C compiler.

In: the C sources below payload, a folder of static programs beside the digest of what they were made of. Out: their
paths, where they are of exactly these sources and this kind of machine. A wheel's build loads this file by itself,
so it imports the standard library alone.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
FOLDERS: Mapping[str, tuple[str, ...]] = {
    "init": ("init",),
    "launch": ("launch",),
    "bridge": ("shim", "serve", "relay"),
}
"""Programs by the folder of their source."""
KINDS = ("manylinux_2_17", "musllinux_1_1")
"""Platforms by the oldest C library that installers know, though the programs need none of either."""
COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-O2", "-s", "-Wall", "-Wextra")
STATIC = "-static"
OF = "sources"
"""The file that says what the programs beside it were made of."""


def tag(taken: Iterable[str]) -> str | None:
    """The platform of a wheel that holds them, of those that an installer takes; None where it takes none of ours."""
    known = set(taken)
    return next((one for kind in KINDS if (one := f"{kind}_{os.uname().machine}") in known), None)


def place(package: Path = PACKAGE) -> Path:
    """Where the compiled programs of this kind of machine lie in a package, if it carries any."""
    return package / "_compiled" / os.uname().machine


def digest(package: Path = PACKAGE) -> str:
    """SHA-256 over the C sources, by name."""
    total = hashlib.sha256()
    for folder in sorted(FOLDERS):
        for file in sorted((package / "payload" / folder).iterdir()):
            if file.suffix in {".c", ".h"}:
                raw = file.read_bytes()
                total.update(f"{folder}/{file.name} {len(raw)}\n".encode() + raw)
    return total.hexdigest()


def ready(name: str, package: Path = PACKAGE) -> Path | None:
    """The compiled program of that name; None where there is none of these sources."""
    folder = place(package)
    try:
        fits = (folder / OF).read_text("ascii") == digest(package)
    except OSError:
        return None
    return folder / name if fits and (folder / name).is_file() else None


def build(package: Path, out: Path) -> bool:
    """Compile all of them into the new folder `out`; whether this machine can. Nothing is left where it cannot."""
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        return False
    out.mkdir(parents=True)
    for folder, names in FOLDERS.items():
        for name in names:
            source = package / "payload" / folder / f"{name}.c"
            words = [compiler, *FLAGS, STATIC, "-o", str(out / name), str(source)]
            if subprocess.run(words, check=False, capture_output=True).returncode:
                shutil.rmtree(out)
                return False
            (out / name).chmod(0o755)
    (out / OF).write_text(digest(package), "ascii")
    return True
