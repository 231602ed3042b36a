"""The Dockerfiles are what create writes, whatever their base and packages: nothing is fetched but packages.

So they build with the classic builder, from a base that is given, copy what lies beside them, and download nothing by
an address. A digest that nobody resolved is never there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from string import Template
from typing import Any

from programsmith.bundle.render import read_payload, server_words
from programsmith.bundle.tree import ANSWERS
from programsmith.checks.base import Row, Scene, first

SIDES = {"environment": ("app",), "tests": (".", "launcher")}
ASKED = {ANSWERS.rstrip("/"): (".", "launcher")}
KNOWN = re.compile(r"(?:#|ARG|FROM|RUN|COPY|WORKDIR|USER|CMD|ENV)(?: |$)")
BASE = re.compile(r"^ARG BASE=(\S+)$", re.MULTILINE)
PACKAGES = re.compile(r'^ARG PACKAGES="([^"]*)"$', re.MULTILINE)
ABSENT = re.compile(r"^RUN rm -rf (/[\w.*/ -]+)$", re.MULTILINE)
PLACES = re.compile(r"mkdir -p (.+)$", re.MULTILINE)
TAGGED = re.compile(r"[a-z0-9][a-z0-9./_-]*(?::[0-9]+/[a-z0-9./_-]+)?:(?!latest$)[A-Za-z0-9_][A-Za-z0-9_.-]*")
PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.:-]*")
FETCHING = re.compile(r"\b(?:ADD|curl|wget|git clone|pip3? install|npm install)\b|--mount|<<|https?://")


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Write each again from what it says, and compare."""
    sides = SIDES | (ASKED if scene.asked else {})
    found = [f"{side}/Dockerfile: {fault}" for side in sides for fault in _faults(scene, side, sides[side])]
    return Row(
        passed=not found,
        reason=first(found, "the images follow from base, packages and what lies beside them", "image"),
        evidence={"faults": found},
    )


def _faults(scene: Scene, side: str, copies: Iterable[str]) -> Iterator[str]:
    text = scene.content(f"{side}/Dockerfile").decode("utf-8", "replace")
    base, packages = BASE.findall(text), PACKAGES.findall(text)
    if len(base) != 1 or len(packages) != 1:
        yield f"wanted one ARG BASE and one ARG PACKAGES, got {len(base)} and {len(packages)}"
        return
    yield from (f"wanted no unknown line, got {line!r}" for line in text.splitlines() if line and not KNOWN.match(line))
    yield from (f"wanted nothing that fetches, got {word!r}" for word in FETCHING.findall(text))
    if not TAGGED.fullmatch(base[0]):
        yield f"ARG BASE: wanted a name with a tag, not latest, without a digest, got {base[0]!r}"
    yield from (f"ARG PACKAGES: wanted a name, got {p!r}" for p in packages[0].split() if not PACKAGE.fullmatch(p))
    words = {"base": base[0], "packages": packages[0], "places": _last(PLACES, text), "absent": _last(ABSENT, text)}
    words |= server_words()
    name = side.rpartition("/")[2]
    if Template(read_payload("harbor", f"{name}.Dockerfile").decode("utf-8")).substitute(words) != text:
        yield "wanted the lines that create writes, got others"
    copied = (path for path in copies if path != ".")
    yield from (f"copies {p}, which is not there" for p in copied if not _has(scene, f"{side}/{p}/"))


def _last(what: re.Pattern[str], text: str) -> str:
    return "".join(what.findall(text)[-1:])


def _has(scene: Scene, folder: str) -> bool:
    return any(path.startswith(folder) for path in scene.files)
