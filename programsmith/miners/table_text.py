"""Text of a YAML, JSON or TOML file in; plain lists, rows and strings out. Scalars stay the text that the file holds.

Anchors and merges are followed under a budget of nodes, so a bomb or a loop ends in a counted refusal.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Hashable
from typing import Any

from programsmith.miners.base import MineLimits
from programsmith.payload.verifier.model import FileEntry

_MAX_DEPTH = 60
_NULL = "tag:yaml.org,2002:null"


class TableError(Exception):
    """A file that is no safe table. The message is the word that it is counted under."""


class Row(dict[str, Any]):
    """A mapping with the line on which it starts (0 where the format does not say)."""

    def __init__(self, values: Any = (), line: int = 0) -> None:
        super().__init__(values)
        self.line = line


def read_table(entry: FileEntry, limits: MineLimits) -> Any:
    """The value of a table file. Raises TableError."""
    if len(entry.content) > limits.table_bytes:
        raise TableError("table_too_large")
    try:
        text = entry.content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise TableError("not_utf8") from fault
    try:
        if entry.path.endswith(b".toml"):
            return _toml(text)
        return _json(text) if entry.path.endswith(b".json") else _yaml(text, limits)
    except RecursionError as fault:
        raise TableError("table_too_deep") from fault


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_row, parse_int=str, parse_float=str, parse_constant=str)
    except ValueError as fault:
        raise TableError("bad_table") from fault


def _toml(text: str) -> Any:
    try:
        return _texts(tomllib.loads(text, parse_float=str))
    except ValueError as fault:
        raise TableError("bad_table") from fault


def _texts(value: Any) -> Any:
    """Mappings as rows and every scalar as text: numbers as they are written in base ten, truth in lower case."""
    match value:
        case dict():
            return Row((key, _texts(child)) for key, child in value.items())
        case list():
            return [_texts(child) for child in value]
        case bool():
            return str(value).lower()
        case _:
            return str(value)


def _row(pairs: list[tuple[str, Any]]) -> Row:
    return Row(pairs)


def _yaml(text: str, limits: MineLimits) -> Any:
    import yaml

    try:
        documents = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except (yaml.YAMLError, ValueError) as fault:
        raise TableError("bad_table") from fault
    reader = _NodeReader(limits.table_nodes)
    return [reader.value(d, 0) for d in documents]


class _NodeReader:
    """Turns composed nodes into values, counting every visit."""

    def __init__(self, budget: int) -> None:
        self._left = budget

    def value(self, node: Any, depth: int) -> Any:
        import yaml

        self._left -= 1
        if self._left < 0 or depth > _MAX_DEPTH:
            raise TableError("table_too_large")
        if isinstance(node, yaml.ScalarNode):
            return None if node.tag == _NULL else _clean(node.value)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(child, depth + 1) for child in node.value]
        return self._mapping(node, depth)

    def _mapping(self, node: Any, depth: int) -> Row:
        own, merged = Row(line=node.start_mark.line + 1), Row()
        for key_node, value_node in node.value:
            key = self.value(key_node, depth + 1)
            value = self.value(value_node, depth + 1)
            if key == "<<":
                for part in value if isinstance(value, list) else [value]:
                    merged.update({k: v for k, v in part.items() if k not in merged} if isinstance(part, dict) else {})
            elif isinstance(key, Hashable) and isinstance(key, str):
                own[key] = value
        return Row({**merged, **own}, own.line)


def _clean(text: str) -> str:
    """Refuse text that has no bytes (lone surrogates)."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as fault:
        raise TableError("not_text") from fault
    return text
