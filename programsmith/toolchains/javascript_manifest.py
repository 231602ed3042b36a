"""A package.json as data: its commands, its dependencies, what builds it. Read, never run; a broken one says nothing.

In: a source tree. Out: plain values. Paths that leave the package are dropped.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.sources.tree import SourceTree
from programsmith.toolchains.versions import numbers

MANIFEST = b"package.json"
TYPESCRIPT = b"tsconfig.json"
BUILDS = ("build", "compile", "prepare", "prepublishOnly", "prepack", "dist")  # scripts that make what is published
VERSION = re.compile(r"([<>=~^]*)\s*v?(\d+(?:\.\d+){0,2})")
MOST = 200  # letters of a range that are read
TOOL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def manifest(tree: SourceTree, path: bytes = MANIFEST) -> dict[str, Any]:
    """The table of a package.json; empty where there is none, or one that is no JSON object."""
    entry = tree.get(path)
    if entry is None or entry.kind != "file":
        return {}
    try:
        found = json.loads(entry.content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def texts(value: Any) -> dict[str, str]:
    """The entries of a table that are text."""
    return {k: v for k, v in value.items() if isinstance(v, str)} if isinstance(value, Mapping) else {}


def commands(package: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(command, path in the package) of every `bin`, in their order."""
    own, name = package.get("bin"), package.get("name")
    listed = {name.rpartition("/")[2]: own} if isinstance(own, str) and isinstance(name, str) else texts(own)
    for tool, path in listed.items():
        inner = posixpath.normpath(path.replace("\\", "/"))
        if TOOL.fullmatch(tool) and not inner.startswith(("..", "/")) and inner != ".":
            yield tool, inner


def build_script(package: Mapping[str, Any]) -> str:
    """The name of the script that makes what is published; empty where none does."""
    own = texts(package.get("scripts"))
    return next((name for name in BUILDS if own.get(name, "").strip()), "")


def oldest_node(package: Mapping[str, Any]) -> str:
    """The oldest version that `engines.node` admits (`>=18 || ^16.13` is 16.13); empty where it demands none."""
    asked = texts(package.get("engines")).get("node", "")
    lowest = [_lowest(part) for part in asked[:MOST].split("||")]
    return min(lowest, key=numbers) if all(lowest) else ""


def _lowest(comparators: str) -> str:
    """The lower bound of one set of comparators; empty where it has none."""
    found = [text for sign, text in VERSION.findall(comparators) if not sign.startswith("<")]
    return max(found, key=numbers, default="")
