"""Sample corpora: files below examples, samples or test data that are there to be read by the tool.

They state no command and no output. Every documented option is tried on samples, once with the file as operand and
once as stdin where no option is given; the oracle says what comes out. A mode gets a bounded number of samples, spread
over the corpus by name, so that no mode crowds out the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from programsmith.miners.base import MineContext, folder_of, name_of, show
from programsmith.miners.fixtures import laid
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import MinedCase
from programsmith.sources.tree import SourceTree

_FOLDERS = frozenset(
    {b"examples", b"example", b"samples", b"sample", b"testdata", b"fixtures", b"test-data", b"corpus"}
)
_NO_SAMPLE = (b".md", b".sh", b".go", b".rs", b".py", b".c", b".h", b".snap", b".toml", b".yml", b".expected", b".out")
_HARMFUL = ("interactive", "edit", "watch", "serve", "daemon", "output", "version", "help")
_MIN_FILES, _PER_MODE, _PLAIN, _MODES = 4, 4, 40, 60
_MAX_SAMPLE = 64 << 10


class Samples:
    """The miner."""

    name = "samples"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Every mode on samples of every suffix of which a corpus has at least four files."""
        for _, corpus in sorted(_corpora(tree).items()):
            if len(corpus) < _MIN_FILES:
                context.skipped["small_corpus"] += len(corpus)
                continue
            for entry in _spread(corpus, "", _PLAIN):
                yield _found(entry, Case(argv=(), stdin=entry.content), context)
                yield _found(entry, _operand(entry), context)
            for option in _modes(context.options):
                for entry in _spread(corpus, option, _PER_MODE):
                    yield _found(entry, _operand(entry, option.encode()), context)


def _corpora(tree: SourceTree) -> dict[bytes, list[FileEntry]]:
    """Samples by suffix."""
    found: dict[bytes, list[FileEntry]] = {}
    for entry in tree.files():
        name = name_of(entry.path)
        suffix = name[name.rfind(b".") :] if b"." in name[1:] else b""
        inside = _FOLDERS & set(folder_of(entry.path).split(b"/"))
        if inside and suffix and suffix not in _NO_SAMPLE and 0 < len(entry.content) <= _MAX_SAMPLE:
            found.setdefault(suffix, []).append(entry)
    return found


def _spread(corpus: Sequence[FileEntry], mode: str, count: int) -> list[FileEntry]:
    """The samples that a mode gets: by a hash of both, so that each mode has its own."""

    def place(entry: FileEntry) -> bytes:
        return hashlib.sha256(mode.encode() + b"\0" + entry.path).digest()

    return sorted(sorted(corpus, key=place)[:count])


def _modes(options: Sequence[str]) -> list[str]:
    """Documented options that can be tried on a file: those that only print, as far as their names tell."""
    return sorted(o for o in options if not any(word in o for word in _HARMFUL))[:_MODES]


def _operand(entry: FileEntry, *words: bytes) -> Case:
    at = name_of(entry.path)
    return Case(argv=(*words, at), files=(laid(entry, at),))


def _found(entry: FileEntry, case: Case, context: MineContext) -> MinedCase:
    return MinedCase(case=case, provenance=context.provenance(Samples.name, entry), group=show(entry.path))
