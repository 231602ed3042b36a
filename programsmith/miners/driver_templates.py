"""How the driver of a folder calls the tool: command lines of makefiles and scripts with one varying word.

A line such as `$(TOOL) -x $< > $@` or `do ./tool -x "$f" | diff - $f.ok` becomes words with a hole for the input, or
words and an input that goes to stdin. What the shell would have to compute beyond that one word is no template.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from programsmith.miners.base import Skip, folder_of, name_of
from programsmith.miners.fixtures import ancestors
from programsmith.miners.shell import Lookup, simple_command
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.tree import SourceTree

_HOLE = b"\x01"
_PARTS = re.compile(rb";|&&|\|\|?|>+")
_LEADS = (b"do ", b"then ", b"if ", b"! ", b"@", b"-", b"$(", b"(", b"time ")
_SUFFIXES = (b".sh", b".bash", b".mk", b".am")
_NAMES = (b"Makefile", b"GNUmakefile", b"makefile", b"REGRESS", b"runtests", b"run-tests", b"check", b"test")
_MAX_DRIVER, _MOST = 64 << 10, 6


@dataclass(frozen=True, slots=True)
class Template:
    """Words before and after the input; `stdin` says that the input is fed instead of named."""

    before: tuple[bytes, ...]
    after: tuple[bytes, ...]
    stdin: bool

    @property
    def name(self) -> str:
        """A name that tells templates of one folder apart."""
        words = b" ".join((*self.before, b"<" if self.stdin else b"FILE", *self.after))
        return "driver " + words.decode("utf-8", "backslashreplace")

    def argv(self, at: bytes) -> tuple[bytes, ...]:
        """The words for an input that lies at `at`."""
        return (*self.before, *self.after) if self.stdin else (*self.before, at, *self.after)


def driver_templates(tree: SourceTree, folder: bytes, tool: str) -> list[Template]:
    """Templates of the drivers beside a folder and above it, the nearest first, each once."""
    near = ancestors(folder)[:3]
    drivers = [e for e in tree.files() if folder_of(e.path) in near and _is_driver(e)]
    drivers.sort(key=lambda e: (near.index(folder_of(e.path)), e.path))
    found = {t: None for e in drivers for t in _templates(e.content, tool)}
    return list(found)[:_MOST]


def _is_driver(entry: FileEntry) -> bool:
    name = name_of(entry.path)
    return len(entry.content) <= _MAX_DRIVER and (name in _NAMES or name.endswith(_SUFFIXES))


def _templates(text: bytes, tool: str) -> Iterator[Template]:
    want = tool.encode()

    def lookup(name: bytes) -> bytes | None:
        return want if name.lower().endswith(want.lower()) else _HOLE

    for line in text.replace(b"\\\n", b" ").split(b"\n"):
        if line.lstrip().startswith(b"#"):
            continue
        plain = line.replace(b"$$", b"$").replace(b"$<", b"${in}")
        plain = re.sub(rb"\$\((\w+)\)", rb"${\1}", plain)
        for part in _PARTS.split(plain):
            template = _template(_bare(part), tool, lookup)
            if template is not None:
                yield template


def _bare(part: bytes) -> bytes:
    """Without what stands before a command in a loop, a condition or a recipe."""
    part = part.strip()
    while part.startswith(_LEADS):
        part = next(part.removeprefix(lead) for lead in _LEADS if part.startswith(lead)).strip()
    return part


def _template(part: bytes, tool: str, lookup: Lookup) -> Template | None:
    try:
        call = simple_command(part, tool, lookup)
    except Skip:
        return None
    holes = [at for at, word in enumerate(call.argv) if _HOLE in word]
    fed = call.stdin_path is not None and _HOLE in call.stdin_path
    if len(holes) + fed != 1 or call.env or any(call.argv[at].startswith(b"-") for at in holes):
        return None
    at = holes[0] if holes else len(call.argv)
    return Template(call.argv[:at], call.argv[at + 1 :], stdin=fed)
