"""Cases as the bundle holds them: the verifier's records, and folders that a person reads.

In: goldens of the pool. Out: graded cases; per public case a folder `cases/<id>/` with `cmd` (a line for sh, bytes
exact), `stdin`, `files/`, `expected_stdout`, `expected_exit`, `expected_stderr` (its class), `expected_files/` (the
work directory afterwards, absent where the case leaves it as it was), `compare` (streams that are not compared exactly,
and how). What a folder cannot carry (links, names or modes that are not plain, files that a runner or a builder would
take for its own) is named in `only_in_public_jsonl`; the machine form is always complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from programsmith.bundle.tree import is_inert, is_plain, plain
from programsmith.payload.verifier.compare import STREAM_DEFAULTS, choice
from programsmith.payload.verifier.environment import ORACLE
from programsmith.payload.verifier.model import Expected, FileEntry, GradedCase
from programsmith.records.golden import Golden

PLAIN_MODES = (0o644, 0o755)


def graded(golden: Golden, own: Callable[[str], bool]) -> GradedCase:
    """The graded case of a golden. `own` tells what the oracle's language itself starts: nothing to borrow."""
    seen = {p for p in golden.exec_seen if not p.startswith(ORACLE + "/") and not own(p)}
    return GradedCase(
        case=golden.case,
        expected=golden.expected,
        family=golden.family,
        cpu_seconds=golden.cpu_seconds,
        compare=tuple(sorted(choice(golden.compare).items())),
        exec_allowed=tuple(sorted(seen)),
    )


def in_words(cases: Iterable[GradedCase]) -> dict[str, str]:
    """For a reader: how each stream is compared, and how else in cases of which the original's own runs differ."""
    found: dict[str, set[str]] = {stream: set() for stream in STREAM_DEFAULTS}
    for one in cases:
        for stream, text in choice(one.compare).items():
            found[stream].add(text)
    return {
        stream: " or, in cases with a file `compare`, ".join((kind, *sorted(found[stream] - {kind})))
        for stream, kind in STREAM_DEFAULTS.items()
    }


def folders(tool: str, cases: Iterable[GradedCase]) -> Iterator[FileEntry]:
    """Files of every case's folder, relative to the folder that holds them all."""
    for one in cases:
        for entry in _folder(tool, one):
            yield FileEntry(one.case.id.encode() + b"/" + entry.path, entry.kind, entry.mode, entry.content)


def quote(word: bytes) -> bytes:
    """A word that sh reads back byte for byte."""
    return b"'" + word.replace(b"'", b"'\\''") + b"'"


def _folder(tool: str, one: GradedCase) -> Iterator[FileEntry]:
    case, expected = one.case, one.expected
    words = [*(name + b"=" + quote(value) for name, value in case.env), tool.encode(), *map(quote, case.argv)]
    yield FileEntry(b"cmd", content=b" ".join(words) + b"\n")
    if case.stdin:
        yield FileEntry(b"stdin", content=case.stdin)
    yield FileEntry(b"expected_stdout", content=expected.stdout)
    yield FileEntry(b"expected_exit", content=_end(expected))
    loose = [(s, text) for s, text in sorted(choice(one.compare).items()) if text != STREAM_DEFAULTS[s]]
    if loose:
        yield FileEntry(b"compare", content="".join(f"{s}: {text}\n" for s, text in loose).encode("ascii"))
    yield FileEntry(b"expected_stderr", content=b"empty\n" if expected.stderr_empty else b"not empty\n")
    odd: list[bytes] = []
    for name, files in ((b"files", case.files), (b"expected_files", expected.files or ())):
        for entry in files:
            inner = FileEntry(name + b"/" + entry.path, entry.kind, entry.mode, entry.content)
            if _fits(entry):
                yield inner
            elif not _is_implied(entry, files):
                odd.append(plain(inner.path))
    if odd:
        yield FileEntry(b"only_in_public_jsonl", content=b"\n".join(sorted(odd)) + b"\n")


def _fits(entry: FileEntry) -> bool:
    return entry.kind == "file" and entry.mode in PLAIN_MODES and is_plain(entry.path) and is_inert(entry.path)


def _is_implied(entry: FileEntry, files: Iterable[FileEntry]) -> bool:
    """Whether a folder shows itself by a file that lies in it."""
    return entry.kind == "dir" and any(_fits(f) and f.path.startswith(entry.path + b"/") for f in files)


def _end(expected: Expected) -> bytes:
    return b"signal %d\n" % expected.signal if expected.signal is not None else b"%d\n" % (expected.exit_code or 0)
