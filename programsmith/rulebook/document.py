"""A YAML file as plain values, each with the line that it stands on.

In: a path. Out: a Document. Refused, in one line each: what is not a regular file, not UTF-8, empty, larger than
MAX_BYTES, nested deeper than MAX_DEPTH or larger than MAX_VALUES once its aliases are expanded; unprintable
characters, tabs as indentation, tags, several documents, repeated keys, keys that are not text, aliases of
themselves, numbers that are not finite. Plain scalars follow YAML 1.2's core schema: `no` and `1:30` are text.
"""

from __future__ import annotations

import functools
import math
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from programsmith.errors import InputError
from programsmith.rulebook.fault import Place, fault, quoted

MAX_BYTES = 1 << 20
MAX_DEPTH = 40
MAX_VALUES = 20_000
MAX_DIGITS = 18

Keys = tuple[str | int, ...]

UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
INTEGER = re.compile(r"[-+]?[0-9]+\Z")
NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
NOT_FINITE = re.compile(r"([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))\Z")


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """The content of one file, which nobody changes.

    `places` maps the keys that lead to a value to where it stands; () is the root.
    """

    file: str
    values: dict[str, Any]
    places: dict[Keys, Place]


@dataclass(slots=True)
class _Node:
    """A value before its aliases are expanded: a scalar, or entries of a mapping or list."""

    kind: str
    line: int
    scalar: Any = None
    text: str = ""
    entries: list[tuple[str | int, int, _Node]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    open: bool = True
    key: tuple[str, int] | None = None  # the key whose value comes next


def read_document(path: Path, file: str) -> Document:
    """The YAML mapping at `path`, called `file` in messages. Raises InputError."""
    return _document(_text(path, file), file)


@functools.lru_cache(maxsize=128)
def _document(text: str, file: str) -> Document:
    """The document of a text: the same rules are read for every spec, and nobody changes a document."""
    root = _Composer(file).root(text)
    if root is None or (root.kind == "scalar" and root.scalar is None):
        raise fault(Place(file), "", "a mapping of fields", "an empty file")
    if root.kind != "mapping":
        got = "a list" if root.kind == "list" else quoted(root.text)
        raise fault(Place(file, root.line), "", "a mapping of fields", got)
    places: dict[Keys, Place] = {(): Place(file, root.line)}
    return Document(file, _expand(root, (), places, file), places)


def read_bytes(path: Path, file: str) -> bytes:
    """The bytes of a regular file of at most MAX_BYTES. Raises InputError."""
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            raise fault(Place(file), "", "a file", "a directory")
        if not stat.S_ISREG(found.st_mode):
            raise fault(Place(file), "", "a regular file", "a device, pipe or socket")
        if found.st_size > MAX_BYTES:
            raise fault(Place(file), "", f"at most {MAX_BYTES} bytes", f"{found.st_size}")
        return path.read_bytes()
    except FileNotFoundError:
        raise fault(Place(file), "", "a file", "nothing there") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise fault(Place(file), "", "a readable file", f"`{reason}`") from None


def _text(path: Path, file: str) -> str:
    raw = read_bytes(path, file)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise fault(Place(file, line), "", "UTF-8 text", f"the byte 0x{raw[error.start]:02x}") from None
    bad = UNPRINTABLE.search(text)
    if bad:
        line = text.count("\n", 0, bad.start()) + 1
        raise fault(Place(file, line), "", "printable text", f"the character U+{ord(bad.group()):04X}")
    return text


class _Composer:
    """Events of the YAML parser to nodes, without recursion, so no nesting exhausts the stack."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._stack: list[_Node] = []
        self._anchors: dict[str, _Node] = {}
        self._root: _Node | None = None

    def root(self, text: str) -> _Node | None:
        """The one document's root, None for an empty file."""
        import yaml

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            for event in yaml.parse(text, Loader=loader):
                self._take(event)
        except yaml.MarkedYAMLError as error:
            raise _syntax(error, text, self._file) from None
        return self._root

    def _take(self, event: Any) -> None:
        line = event.start_mark.line + 1
        match type(event).__name__:
            case "ScalarEvent":
                self._untagged(event, line)
                self._add(self._scalar(event, line), event.anchor)
            case "MappingStartEvent" | "SequenceStartEvent" as kind:
                self._untagged(event, line)
                self._start(_Node("mapping" if kind == "MappingStartEvent" else "list", line), event.anchor)
            case "MappingEndEvent" | "SequenceEndEvent":
                self._stack.pop().open = False
            case "AliasEvent":
                self._add(self._anchored(event.anchor, line), None)
            case "DocumentStartEvent" if self._root is not None:
                raise fault(Place(self._file, line), "", "one document", "a second one")
            case _:
                pass

    def _start(self, node: _Node, anchor: str | None) -> None:
        if len(self._stack) >= MAX_DEPTH:
            raise fault(Place(self._file, node.line), "", f"at most {MAX_DEPTH} levels", "a deeper nesting")
        self._add(node, anchor)
        self._stack.append(node)

    def _untagged(self, event: Any, line: int) -> None:
        if event.tag is not None:
            raise fault(Place(self._file, line), "", "plain YAML without tags", f"the tag {quoted(event.tag)}")

    def _scalar(self, event: Any, line: int) -> _Node:
        value = event.value
        if not event.style:
            value = _plain(event.value, Place(self._file, line))
        return _Node("scalar", line, value, event.value, open=False)

    def _anchored(self, name: str, line: int) -> _Node:
        node = self._anchors.get(name)
        if node is None:
            raise fault(Place(self._file, line), "", "an alias of an anchor above", quoted("*" + name))
        if node.open:
            raise fault(Place(self._file, line), "", "an alias that ends", f"{quoted('*' + name)} inside `&{name}`")
        return node

    def _add(self, node: _Node, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._stack:
            self._root = node
            return
        parent = self._stack[-1]
        if parent.kind == "list":
            parent.entries.append((len(parent.entries), node.line, node))
        elif parent.key is None:
            parent.key = self._key(parent, node)
        else:
            (name, line), parent.key = parent.key, None
            parent.entries.append((name, line, node))

    def _key(self, parent: _Node, node: _Node) -> tuple[str, int]:
        place = Place(self._file, node.line)
        if node.kind != "scalar" or not isinstance(node.scalar, str):
            got = f"a {node.kind}" if node.kind != "scalar" else quoted(node.text)
            raise fault(place, "", "keys that are text", got)
        if node.scalar in parent.names:
            raise fault(place, node.scalar, "each key once", "a repeated key")
        parent.names.add(node.scalar)
        return node.scalar, node.line


def _plain(text: str, place: Place) -> Any:
    if text in WORDS:
        return WORDS[text]
    if INTEGER.match(text):
        if len(text) > MAX_DIGITS:
            raise fault(place, "", f"a number of at most {MAX_DIGITS} digits", quoted(text))
        return int(text)
    if NOT_FINITE.match(text) or (NUMBER.match(text) and not math.isfinite(float(text))):
        raise fault(place, "", "a finite number", quoted(text))
    return float(text) if NUMBER.match(text) else text


def _expand(node: _Node, keys: Keys, places: dict[Keys, Place], file: str) -> Any:
    if node.kind == "scalar":
        return node.scalar
    for name, line, child in node.entries:
        if len(places) >= MAX_VALUES:
            raise fault(Place(file, line), "", f"at most {MAX_VALUES} values with aliases expanded", "more")
        if len(keys) >= MAX_DEPTH:
            raise fault(Place(file, line), "", f"at most {MAX_DEPTH} levels", "a deeper nesting")
        places[(*keys, name)] = Place(file, line, child.text)
    if node.kind == "list":
        return [_expand(child, (*keys, name), places, file) for name, _, child in node.entries]
    return {str(name): _expand(child, (*keys, name), places, file) for name, _, child in node.entries}


def _syntax(error: Any, text: str, file: str) -> InputError:
    mark = error.problem_mark or error.context_mark
    line = text.splitlines()[mark.line] if mark.line < len(text.splitlines()) else ""
    place = Place(file, mark.line + 1)
    if "\t" in line[: mark.column + 1]:
        return fault(place, "", "spaces as indentation", "a tab")
    return fault(place, "", "YAML", f"a fault: {error.problem}")


def dotted(keys: Keys) -> str:
    """The keys as messages write them: `rollouts[0].agent`."""
    return "".join(_parts(keys)).lstrip(".")


def _parts(keys: Keys) -> Iterator[str]:
    for key in keys:
        yield f"[{key}]" if isinstance(key, int) else f".{key}"
