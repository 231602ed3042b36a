"""Which files a word means.

In: a folder, a `spec=` word. Out: the project's root; spec files in name order. Refused in one line: a folder outside
of any project, a word that names no spec, a directory, two specs of one name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from programsmith.errors import InputError
from programsmith.rulebook.fault import Place, fault, quoted, shown, suggest

SUFFIX = ".yaml"
EXTENDS = re.compile(rb"^extends[ \t]*:[ \t]*[\"']?([^\"'\s#]+)", re.MULTILINE)
NAME = re.compile(rb"^[\"']?name[\"']?[ \t]*:", re.MULTILINE)
MAGIC = re.compile(r"[*?\[]")


def find_project(start: Path) -> Path:
    """The nearest folder at or above `start` that holds specs/ or dodo.py. Raises InputError."""
    for folder in (start, *start.parents):
        if (folder / "specs").is_dir() or (folder / "dodo.py").is_file():
            return folder
    raise fault(Place(str(start)), "", "a folder with specs/ or dodo.py at or above it", "none")


def find_specs(project: Path, word: str | None = None, start: Path | None = None) -> list[Path]:
    """Files of the specs that `word` means: names, paths and globs after one another with commas; all when None.

    Paths are tried from the project's root, then from `start`. Raises InputError.
    """
    if word is None:
        found = _own(project)
        if not found:
            raise fault(Place("specs"), "", "a spec, specs/<name>.yaml", "none")
        return found
    folders = [project, start or project]
    found = [path for part in word.split(",") for path in _meant(part.strip(), project, folders)]
    return _distinct(found, project)


def _own(project: Path) -> list[Path]:
    """Specs of the project: the files in specs/ but for nameless ones that others extend."""
    files = sorted(p for p in (project / "specs").glob(f"*{SUFFIX}") if p.is_file())
    return specs_among({path: path.read_bytes() for path in files})


def specs_among(texts: Mapping[Path, bytes]) -> list[Path]:
    """Those of the files, with their content, that are specs and not only what others extend."""
    bases = {base.resolve() for path, text in texts.items() if (base := base_of(path, text))}
    return [path for path, text in texts.items() if NAME.search(text) or path.resolve() not in bases]


def base_of(path: Path, text: bytes) -> Path | None:
    """What the file extends, as far as its first lines tell without a parser."""
    found = EXTENDS.search(text)
    return path.parent / os.fsdecode(found[1]) if found else None


def _meant(part: str, project: Path, folders: Iterable[Path]) -> list[Path]:
    if not part:
        raise fault(Place("spec="), "", "the name or the file of a spec", "nothing")
    if "\0" in part:
        raise fault(Place("spec="), "", "the name or the file of a spec", quoted(part))
    if MAGIC.search(part):
        return _globbed(part, project, folders)
    for path in _places(part, project, folders):
        if path.is_dir():
            raise fault(Place(f"spec={part}"), "", "a file", f"the directory {shown(path, project)}")
        if path.exists():
            return [path]
    raise _no_such(part, project)


def _places(part: str, project: Path, folders: Iterable[Path]) -> Iterator[Path]:
    if "/" not in part:
        yield project / "specs" / (part.removesuffix(SUFFIX) + SUFFIX)
    for folder in folders:
        yield folder / part


def _globbed(part: str, project: Path, folders: Iterable[Path]) -> list[Path]:
    if "/" not in part:
        pattern = part.removesuffix(SUFFIX) + SUFFIX
        found = [path for path in _own(project) if path.match(pattern)]
    else:
        found = next((hits for folder in folders if (hits := _hits(folder, part))), [])
    if not found:
        raise _no_such(part, project)
    return found


def _hits(folder: Path, pattern: str) -> list[Path]:
    below = Path(pattern).is_absolute()
    root, rest = (Path("/"), pattern.lstrip("/")) if below else (folder, pattern)
    try:
        return sorted(path for path in root.glob(rest) if path.suffix == SUFFIX and path.is_file())
    except (ValueError, NotImplementedError):
        return []


def _no_such(part: str, project: Path) -> InputError:
    names = [path.stem for path in _own(project)]
    hint = suggest(Path(part).stem, names, "the specs are") if names else "there is none in specs/"
    return fault(Place(f"spec={part}"), "", "the name or the file of a spec", "nothing there", hint)


def _distinct(found: Iterable[Path], project: Path) -> list[Path]:
    names: dict[str, Path] = {}
    for path in found:
        other = names.setdefault(path.stem, path)
        if not other.samefile(path):
            both = f"{shown(other, project)} and {shown(path, project)}"
            raise fault(Place(f"spec={path.stem}"), "", "one spec of each name", both, "rename one of them")
    return list(names.values())
