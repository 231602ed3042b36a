"""A spec as the rest of the program sees it: checked, with every default filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from programsmith.rulebook.document import Keys
from programsmith.rulebook.fault import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One spec. `values` holds every field of rules/schema/spec.json; `files` are it and what it extends, child first.

    `places` maps the keys that lead to a written value to where it stands.
    """

    name: str
    path: Path
    values: dict[str, Any]
    files: tuple[Path, ...]
    places: Mapping[Keys, Place] = field(default_factory=dict, repr=False, compare=False)

    def place(self, *keys: str | int) -> Place:
        """Where the value at `keys` is written; where it is a default, the nearest mapping around it."""
        return next(self.places[keys[:n]] for n in range(len(keys), -1, -1) if keys[:n] in self.places)
