"""What package manifests say: licence claims, project names. Parsed as data, never run; a broken one says nothing."""

from __future__ import annotations

import ast
import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

from programsmith.payload.verifier.model import FileEntry

OSI = "License ::"
NO_CLAIM = re.compile(r"see licen[cs]e in .*|licen[cs]e(\.\w+)?|file: .*|dynamic|", re.IGNORECASE)


def claims(entry: FileEntry) -> list[str]:
    """Licence claims of the manifest at `entry`, as written; none where it is no manifest."""
    reader = READERS.get(entry.path.rpartition(b"/")[2])
    if reader is None or entry.kind != "file":
        return []
    found = dict.fromkeys(c.strip() for c in reader(entry.content) if isinstance(c, str))
    return [c for c in found if not NO_CLAIM.fullmatch(c)]


def read_toml(content: bytes) -> dict[str, Any]:
    """A TOML table; empty where it cannot be read."""
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):  # also a number of more digits than Python reads
        return {}


def table(value: Any, *keys: str) -> dict[str, Any]:
    """The nested table at `keys`; empty where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def read_ini(content: bytes) -> configparser.RawConfigParser:
    """An INI file; empty where it cannot be read."""
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(content.decode("utf-8"))
    except (configparser.Error, UnicodeDecodeError):
        return configparser.RawConfigParser()
    return parser


def setup_call(content: bytes) -> dict[str, Any]:
    """The literal keyword arguments of the `setup(...)` call of a setup.py; nothing is executed."""
    try:
        module = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "setup":
            return {k.arg: value for k in node.keywords if k.arg and (value := _literal(k.value)) is not None}
    return {}


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _classified(classifiers: Any) -> Iterator[str]:
    for line in classifiers if isinstance(classifiers, list | tuple) else []:
        if isinstance(line, str) and line.startswith(OSI):
            last = line.split("::")[-1].strip()
            if last != "OSI Approved":
                yield last


def _pyproject(content: bytes) -> Iterator[Any]:
    whole = read_toml(content)
    project = table(whole, "project")
    licence = project.get("license")
    yield licence.get("text") if isinstance(licence, dict) else licence
    yield table(whole, "tool", "poetry").get("license")
    yield from _classified(project.get("classifiers"))


def _setup_cfg(content: bytes) -> Iterator[Any]:
    parser = read_ini(content)
    for key in ("license", "licence"):
        yield parser.get("metadata", key, fallback=None)
    yield from _classified(parser.get("metadata", "classifiers", fallback="").splitlines())
    yield from _classified(parser.get("metadata", "classifier", fallback="").splitlines())


def _setup_py(content: bytes) -> Iterator[Any]:
    call = setup_call(content)
    yield call.get("license")
    yield call.get("licence")
    yield from _classified(call.get("classifiers"))


def _package_table(content: bytes) -> dict[str, Any]:
    try:
        package = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return package if isinstance(package, dict) else {}


def _package_json(content: bytes) -> Iterator[Any]:
    package = _package_table(content)
    many = package.get("licenses")
    for licence in [package.get("license"), *(many if isinstance(many, list) else [])]:
        yield licence.get("type") if isinstance(licence, dict) else licence


def _cargo(content: bytes) -> Iterator[Any]:
    yield table(read_toml(content), "package").get("license")


READERS: dict[bytes, Callable[[bytes], Iterator[Any]]] = {
    b"pyproject.toml": _pyproject,
    b"setup.cfg": _setup_cfg,
    b"setup.py": _setup_py,
    b"package.json": _package_json,
    b"Cargo.toml": _cargo,
}


def project_names(entries: dict[bytes, FileEntry]) -> list[str]:
    """What the manifests at the root call the project; `entries` are the root's files by name."""
    names: list[Any] = []
    if b"pyproject.toml" in entries:
        whole = read_toml(entries[b"pyproject.toml"].content)
        names += [table(whole, "project").get("name"), table(whole, "tool", "poetry").get("name")]
    if b"setup.cfg" in entries:
        names.append(read_ini(entries[b"setup.cfg"].content).get("metadata", "name", fallback=None))
    if b"setup.py" in entries:
        names.append(setup_call(entries[b"setup.py"].content).get("name"))
    if b"package.json" in entries:
        names.append(_package_table(entries[b"package.json"].content).get("name"))
    for name in (b"configure.ac", b"configure.in"):
        if name in entries:
            hit = re.search(rb"AC_INIT\(\s*\[?\s*([A-Za-z0-9_.+-]+)", entries[name].content)
            names.append(hit[1].decode("ascii") if hit else None)
    return [n for n in names if isinstance(n, str) and n]
