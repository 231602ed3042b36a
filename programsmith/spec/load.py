"""A spec file to a Spec.

In: a path, the project's root. Out: a Spec whose `extends` chain is merged and whose defaults are filled in. Refused,
each in one line of file, line, field, wanted, got and nearest name: whatever the YAML reader, the schema, the
checks across fields (checks.py, entries.py) and the table of what the engine does not run (unavailable.py) refuse.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from programsmith.rulebook.document import Document, Keys, read_document
from programsmith.rulebook.fault import Place, fault, quoted, shown
from programsmith.rulebook.load import packaged_schema
from programsmith.rulebook.schema import Schema, check, filled
from programsmith.spec.checks import check_fields
from programsmith.spec.entries import check_entries
from programsmith.spec.harnesses import check_harnesses
from programsmith.spec.model import Spec
from programsmith.spec.unavailable import check_available, offering

MAX_CHAIN = 10
SUFFIX = ".yaml"


def load_spec(path: Path, project: Path) -> Spec:
    """The spec at `path`, which the engine can build. Raises InputError."""
    spec = read_spec(path, project)
    check_available(spec)
    check_harnesses(spec, project)
    return spec


def read_spec(path: Path, project: Path) -> Spec:
    """The spec at `path`, whether or not the engine can build all that it asks for. Raises InputError."""
    file = shown(path, project)
    if path.suffix != SUFFIX and not path.is_dir():
        raise fault(Place(file), "", f"a file called <name>{SUFFIX}", quoted(path.name))
    whole, files = _chain(path, project, ())
    schema = packaged_schema("spec")
    check(whole, _offering())
    spec = Spec(
        name=whole.values["name"], path=path, values=filled(schema, whole.values), files=files, places=whole.places
    )
    check_fields(spec, project)
    check_entries(spec, project)
    return spec


@functools.cache
def _offering() -> Schema:
    return offering(packaged_schema("spec"))


def read_values(path: Path, project: Path, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Every field of the spec at `path`, by `schema` and no other check. Raises InputError."""
    whole, _ = _chain(path, project, ())
    check(whole, schema)
    values: dict[str, Any] = filled(schema, whole.values)
    return values


def _chain(path: Path, project: Path, below: tuple[Path, ...]) -> tuple[Document, tuple[Path, ...]]:
    """The document at `path` over what it extends, and the files of the chain, this one first."""
    own = read_document(path, shown(path, project))
    base = own.values.get("extends")
    if not isinstance(base, str) or not base:
        return own, (path,)
    at = Path(os.path.normpath(path.parent / base))
    place, seen = own.places["extends",], (*below, path)
    if at.resolve() in [p.resolve() for p in seen]:
        loop = " extends ".join(shown(p, project) for p in (*seen, at))
        raise fault(place, "extends", "a chain that ends", f"a cycle: {loop}")
    if len(seen) >= MAX_CHAIN:
        raise fault(place, "extends", f"a chain of at most {MAX_CHAIN} files", "a longer one")
    if not at.is_file():
        raise fault(place, "extends", "the path of a YAML file", f"{quoted(base)}, where no file is")
    under, files = _chain(at, project, seen)
    merged = _merge(under, own)
    return dataclasses.replace(merged, values={**merged.values, "extends": base}), (path, *files)


def _merge(under: Document, over: Document) -> Document:
    """Fields of `over` on top of `under`: mappings merge at every depth, anything else replaces."""
    places = dict(under.places)
    values = _merged(under.values, over.values, (), places)
    return Document(over.file, values, {**places, **over.places})


def _merged(under: Any, over: Any, keys: Keys, places: dict[Keys, Place]) -> Any:
    if isinstance(under, dict) and isinstance(over, dict):
        both = {k: _merged(under[k], v, (*keys, k), places) if k in under else v for k, v in over.items()}
        return {**under, **both}
    for gone in [k for k in places if k[: len(keys)] == keys]:
        del places[gone]
    return over
