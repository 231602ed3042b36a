"""Where a project, its specs and what a word means lie, in plain strings.

In: a folder, a word. Out: paths; None, or no path, where there is none: find.py says then what is wrong. It imports
little, for a build with nothing to do starts and ends with it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

SUFFIX = ".yaml"
EXTENDS = re.compile(rb"^extends[ \t]*:[ \t]*[\"']?([^\"'\s#\0]+)", re.MULTILINE)
NAME = re.compile(rb"^[\"']?name[\"']?[ \t]*:", re.MULTILINE)
MAGIC = re.compile(r"[*?\[]")


def root_of(start: str) -> str | None:
    """The nearest folder at or above `start` that holds specs/ or dodo.py."""
    while True:
        if os.path.isdir(os.path.join(start, "specs")) or os.path.isfile(os.path.join(start, "dodo.py")):
            return start
        above = os.path.dirname(start)
        if above == start:
            return None
        start = above


def search_from(word: str | None, start: str) -> str:
    """Where the search for the project begins: the folder of a spec's file that `word` names, else `start`."""
    file = os.path.normpath(os.path.join(start, word)) if word else start
    return os.path.dirname(file) if os.path.isfile(file) else start


def own(root: str) -> list[str]:
    """Files of the project's specs in name order: those in specs/ but for nameless ones that others extend."""
    folder = os.path.join(root, "specs")
    names = sorted(name for name in _listed(folder) if name.endswith(SUFFIX))
    return specs_among({path: _text(path) for name in names if os.path.isfile(path := os.path.join(folder, name))})


def specs_among(texts: Mapping[str, bytes]) -> list[str]:
    """Those of the files, with their content, that are specs and not only what others extend."""
    bases = {os.path.realpath(base) for path, text in texts.items() if (base := base_of(path, text))}
    return [path for path, text in texts.items() if NAME.search(text) or os.path.realpath(path) not in bases]


def base_of(path: str, text: bytes) -> str | None:
    """What the file extends, as far as its first lines tell without a parser."""
    found = EXTENDS.search(text)
    return os.path.join(os.path.dirname(path), os.fsdecode(found[1])) if found else None


def candidates(part: str, root: str, start: str) -> list[str]:
    """Where a name or file in a word may lie, the first being meant."""
    named = [] if "/" in part else [os.path.join(root, "specs", part.removesuffix(SUFFIX) + SUFFIX)]
    return [*named, os.path.join(root, part), os.path.join(start, part)]


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _text(path: str) -> bytes:
    with open(path, "rb") as body:
        return body.read()
