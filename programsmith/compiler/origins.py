"""What stands behind the digests of a block's causes, so that a person can be told what in them changed.

In: steps that ran, the spec's values, the blocks. Out: cache/<name>/origins.json: block to the values of its spec
fields, the digests of its modules and of its payload's files. It decides nothing, and what does not fit the digest that
it is asked about says nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programsmith.compiler.paths import Folder, part
from programsmith.compiler.plan import Step
from programsmith.compiler.signature import file_digest
from programsmith.compiler.slices import Blocks, content, field, json_digest
from programsmith.compiler.stamp import LEFT_BEHIND
from programsmith.records import codec

CODE, PAYLOAD, SPEC = "code", "payload/", "spec."
DIGITS = 16  # of a part's digest: they tell parts apart, and decide nothing
SHOWN = 40  # characters of a value in a message


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A cause of many files: its digest, and those of its parts by name."""

    digest: str
    parts: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a block's causes were: `spec` maps a field to its value, `files` a cause to its parts."""

    spec: dict[str, Any]
    files: dict[str, Parts]


def origin_of(step: Step, values: Mapping[str, Any], blocks: Blocks) -> Origin:
    """What the causes of `step` are now."""
    modules = {name: digest[:DIGITS] for name, digest in blocks.digests(step.block).items()}
    files = {CODE: Parts(digest=blocks.digest(step.block), parts=modules)}
    for name in step.payload:
        folder = blocks.payload(name)
        files[PAYLOAD + name] = Parts(digest=content(folder), parts=dict(_files(folder)))
    return Origin(spec={path: field(values, path) for path in step.spec}, files=files)


def note(folder: Folder, steps: Iterable[Step], values: Mapping[str, Any], blocks: Blocks) -> None:
    """Keep what the causes of these steps are. Writes only where that is another than before."""
    before = origins(folder)
    now = before | {step.block: origin_of(step, values, blocks) for step in steps}
    if now != before:
        made = part(folder.origins)
        codec.dump(made, now)
        os.replace(made, folder.origins)


def origins(folder: Folder) -> dict[str, Origin]:
    """Block to what its causes were; empty where nothing was kept."""
    try:
        return codec.load(folder.origins, dict[str, Origin])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def differences(cause: str, digest: str | None, before: Origin, now: Origin) -> list[str]:
    """What differs in a cause that had `digest`: fields with both values, or the names of parts."""
    if cause.startswith(SPEC):
        path = cause.removeprefix(SPEC)
        if path in before.spec and json_digest(before.spec[path]) == digest:
            found = leaves(before.spec[path], now.spec.get(path), path)
            return [f"{name}: {_brief(new)}, was {_brief(was)}" for name, was, new in found]
        return []
    was, new = before.files.get(cause), now.files.get(cause)
    if was is None or new is None or was.digest != digest:
        return []
    names = sorted(was.parts.keys() | new.parts.keys())
    return [name for name in names if was.parts.get(name) != new.parts.get(name)]


def leaves(was: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Dotted path and both values of everything below `path` that differs; lists differ by place."""
    if isinstance(was, dict) and isinstance(new, dict):
        for name in sorted(was.keys() | new.keys()):
            yield from leaves(was.get(name), new.get(name), f"{path}.{name}".lstrip("."))
    elif isinstance(was, list) and isinstance(new, list) and len(was) == len(new):
        for i, (old, young) in enumerate(zip(was, new, strict=True)):
            yield from leaves(old, young, f"{path}[{i}]")
    elif was != new:
        yield path, was, new


def _brief(value: Any) -> str:
    text = "none" if value is None else value if isinstance(value, str) else _plain(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _plain(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case list():
            return f"[{', '.join(_plain(v) if not isinstance(v, str) else v for v in value)}]"
        case dict():
            return f"{{{', '.join(f'{k}: {_brief(v)}' for k, v in value.items() if v is not None)}}}"
        case _:
            return str(value)


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - {os.fsdecode(name) for name in LEFT_BEHIND})
        for name in sorted(names):
            path = Path(root, name)
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(folder).as_posix(), file_digest(os.fsencode(path))[:DIGITS]
