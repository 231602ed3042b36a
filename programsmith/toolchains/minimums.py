"""Versions that a source declares to need, against those that the host has. Refuses `toolchain_too_old`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

from programsmith.records.outcome import Word
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.javascript_manifest import manifest, oldest_node
from programsmith.toolchains.model import Minimum
from programsmith.toolchains.recipe import BuildRefusedError, BuildRequest
from programsmith.toolchains.versions import TooOld, at_least, satisfies
from programsmith.toolchains.views import program_version, toolchain_version


def refuse_too_old(source: SourceTree, request: BuildRequest) -> None:
    """Raise BuildRefusedError where the source wants a newer toolchain than there is, naming both versions."""
    for fault in (*_declared(source, request), *_python(source, request), *_javascript(source, request)):
        raise refusal(fault)


def too_old(log: str, request: BuildRequest) -> TooOld | None:
    """What the log of a failed build says that the toolchain is too old for."""
    for sign in request.toolchain.old_signs:
        found = re.search(sign.pattern, log)
        if found:
            return TooOld(sign.what, found[1], program_version(sign.command), "the build")
    return None


def refusal(fault: TooOld) -> BuildRefusedError:
    """The refusal for a demand that this host does not meet."""
    return BuildRefusedError(
        Word.TOOLCHAIN_TOO_OLD,
        f"{fault.where} wants {fault.what} {fault.wanted}, this host has {fault.got or 'none'}",
        {"what": fault.what, "wanted": fault.wanted, "got": fault.got, "where": fault.where},
    )


def _declared(source: SourceTree, request: BuildRequest) -> Iterator[TooOld]:
    """Minimums by pattern. A tool that is absent is the build's business: what it made may be in the source."""
    for minimum in request.toolchain.minimums:
        for path, wanted in _statements(source, minimum):
            got = program_version(minimum.command)
            if got and not at_least(got, wanted):
                yield TooOld(minimum.what, wanted, got, path)


def _statements(source: SourceTree, minimum: Minimum) -> Iterator[tuple[str, str]]:
    for path in minimum.files:
        entry = source.get(path.encode())
        found = re.search(minimum.pattern.encode(), entry.content) if entry else None
        if found:
            yield path, found[1].decode("ascii", "replace")


def _python(source: SourceTree, request: BuildRequest) -> Iterator[TooOld]:
    if request.toolchain.language != "python":
        return
    got = toolchain_version(request.toolchain)
    for path, wanted in _requires_python(source):
        if not satisfies(got, wanted):
            yield TooOld("python", wanted, got, path)


def _requires_python(source: SourceTree) -> Iterator[tuple[str, str]]:
    pyproject = source.get(b"pyproject.toml")
    if pyproject:
        try:
            stated = tomllib.loads(pyproject.content.decode("utf-8")).get("project", {}).get("requires-python")
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            stated = None
        if isinstance(stated, str):
            yield "pyproject.toml", stated
    for path in (b"setup.cfg", b"setup.py"):
        entry = source.get(path)
        found = re.search(rb"python_requires\s*=\s*[\"']?([<>=!~][^\"'\n]*)", entry.content) if entry else None
        if found:
            yield path.decode(), found[1].decode("ascii", "replace")


def _javascript(source: SourceTree, request: BuildRequest) -> Iterator[TooOld]:
    if request.toolchain.language == "javascript":
        wanted, got = oldest_node(manifest(source)), toolchain_version(request.toolchain)
        if wanted and not at_least(got, wanted):
            yield TooOld("node", wanted, got, "package.json engines")
