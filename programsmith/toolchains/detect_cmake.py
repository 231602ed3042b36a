"""Commands of a source that CMake or Meson builds, as its build files declare them. Nothing is configured or run."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from programsmith.payload.verifier.model import FileEntry
from programsmith.records.lock import EntryPoint
from programsmith.sources.tree import SourceTree

CMAKE, MESON = "cmake-target", "meson-target"
NOT_A_COMMAND = re.compile(
    rb"(.*/)?(tests?|testing|t|examples?|docs?|bench(marks?)?|third_party|vendor|subprojects)/.*"
)
INSTALLED = re.compile(r"\binstall\s*:\s*true\b")
MOST_BYTES = 1 << 18
MOST_VALUE = 1000  # characters of a word: one that names itself twice would double with each line
COMMENT = re.compile(r"#\[\[.*?\]\]|#[^\n]*", re.DOTALL)
CALL = re.compile(r"(?<!\w)([A-Za-z_]\w*)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
WORD = re.compile(r'"[^"]*"|[^\s;"]+')
REFERENCE = re.compile(r"\$\{(\w+)\}")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
NO_PROGRAM = frozenset({"IMPORTED", "ALIAS", "EXCLUDE_FROM_ALL"})
INSTALL_ENDS = frozenset({"DESTINATION", "RUNTIME", "LIBRARY", "ARCHIVE", "EXPORT", "COMPONENT"})
PARSED = "cmake_parse_arguments"
EXECUTABLE = re.compile(r"\bexecutable\s*\(\s*(?:'([^']+)'|meson\.project_name\(\))((?:[^()]|\([^()]*\))*)\)")
PROJECT = re.compile(r"\bproject\s*\(\s*'([^']+)'")


@dataclass(frozen=True, slots=True)
class Maker:
    """A function or macro that makes an executable of the name in its word number `place`, or behind its word `key`."""

    place: int
    key: str
    installs: bool

    def name(self, words: Sequence[str]) -> str:
        """The name that a call gives; empty where it gives none."""
        place = words.index(self.key) + 1 if self.key in words else self.place
        return words[place] if 0 <= place < len(words) else ""


def cmake_entry_points(tree: SourceTree) -> list[EntryPoint]:
    """Executables that are installed; where none is installed, all that are no tests."""
    found: dict[str, EntryPoint] = {}
    installed: set[str] = set()
    names: dict[str, str] = {}
    values: dict[str, str] = {}
    makers = {name: maker for e in _definitions(tree) for name, maker in _makers(e.content)}
    for file in sorted(_files(tree, b"CMakeLists.txt"), key=lambda e: (e.path.count(b"/"), e.path)):
        folder = posixpath.dirname(file.path.decode("utf-8", "surrogateescape"))
        for command, words in _calls(file.content, values):
            name = _made(command, words, makers)
            if NAME.fullmatch(name):
                where = f"{file.path.decode(errors='replace')} {command}({name})"
                found[name] = _entry(CMAKE, folder, name, where)
                installed.update({name} if command in makers and makers[command].installs else ())
            elif command == "install" and words[:1] == ["TARGETS"]:
                installed.update(_targets(words[1:]))
            elif command == "set_target_properties" and "OUTPUT_NAME" in words[:-1]:
                names[words[0]] = words[words.index("OUTPUT_NAME") + 1]
    chosen = {name: e for name, e in found.items() if name in installed} or found
    return [_named(e, names.get(name, e.tool)) for name, e in chosen.items()]


def _made(command: str, words: Sequence[str], makers: Mapping[str, Maker]) -> str:
    """The name of the executable that a call makes; empty where it makes none."""
    if command in makers:
        return makers[command].name(words)
    return words[0] if command == "add_executable" and words and not NO_PROGRAM & set(words) else ""


def _definitions(tree: SourceTree) -> Iterator[FileEntry]:
    """Files that may define functions: build files, and the modules that they include."""
    yield from _files(tree, b"CMakeLists.txt")
    yield from (e for e in tree.files(b".cmake") if not NOT_A_COMMAND.fullmatch(e.path))


def _makers(content: bytes) -> Iterator[tuple[str, Maker]]:
    """(name, what it does) of every function and macro that makes an executable of a name that it is given."""
    calls = _calls(content, {})
    for command, words in calls:
        if command not in ("function", "macro") or not words:
            continue
        body = []
        for inner, its in calls:
            if inner == f"end{command}":
                break
            body.append((inner, its))
        made = next((its[0] for inner, its in body if inner == "add_executable" and its), "")
        installed = {t for inner, its in body if inner == "install" and "TARGETS" in its[:1] for t in _targets(its[1:])}
        at = _given(REFERENCE.fullmatch(made), words[1:], [its for inner, its in body if inner == PARSED])
        if at is not None:
            yield words[0].lower(), Maker(*at, made in installed)


def _given(made: re.Match[str] | None, parameters: list[str], parsed: list[list[str]]) -> tuple[int, str] | None:
    """(number of the word, keyword before it) from which a function takes the name that it makes; one is empty."""
    if made is None:
        return None
    if made[1] in parameters:
        return parameters.index(made[1]), ""
    for words in parsed:
        prefix, singles = _keywords(words)
        if made[1].startswith(f"{prefix}_") and made[1].removeprefix(f"{prefix}_") in singles:
            return -1, made[1].removeprefix(f"{prefix}_")
    return None


def _keywords(words: list[str]) -> tuple[str, list[str]]:
    """(prefix, keywords of one value) of a call that reads arguments into variables."""
    at = 2 if words[:1] == ["PARSE_ARGV"] else 0
    prefix, singles = [*words[at : at + 1], *words[at + 2 : at + 3], "", ""][:2]
    return prefix, singles.split(";")


def meson_entry_points(tree: SourceTree) -> list[EntryPoint]:
    """Executables that are installed; where none is installed, all that are no tests."""
    found: list[tuple[EntryPoint, bool]] = []
    project = ""
    for file in sorted(_files(tree, b"meson.build"), key=lambda e: (e.path.count(b"/"), e.path)):
        folder = posixpath.dirname(file.path.decode("utf-8", "surrogateescape"))
        text = COMMENT.sub("", file.content[:MOST_BYTES].decode("utf-8", "surrogateescape"))
        project = project or next((m[1] for m in PROJECT.finditer(text)), "")
        for match in EXECUTABLE.finditer(text):
            name = match[1] or project
            if NAME.fullmatch(name):
                where = f"{file.path.decode(errors='replace')} executable({name!r})"
                found.append(
                    (_entry(MESON, folder, name, where), "install: true" in re.sub(r"\s*:\s*", ": ", match[2]))
                )
    return [e for e, kept in found if kept] or [e for e, _ in found]


def _files(tree: SourceTree, name: bytes) -> Iterator[FileEntry]:
    for e in tree.files():
        if posixpath.basename(e.path) == name and not NOT_A_COMMAND.fullmatch(e.path):
            yield e


def _calls(content: bytes, values: dict[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Commands with their words, variables that `project` and `set` gave expanded; conditions count as true."""
    text = COMMENT.sub("", content[:MOST_BYTES].decode("utf-8", "surrogateescape"))
    for match in CALL.finditer(text):
        command = match[1].lower()
        words = [_expanded(word.strip('"'), values) for word in WORD.findall(match[2])]
        if command == "project" and words:
            values.setdefault("CMAKE_PROJECT_NAME", words[0])
            values["PROJECT_NAME"] = words[0]
        elif command == "set" and len(words) > 1:
            values[words[0]] = words[1]
        yield command, words


def _expanded(word: str, values: Mapping[str, str]) -> str:
    """The word with what is known put in, as it stands where that would be longer than any name."""
    made = REFERENCE.sub(lambda m: values.get(m[1], m[0]), word) if len(word) <= MOST_VALUE else word
    return made if len(made) <= MOST_VALUE else word


def _targets(words: list[str]) -> Iterator[str]:
    for word in words:
        if word in INSTALL_ENDS:
            return
        yield word


def _entry(kind: str, folder: str, name: str, how: str) -> EntryPoint:
    return EntryPoint(tool=name, kind=kind, target=posixpath.join(folder, name), how=how)


def _named(entry: EntryPoint, name: str) -> EntryPoint:
    """The entry under the name that its file gets."""
    if name == entry.tool or not NAME.fullmatch(name):
        return entry
    return _entry(entry.kind, posixpath.dirname(entry.target), name, entry.how)
