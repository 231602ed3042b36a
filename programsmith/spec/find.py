"""Which files a word means.

In: a folder, a `spec=` word. Out: the project's root; spec files in name order. Refused in one line: a folder outside
of any project, a word that names no spec, a directory, two specs of one name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from programsmith.errors import InputError
from programsmith.rulebook.fault import Place, fault, quoted, shown, suggest
from programsmith.spec import places


def find_project(start: Path) -> Path:
    """The nearest folder at or above `start` that holds specs/ or dodo.py. Raises InputError."""
    root = places.root_of(str(start))
    if root is None:
        raise fault(Place(str(start)), "", "a folder with specs/ or dodo.py at or above it", "none")
    return Path(root)


def find_specs(project: Path, word: str | None = None, start: Path | None = None) -> list[Path]:
    """Files of the specs that `word` means: names, paths and globs after one another with commas; all when None.

    Paths are tried from the project's root, then from `start`. Raises InputError.
    """
    if word is None:
        found = _own(project)
        if not found:
            raise fault(Place("specs"), "", "a spec, specs/<name>.yaml", "none")
        return found
    found = [path for part in word.split(",") for path in _meant(part.strip(), project, start or project)]
    return _distinct(found, project)


def _own(project: Path) -> list[Path]:
    return [Path(path) for path in places.own(str(project))]


def specs_among(texts: Mapping[Path, bytes]) -> list[Path]:
    """Those of the files, with their content, that are specs and not only what others extend."""
    return [Path(path) for path in places.specs_among({str(path): text for path, text in texts.items()})]


def base_of(path: Path, text: bytes) -> Path | None:
    """What the file extends, as far as its first lines tell without a parser."""
    found = places.base_of(str(path), text)
    return Path(found) if found else None


def _meant(part: str, project: Path, start: Path) -> list[Path]:
    if not part:
        raise fault(Place("spec="), "", "the name or the file of a spec", "nothing")
    if "\0" in part:
        raise fault(Place("spec="), "", "the name or the file of a spec", quoted(part))
    if places.MAGIC.search(part):
        return _globbed(part, project, (project, start))
    for path in map(Path, places.candidates(part, str(project), str(start))):
        if path.is_dir():
            raise fault(Place(f"spec={part}"), "", "a file", f"the directory {shown(path, project)}")
        if path.exists():
            return [path]
    raise _no_such(part, project)


def _globbed(part: str, project: Path, folders: Iterable[Path]) -> list[Path]:
    if "/" not in part:
        pattern = part.removesuffix(places.SUFFIX) + places.SUFFIX
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
        return sorted(path for path in root.glob(rest) if path.suffix == places.SUFFIX and path.is_file())
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
