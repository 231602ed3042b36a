"""The text form of a table: invocations by digest, and what each must do. Written here, read by the table programs.

In: cases with expected sides, an optional entry for every other invocation. Out: the bytes of `table.txt`.
Refuses two entries with one digest and different expected sides: no program could tell them apart.

A line is blank-separated words; byte strings are nibbles as the letters a to p, so that no scan for embedded
programs mistakes an expected output for one. Lines: `env NAME...`; `case DIGEST exit|signal N STDERR FILES`, then
`out BYTES`, then one `file KIND MODE PATH CONTENT` per entry of the work directory afterwards; `other exit N 0 0`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from programsmith.payload.verifier.model import Case, Expected, FileEntry

LETTERS = b"abcdefghijklmnop"
READABLE = 0o500  # what the owner needs to look into a directory


def letters(data: bytes) -> bytes:
    """Bytes as two letters each, `-` for none."""
    pairs = (bytes((LETTERS[b >> 4], LETTERS[b & 15])) for b in data)
    return b"".join(pairs) or b"-"


def digest(case: Case, names: Sequence[bytes], base: Mapping[bytes, bytes]) -> str:
    """SHA-256 of what a program can see of its invocation; the table programs compute the same.

    `names` are the environment variables that any case of the table sets, `base` the environment below the case's.
    """
    total = hashlib.sha256()
    for arg in case.argv:
        total.update(b"a" + _counted(arg))
    env = {**base, **dict(case.env)}
    for name in names:
        total.update(b"e" + _counted(name) + (b"=" + _counted(env[name]) if name in env else b"-"))
    total.update(b"i" + _counted(case.stdin))
    for kind, path, content in sorted(_visible(case.files), key=lambda row: row[1]):
        total.update(kind + _counted(path) + _counted(content))
    return total.hexdigest()


def write(
    rows: Sequence[tuple[Case, Expected]],
    base: Mapping[bytes, bytes],
    other: tuple[bytes, int] | None = None,
    among: Iterable[Case] = (),
) -> bytes:
    """The table of `rows`; `other` is (stdout, exit code) of every invocation that it does not list.

    `among` are the cases of a table that the rows are to be put before: the first entry of an invocation counts.

    Raises:
        ValueError: Two rows look the same to a program and want different things.
    """
    names = variables((*among, *(case for case, _ in rows)))
    lines = [b" ".join((b"env", *(letters(n) for n in names)))]
    seen: dict[str, Expected] = {}
    for case, expected in rows:
        key = digest(case, names, base)
        if seen.setdefault(key, expected) != expected:
            raise ValueError(f"case {case.id}: another case looks the same to a program and wants something else")
        lines += _entry(key, expected)
    if other is not None:
        lines += [b"other exit %d 0 0" % other[1], b"out " + letters(other[0])]
    return b"\n".join(lines) + b"\n"


def variables(cases: Iterable[Case]) -> list[bytes]:
    """The environment variables that any of the cases sets."""
    return sorted({name for case in cases for name, _ in case.env})


def _entry(key: str, expected: Expected) -> list[bytes]:
    end = b"exit %d" % expected.exit_code if expected.exit_code is not None else b"signal %d" % (expected.signal or 0)
    marks = (not expected.stderr_empty, expected.files is not None)
    lines = [b"case %s %s %d %d" % (key.encode(), end, *marks), b"out " + letters(expected.stdout)]
    return lines + [_file(entry) for entry in sorted(expected.files or ())]


def _file(e: FileEntry) -> bytes:
    return b"file %s %o %s %s" % (e.kind.encode(), e.mode, letters(e.path), letters(e.content))


def _counted(data: bytes) -> bytes:
    return b"%d:" % len(data) + data


def _visible(files: Sequence[FileEntry]) -> list[tuple[bytes, bytes, bytes]]:
    """What the owner, not being root, sees by walking the work directory: implied folders too, closed ones shut."""
    listed = {f.path: f for f in files}
    shut = {f.path for f in files if f.kind == "dir" and f.mode & READABLE != READABLE}
    rows: dict[bytes, tuple[bytes, bytes, bytes]] = {}
    for f in files:
        parents = _parents(f.path)
        if any(p in shut for p in parents):
            continue
        for p in (p for p in parents if p not in listed):
            rows[p] = (b"d", p, b"")
        readable = f.kind == "link" or (f.kind == "file" and f.mode & 0o400)
        rows[f.path] = (f.kind[:1].encode(), f.path, f.content if readable else b"")
    return list(rows.values())


def _parents(path: bytes) -> list[bytes]:
    parts = path.split(b"/")
    return [b"/".join(parts[:n]) for n in range(1, len(parts))]
