"""The verifier does one thing: no option, no variable and no module of it is one that nobody knows of.

In: its modules as it carries them. Only the standard library, its own packages and cryptography are imported; the one
variable that it reads is the secret's; its options are a closed list.
"""

from __future__ import annotations

import io
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.checks.base import Row, Scene, first

PROGRAM = "tests/verify.pyz"
OPTIONS = frozenset({"--tests", "--submission", "--out", "--launcher", "--replay"})
PACKAGES = ("programsmith/payload/verifier/", "programsmith/payload/init/")
ROOTS = ("__main__.py", "programsmith/__init__.py", "programsmith/payload/__init__.py")
UNSEAL = "programsmith/payload/verifier/unseal.py"
IMPORT = re.compile(
    rb"^[ \t]*(?:from|import)[ \t]+([A-Za-z_][\w.]*)(?:[ \t]+import\b|[ \t]*$|[ \t]+as\b|,)", re.MULTILINE
)
OPTION = re.compile(rb'add_argument\(\s*"([^"]+)"')
READING = re.compile(rb"\bos\.(?:environb?|getenvb?)\b|\bfrom os import[^\n]*(?:environ|getenv)")


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Read every module."""
    try:
        with zipfile.ZipFile(io.BytesIO(scene.content(PROGRAM))) as archive:
            held = {name: archive.read(name) for name in archive.namelist()}
    except zipfile.BadZipFile as fault:
        return Row(passed=False, reason=f"{PROGRAM}: wanted a zip application: {fault}", evidence={"faults": [PROGRAM]})
    found = [
        f"{PROGRAM}: {name}: {fault}" for name, content in sorted(held.items()) for fault in _faults(name, content)
    ]
    options = {option.decode("ascii", "replace") for content in held.values() for option in OPTION.findall(content)}
    found += [f"{PROGRAM}: wanted the options {sorted(OPTIONS)}, got {sorted(options)}"] if options != OPTIONS else []
    return Row(
        passed=not found,
        reason=first(found, f"{len(held)} modules, {len(options)} options", "switch"),
        evidence={"faults": found, "modules": len(held), "options": sorted(options)},
    )


def _faults(name: str, content: bytes) -> Iterator[str]:
    if not (name in ROOTS or name.startswith(PACKAGES)):
        yield "wanted a module of the verifier's packages"
    for found in IMPORT.findall(content):
        top = found.decode("ascii").split(".")[0]
        if top not in sys.stdlib_module_names and top != "programsmith" and (name, top) != (UNSEAL, "cryptography"):
            yield f"wanted the standard library and itself, got import {top}"
    if name != UNSEAL and READING.search(content):
        yield "wanted no variable of the environment, got one that is read"
