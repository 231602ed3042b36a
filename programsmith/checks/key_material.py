"""No file holds a credential: no private key, no token of a known form, no secret of this process's environment.

Known forms count in what create writes: upstream's documentation and cases may show an example of one. A value of the
environment counts everywhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.bundle.tree import CASES, DOCS, PUBLIC
from programsmith.checks.base import Row, Scene, first

UPSTREAM = (DOCS, CASES, PUBLIC, "tests/public.jsonl")
FORMS = {
    "a private key": re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "a token": re.compile(
        rb"\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|sk-[A-Za-z0-9_-]{32,}|hf_[A-Za-z0-9]{30,})\b"
    ),
    "an address with a password": re.compile(rb"[a-z][a-z0-9+.-]*://[^/\s:@]+:[^/\s:@]{6,}@"),
}
NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
SHORTEST = 12  # bytes of a value that cannot stand somewhere by chance; a path is no secret


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Search every file."""
    values = tuple(_values())
    found = []
    for path in scene.files:
        texts = scene.texts(path) if path in scene.agent else (scene.content(path),)
        forms = {} if path.startswith(UPSTREAM) else FORMS
        found += [f"{path}: wanted none, got {what}" for what, form in forms.items() if any(map(form.search, texts))]
        found += [
            f"{path}: holds the value of {name}" for name, value in values if any(value in text for text in texts)
        ]
    return Row(
        passed=not found,
        reason=first(sorted(found), "no credential", "credential"),
        evidence={"faults": sorted(found), "values": len(values)},
    )


def _values() -> Iterator[tuple[str, bytes]]:
    for name, value in os.environb.items():  # noqa: TID251 - what must not be shipped is known from here alone
        if NAME.search(name.decode("ascii", "replace")) and len(value) >= SHORTEST and not value.startswith(b"/"):
            yield name.decode("ascii", "replace"), value
