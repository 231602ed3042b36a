"""Documentation of an oracle: what its source says, what it says itself, what its licences demand.

In: the source, the built tree's manual pages, a launcher. Out: entries of docs.tar, and the facts that its help states.
Text is redacted of upstream's addresses; nothing else of it is changed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from programsmith.errors import InfraError
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.lock import Lock
from programsmith.sources.licences import is_licence_name
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.help_text import HELPFUL, options, subcommands

Call = Callable[[Sequence[bytes]], Result]
VERSION = re.compile(rb"\d+(?:\.\d+)+")
VERSION_LINES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the oracle says of itself. `files` lie below help/."""

    files: tuple[FileEntry, ...]
    options: tuple[str, ...]
    subcommands: tuple[str, ...]
    version: str


def written(source: SourceTree, rule: Mapping[str, Any]) -> list[FileEntry]:
    """Documents of the source at their paths: named ones at the root, text in documentation folders, manual pages."""
    man = re.compile(rule["man_pattern"])
    names, folders, suffixes = rule["names"], tuple(rule["folders"]), tuple(rule["suffixes"])

    def wanted(path: str) -> bool:
        folder, _, name = path.rpartition("/")
        if not folder and any(fnmatchcase(name, n) for n in names):
            return True
        documents = path.partition("/")[0] in folders and bool(folder)
        return bool(man.search(name)) or (documents and name.endswith(suffixes))

    found = [e for e in source.files() if wanted(os.fsdecode(e.path)) and _is_text(e.content)]
    return list(_within(found, rule["max_file_bytes"], rule["max_bytes"]))


def manuals(entries: Iterable[FileEntry], tool: str, rule: Mapping[str, Any]) -> list[FileEntry]:
    """The tool's own manual pages among `entries`."""
    page = re.compile(re.escape(tool) + rule["man_pattern"])
    return [e for e in entries if page.match(os.fsdecode(os.path.basename(e.path)))]


def generated(installed: Iterable[FileEntry], pages: Iterable[FileEntry]) -> list[FileEntry]:
    """The tool's manual pages that the installation made, where the source has none of the same content."""
    made = {e.path for e in installed}
    known = {e.content for e in pages if e.path not in made}
    return [FileEntry(e.path, "file", 0o644, e.content) for e in pages if e.path in made and e.content not in known]


def _within(entries: Iterable[FileEntry], each: int, total: int) -> Iterator[FileEntry]:
    """Entries in order of depth and path while the sum of their sizes fits."""
    for entry in sorted(entries, key=lambda e: (e.path.count(b"/"), e.path)):
        if len(entry.content) <= min(each, total):
            total -= len(entry.content)
            yield FileEntry(entry.path, "file", 0o644, entry.content)


def _is_text(content: bytes) -> bool:
    return b"\0" not in content


def licences(source: SourceTree, lock: Lock, vendor: Iterable[FileEntry]) -> list[FileEntry]:
    """Licence texts of the source and of its dependencies below licences/, and what governs the whole."""
    stated = {fact.path.encode("utf-8", "surrogateescape") for fact in lock.licences if fact.how == "text"}
    own = [e for e in source.files() if e.path in stated or is_licence_name(os.path.basename(e.path))]
    others = [e for e in vendor if is_licence_name(os.path.basename(e.path))]
    lines = [f"The program is distributed under: {lock.licence}", ""]
    lines += sorted({f"{fact.path}: {fact.expression} ({fact.how})" for fact in lock.licences})
    attribution = FileEntry(
        b"licences/ATTRIBUTION", "file", 0o644, ("\n".join(lines) + "\n").encode("utf-8", "replace")
    )
    texts = [FileEntry(b"licences/" + e.path, "file", 0o644, e.content) for e in (*own, *others)]
    return [attribution, *texts]


def said(call: Call, rule: Mapping[str, Any], manuals: Iterable[FileEntry]) -> Said:
    """Ask the oracle for help, its subcommands' help and its version. Raises InfraError where a launch fails."""
    texts: dict[tuple[str, ...], bytes] = {}
    for words in rule["help_calls"]:
        _keep(texts, words, _ask(call, words), HELPFUL)
    main = b"\n".join(texts.values())
    commands = subcommands(main)
    for command in commands[: rule["max_subcommands"]]:
        for form in rule["subcommand_help"]:
            words = [w.format(subcommand=command) for w in form]
            _keep(texts, words, _ask(call, words), HELPFUL)
    version = ""
    for words in rule["version_calls"]:
        result = _ask(call, words)
        head = b"\n".join((result.stdout + result.stderr).splitlines()[:VERSION_LINES])
        found = VERSION.search(head)
        if result.exit_code == 0 and found and tuple(words) not in texts:
            _keep(texts, words, result, VERSION)
            version = version or found[0].decode("ascii")
    known = {o for text in texts.values() for o in options(text)}
    known |= {o for page in manuals for o in options(page.content, manual=True)}
    files = [FileEntry(_name(words), "file", 0o644, text) for words, text in texts.items()]
    return Said(files=tuple(files), options=tuple(sorted(known)), subcommands=commands, version=version)


def _ask(call: Call, words: Sequence[str]) -> Result:
    result = call([w.encode() for w in words])
    if result.fault:
        raise InfraError(f"asking the oracle for {' '.join(words)}: {result.fault}")
    return result


def _keep(texts: dict[tuple[str, ...], bytes], words: Sequence[str], result: Result, sign: re.Pattern[bytes]) -> None:
    """Keep an answer that shows the sign of being one; most programs answer on one of the two streams."""
    text = result.stdout + result.stderr
    if result.started and not result.limits_hit and sign.search(text) and text not in texts.values():
        texts[tuple(words)] = text


def _name(words: Sequence[str]) -> bytes:
    return f"help/{'_'.join(words)}.txt".encode()
