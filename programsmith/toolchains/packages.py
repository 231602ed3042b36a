"""Files of host packages, for views: a package database's lists, closed over dependencies, folded into few paths.

In: package names. Out: absolute paths. Refuses a package that is not installed, naming the command that installs it.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from programsmith.errors import PrerequisiteError

DATABASE = Path("/usr/bin/dpkg-query")
ALTERNATIVES = Path("/etc/alternatives")


def database_exists() -> bool:
    """Whether this host can say which files a package owns."""
    return DATABASE.exists()


@dataclass(frozen=True, slots=True)
class _Package:
    depends: tuple[tuple[str, ...], ...]  # each a list of alternatives
    provides: tuple[str, ...]


def closure(names: Sequence[str], stop: Iterable[str] = ()) -> tuple[str, ...]:
    """`names` and the installed packages that they depend on, apart from `stop` and what only it needs.

    Raises PrerequisiteError where one of `names` is not installed.
    """
    installed = _installed()
    missing = sorted(set(names) - set(installed))
    if missing:
        raise PrerequisiteError(
            f"packages {', '.join(missing)} are not installed; run: apt-get install -y {' '.join(missing)}"
        )
    providers = {p: name for name in sorted(installed) for p in installed[name].provides}
    seen, queue = set(stop), list(names)
    found: list[str] = []
    while queue:
        name = queue.pop(0)
        if name in seen:
            continue
        seen.add(name)
        found.append(name)
        for alternatives in installed[name].depends:
            known = [a if a in installed else providers.get(a) for a in alternatives]
            queue.extend(k for k in known[:1] if k)
    return tuple(sorted(found))


def matching(patterns: Iterable[str]) -> tuple[str, ...]:
    """Names of installed packages that fit one of the shell patterns."""
    return tuple(sorted(n for n in _installed() if any(fnmatchcase(n, p) for p in patterns)))


@lru_cache(maxsize=1)
def _installed() -> dict[str, _Package]:
    form = "${Package}\t${db:Status-Status}\t${Pre-Depends}, ${Depends}\t${Provides}\n"
    text = subprocess.run([str(DATABASE), "-W", "-f", form], capture_output=True, check=True).stdout.decode()
    found: dict[str, _Package] = {}
    for line in text.splitlines():
        name, status, depends, provides = line.split("\t")
        if status == "installed":
            found[name] = _Package(tuple(_alternatives(depends)), tuple(w for (w,) in _alternatives(provides)))
    return found


def _alternatives(text: str) -> Iterator[tuple[str, ...]]:
    """Names of `a (>= 1) | b, c:any` as ((a, b), (c,))."""
    for part in text.split(","):
        names = tuple(re.split(r"[ (:]", option.strip())[0] for option in part.split("|") if option.strip())
        if names:
            yield names


@lru_cache(maxsize=32)
def files_of(packages: tuple[str, ...]) -> tuple[str, ...]:
    """Paths of files and links that the packages own and the host has; merged-usr aliases resolved. Sorted."""
    if not packages:
        return ()
    listed = subprocess.run([str(DATABASE), "-L", *packages], capture_output=True, check=True).stdout
    found: set[str] = set()
    for line in listed.splitlines():
        path = os.fsdecode(line)
        if path.startswith("/") and path != "/.":
            real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
            if os.path.isfile(real) or (os.path.islink(real) and os.path.dirname(real) != "/"):
                found.add(real)
    return tuple(sorted(found))


def alternatives(files: Iterable[str]) -> tuple[str, ...]:
    """Names in /usr/bin that the alternatives system leads to one of `files`; no package owns them."""
    have = set(files)
    names = sorted(os.listdir(ALTERNATIVES)) if ALTERNATIVES.is_dir() else []
    return tuple(path for n in names if os.path.realpath(path := f"/usr/bin/{n}") in have and path not in have)


def prefer_archives(files: Sequence[str]) -> tuple[str, ...]:
    """Without `libx.so` where `libx.a` is listed too: what is linked then needs nothing from the host to run."""
    have = set(files)
    return tuple(f for f in files if not (f.endswith(".so") and f[:-3] + ".a" in have))


def fold(files: Iterable[str]) -> tuple[str, ...]:
    """The fewest paths that show exactly `files`: a folder stands for its files where it holds nothing else.

    A folder among `files` stands for all that it holds.
    """
    listed = set(files)
    children: dict[str, set[str]] = {}
    for file in listed:
        path = file
        while path != "/":
            parent = os.path.dirname(path)
            children.setdefault(parent, set()).add(path)
            path = parent
    for folder in listed & set(children):
        del children[folder]
    return tuple(_folded("/", children)) if children else ()


def _folded(folder: str, children: dict[str, set[str]]) -> Iterator[str]:
    for path in sorted(children.get(folder, ())):
        if path not in children or (path != "/usr" and _whole(path, children)):
            yield path
        else:
            yield from _folded(path, children)


def _whole(folder: str, children: dict[str, set[str]]) -> bool:
    """Whether everything that the host has below `folder` is listed."""
    here = {os.path.join(folder, name) for name in os.listdir(folder)}
    if here != children[folder]:
        return False
    return all(_whole(path, children) for path in here if path in children)
