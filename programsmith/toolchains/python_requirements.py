"""What a Python source says that it needs, to run and for its tests: from its manifests, which are read and never run.

In: a source. Out: requirements as pip takes them. Poetry's own notation is turned into that of PEP 508; where it cannot
be (a folder, a repository, a URL), what comes out is no plain requirement, so that whoever fetches refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from programsmith.sources.manifests import read_ini, read_toml, setup_call, table
from programsmith.sources.tree import SourceTree

_GROUPS = ("test", "tests", "testing", "dev")
_LISTS = (b"requirements-test.txt", b"requirements-tests.txt", b"test-requirements.txt", b"tests/requirements.txt",
          b"requirements-dev.txt", b"requirements_dev.txt", b"dev-requirements.txt")  # fmt: skip
_BOUND = re.compile(r"([\^~=]|[<>=!~]=|[<>]|===|) ?([0-9A-Za-z.*+-]{1,64})")
_TERM = re.compile(r" ?, ?| (?=[\^~<>=!])")
_ELSEWHERE = ("git", "path", "url", "file", "source")


def requirements(source: SourceTree) -> Iterator[str]:
    """To run: pyproject.toml, else setup.cfg, else the literals of setup.py, else requirements.txt."""
    whole = read_toml(_content(source, b"pyproject.toml"))
    project, poetry = table(whole, "project"), table(whole, "tool", "poetry")
    listed = read_ini(_content(source, b"setup.cfg")).get("options", "install_requires", fallback="")
    called = setup_call(_content(source, b"setup.py")).get("install_requires")
    if "dependencies" in project:
        yield from _words(project["dependencies"])
    elif "dependencies" in poetry:
        yield from _of_poetry(table(poetry, "dependencies"))
    elif listed.strip():
        yield from _lines(listed)
    elif called:
        yield from _lines(called) if isinstance(called, str) else _words(called)
    else:
        yield from _lines(_content(source, b"requirements.txt").decode("utf-8", "replace"))


def requirements_of_tests(source: SourceTree) -> Iterator[str]:
    """For its tests: extras and groups named so in pyproject.toml, and lists of requirements by their usual names."""
    whole = read_toml(_content(source, b"pyproject.toml"))
    poetry = table(whole, "tool", "poetry")
    for found in (table(whole, "project", "optional-dependencies"), table(whole, "dependency-groups")):
        for name in _GROUPS:
            yield from _words(found.get(name))
    for name in _GROUPS:
        yield from _of_poetry(table(poetry, "group", name, "dependencies"))
    yield from _of_poetry(table(poetry, "dev-dependencies"))
    for path in _LISTS:
        listed = _lines(_content(source, path).decode("utf-8", "replace"))
        yield from (line for line in listed if not line.startswith("-"))


def _content(source: SourceTree, path: bytes) -> bytes:
    entry = source.get(path)
    return entry.content if entry and entry.kind == "file" else b""


def _words(found: Any) -> Iterator[str]:
    yield from (_spaced(w) for w in found if isinstance(w, str)) if isinstance(found, list | tuple) else ()


def _lines(text: str) -> Iterator[str]:
    lines = (_spaced(line.split("#", 1)[0]) for line in text.splitlines())
    yield from (line for line in lines if line)


def _spaced(text: str) -> str:
    """The text with one space for each run of them: no pattern then tries each length of a long one."""
    return " ".join(text.split())


def _of_poetry(found: dict[str, Any]) -> Iterator[str]:
    for name, terms in found.items():
        for one in terms if isinstance(terms, list) else [terms]:
            told = one if isinstance(one, dict) else {"version": one}
            if name != "python" and not told.get("optional"):
                yield _requirement(name, told)


def _requirement(name: str, told: dict[str, Any]) -> str:
    """One dependency of Poetry's in the notation of PEP 508."""
    elsewhere = next((kind for kind in _ELSEWHERE if kind in told), None)
    if elsewhere:
        return f"{name} @ {told[elsewhere]}"
    extras = ",".join(_words(told.get("extras")))
    version, python = (str(told.get(key, "*")) for key in ("version", "python"))
    try:
        bounds = ",".join(op + at for op, at in _bounds(version))
        of_python = [] if "|" in python else list(_bounds(python))  # alternatives are no one marker
    except ValueError:
        return f"{name} @ {_spaced(version)[:100]}"
    markers = [
        f"{'python_full_version' if at.count('.') > 1 else 'python_version'} {op} '{at}'" for op, at in of_python
    ]
    markers += [f"({_spaced(str(told['markers']))})"] if "markers" in told else []
    return name + (f"[{extras}]" if extras else "") + bounds + ("; " + " and ".join(markers) if markers else "")


def _bounds(terms: str) -> Iterator[tuple[str, str]]:
    """(operator, version) of each bound; of alternatives the last, which Poetry's users write newest.

    Raises ValueError on what is none.
    """
    for term in _TERM.split(_spaced(terms.rsplit("|", 1)[-1])):
        found = _BOUND.fullmatch(term.strip())
        if not found:
            raise ValueError(term[:100])
        if found[2] != "*":
            yield from _bound(found[1], found[2])


def _bound(operator: str, version: str) -> Iterator[tuple[str, str]]:
    if operator not in {"^", "~"}:
        yield "==" if operator in {"", "="} else operator, version
        return
    parts = [int(n) for n in re.findall(r"\d+", version.partition("-")[0])][:3] or [0]
    kept = min(len(parts), 2) if operator == "~" else next((i + 1 for i, n in enumerate(parts) if n), len(parts))
    above = [*parts[: kept - 1], parts[kept - 1] + 1]
    yield ">=", version
    yield "<", ".".join(map(str, above))
