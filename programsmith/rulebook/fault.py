"""One line per mistake: file, line, field, wanted, got, and the nearest name.

In: where a value stands and what was wanted. Out: an InputError whose text is one printable line.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from programsmith.errors import InputError

LONGEST = 60  # characters of a wrong value that a message repeats
NEAR = 0.6  # similarity from which a name is worth suggesting


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: the file as shown, its line from 1 (0: the whole file), the scalar as it was written."""

    file: str
    line: int = 0
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


def fault(place: Place, field: str, wanted: str, got: str, hint: str = "") -> InputError:
    """The error for one wrong value; an empty `field` is the file itself."""
    where = f"{place}: {field}" if field else str(place)
    return InputError(printable(f"{where}: wanted {wanted}, got {got}" + (f"; {hint}" if hint else "")))


def quoted(text: str) -> str:
    """User text in back-quotes, cut to a readable length."""
    return f"`{text if len(text) <= LONGEST else text[:LONGEST] + '…'}`"


def printable(text: str) -> str:
    """The text on one line, every other character that cannot be printed escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The name that `word` was probably meant to be, by difflib's ratio without regard to case."""
    lowered = {name.lower(): name for name in names}
    found = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=NEAR)
    return lowered[found[0]] if found else None


def suggest(word: str, names: Iterable[str], among: str) -> str:
    """A hint: the nearest name, else every name that fits (`among` says what they are)."""
    known = list(names)
    near = nearest(word, known)
    return f"did you mean `{near}`?" if near else f"{among}: {', '.join(known)}"


def shown(path: Path, project: Path | None) -> str:
    """The path as messages name it: from the project root where it lies below, else whole."""
    whole = Path(path)
    if project is not None and whole.is_relative_to(project):
        return whole.relative_to(project).as_posix()
    return whole.as_posix()
