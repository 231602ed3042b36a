"""Rule files by name: packaged ones, overridden file by file by the project's rules/.

In: a project root. Out: a rule's mapping, or a prompt's text, validated, and a digest of its content.
Refused, in one line: a file that is no rule, YAML faults, values that the rule's schema does not allow.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from programsmith.payload.verifier.model import canonical
from programsmith.rulebook.document import Document, read_bytes, read_document
from programsmith.rulebook.fault import Place, fault, shown, suggest
from programsmith.rulebook.schema import check, filled


def packaged_rules() -> Path:
    """The folder of rules that come with the package: inside a wheel, else beside the package in a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "_rules"
    return inside if inside.is_dir() else package.parent / "rules"


@functools.cache
def packaged_schema(name: str) -> dict[str, Any]:
    """The JSON Schema `name` (`spec`, or a rule's name), references to its `$defs` replaced by what they mean.

    Schemas belong to the code and cannot be overridden.
    """
    return schema_of((packaged_rules() / "schema" / f"{name}.json").read_bytes())


def schema_of(text: bytes) -> dict[str, Any]:
    """The JSON Schema in `text`, references to its `$defs` replaced by what they mean. Raises ValueError."""
    schema: dict[str, Any] = json.loads(text)
    inlined: dict[str, Any] = _inlined(schema, schema.pop("$defs", {}))
    return inlined


def _inlined(schema: Any, defs: Mapping[str, Any]) -> Any:
    match schema:
        case {"$ref": str(ref), **beside}:
            return {**_inlined(defs[ref.removeprefix("#/$defs/")], defs), **beside}
        case dict():
            return {k: _inlined(v, defs) for k, v in schema.items()}
        case list():
            return [_inlined(v, defs) for v in schema]
        case _:
            return schema


class Rulebook:
    """The rules that hold for one project. Reads a file when it is first asked for, and only once."""

    def __init__(self, project: Path | None) -> None:
        self._project = project
        self._documents: dict[str, Document] = {}
        self._checked: dict[str, Any] = {}
        self._digests: dict[str, str] = {}

    def load(self, name: str) -> Any:
        """Content of rule `name`: a mapping with defaults; of `prompts/x.md` its text, of `x.json` its value.

        Raises InputError.
        """
        if name not in self._checked:
            self._checked[name] = self._mapping(name) if name == stem(name) else self._whole(name)
        return self._checked[name]

    def digest(self, name: str) -> str:
        """SHA-256 of the rule's content: comments and formatting of YAML change nothing. Raises InputError.

        Whatever depends on a rule asks for this first, so a project's own is checked here, before anything runs.
        """
        if name not in self._digests:
            if self._own is not None and self.path(name).is_relative_to(self._own):
                self.load(name)
            content = self._document(name).values if name == stem(name) else self._whole(name)
            self._digests[name] = hashlib.sha256(canonical(content)).hexdigest()
        return self._digests[name]

    def path(self, name: str) -> Path:
        """The file that rule `name` is read from: the project's where it has one. Raises InputError."""
        file = f"{name}.yaml" if name == stem(name) else name
        packaged = packaged_rules() / file
        own = self._own / file if self._own else None
        if own is not None and own.exists():
            return own
        if not packaged.exists():
            raise fault(Place(f"rules/{file}"), "", "a rule", "nothing there")
        return packaged

    @functools.cached_property
    def _own(self) -> Path | None:
        """The project's rules folder, refused when it holds a file that overrides nothing."""
        if self._project is None or not (self._project / "rules").is_dir():
            return None
        own, packaged = self._project / "rules", packaged_rules()
        if own.resolve() == packaged.resolve():
            return None
        known = sorted(p.stem for p in packaged.glob("*.yaml"))
        for file in sorted(own.glob("*.y*ml")):
            if file.suffix != ".yaml" or file.stem not in known:
                hint = suggest(file.stem, known, "the rules are")
                raise fault(Place(shown(file, self._project)), "", "the name of a rule, `<rule>.yaml`", "no rule", hint)
        return own

    def _document(self, name: str) -> Document:
        if name not in self._documents:
            path = self.path(name)
            self._documents[name] = read_document(path, shown(path, self._project))
        return self._documents[name]

    def _mapping(self, name: str) -> Any:
        return _checked(name, self._document(name))

    def _whole(self, name: str) -> Any:
        """The text of a prompt, the value of a JSON file."""
        path = self.path(name)
        file = shown(path, self._project)
        try:
            text = read_bytes(path, file).decode()
            return json.loads(text) if name.endswith(".json") else text
        except UnicodeDecodeError as error:
            raise fault(Place(file), "", "UTF-8 text", f"the byte 0x{error.object[error.start]:02x}") from None
        except json.JSONDecodeError as error:
            raise fault(Place(file, error.lineno), "", "JSON", f"a fault: {error.msg}") from None


@functools.lru_cache(maxsize=64)
def _checked(name: str, document: Document) -> Any:
    """A rule's values with defaults, which nobody changes: every spec asks for the same. Raises InputError."""
    schema = packaged_schema(name)
    check(document, schema)
    return filled(schema, document.values)


def stem(name: str) -> str:
    """A rule's name without the suffix that only files other than YAML carry in it."""
    return name.rpartition(".")[0] if name.endswith((".md", ".json")) else name
