"""The rules that every source passes before it is locked, whatever it came from.

In: entries as found. Out: entries with plain modes, and a note for each thing handled by name. Refused by name: Git LFS
pointers, submodules unless the spec decides, a path that is both file and folder, nothing left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from programsmith.errors import InputError
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.origin import RefusedError, show, show_some

LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
LFS_POINTER_SIZE = 1024


def settle(
    entries: Iterable[FileEntry], keep_at_root: Iterable[bytes], subdir: str, leave: Sequence[str] = ()
) -> tuple[list[FileEntry], list[str]]:
    """Entries below `subdir` after every rule, and the notes.

    `keep_at_root` are the names of licence files, which travel along from the folders above `subdir`. `leave` are paths
    below it that are taken out. Raises RefusedError, and InputError where `subdir` or one of them is not there.
    """
    found = _without(_below(list(entries), set(keep_at_root), subdir), leave)
    _no_clash(found)
    _no_lfs(found)
    kept, notes = _links(found)
    notes += [*_case_notes(kept), *(f"left_out: {path}" for path in leave)]
    if not any(e.kind == "file" for e in kept):
        raise RefusedError("empty", "the source holds no file")
    return [_plain(e) for e in kept], notes


def _plain(entry: FileEntry) -> FileEntry:
    mode = 0o777 if entry.kind == "link" else 0o755 if entry.mode & 0o100 else 0o644
    return FileEntry(entry.path, entry.kind, mode, entry.content)


def _below(entries: list[FileEntry], keep: set[bytes], subdir: str) -> list[FileEntry]:
    prefix = subdir.strip("/").encode()
    if not prefix:
        return entries
    if any(part in {b"", b".", b".."} for part in prefix.split(b"/")):
        raise InputError(f"source.subdir: wanted a folder inside the source, got {subdir!r}; name it without . and ..")
    inside = {
        e.path[len(prefix) + 1 :]: FileEntry(e.path[len(prefix) + 1 :], e.kind, e.mode, e.content)
        for e in entries
        if e.path.startswith(prefix + b"/")
    }
    if not inside:
        raise InputError(f"source.subdir: the source has no folder {subdir!r}; name one that it has")
    for e in sorted(entries, key=lambda e: -e.path.count(b"/")):
        folder, _, name = e.path.rpartition(b"/")
        above = not folder or prefix.startswith(folder + b"/")
        if above and e.kind == "file" and name in keep:
            inside.setdefault(name, FileEntry(name, e.kind, e.mode, e.content))
    return list(inside.values())


def _without(entries: list[FileEntry], leave: Iterable[str]) -> list[FileEntry]:
    """Entries without those at and below the paths of `leave`: what is not in the source cannot get anywhere."""
    for path in leave:
        gone = path.strip("/").encode()
        kept = [e for e in entries if e.path != gone and not e.path.startswith(gone + b"/")]
        if len(kept) == len(entries):
            raise InputError(f"source.leave: the source has no {path!r}; name a file or folder that it has")
        entries = kept
    return entries


def _no_clash(entries: list[FileEntry]) -> None:
    paths: set[bytes] = set()
    for e in entries:
        if e.path in paths:
            raise RefusedError("bad_tree", f"{show(e.path)} is there twice")
        paths.add(e.path)
    for e in entries:
        for folder in parents(e.path):
            if folder in paths:
                raise RefusedError("bad_tree", f"{show(folder)} is both a file and a folder")


def parents(path: bytes) -> list[bytes]:
    """Every folder that `path` lies in, outermost first."""
    parts = path.split(b"/")
    return [b"/".join(parts[:n]) for n in range(1, len(parts))]


def _no_lfs(entries: list[FileEntry]) -> None:
    pointers = [
        e.path
        for e in entries
        if e.kind == "file" and len(e.content) < LFS_POINTER_SIZE and e.content.startswith(LFS_POINTER)
    ]
    if pointers:
        raise RefusedError(
            "lfs_pointer", f"Git LFS pointers stand for content that is not here: {show_some(sorted(pointers))}"
        )


def _case_notes(entries: list[FileEntry]) -> list[str]:
    folded: dict[bytes, list[bytes]] = defaultdict(list)
    for e in entries:
        folded[e.path.lower()].append(e.path)
    return [f"case_collision: {show_some(sorted(p))}" for p in folded.values() if len(p) > 1]


def _links(entries: list[FileEntry]) -> tuple[list[FileEntry], list[str]]:
    tree = LinkTree(entries)
    kept, notes = [], []
    for e in entries:
        fault = tree.fault(e.path) if e.kind == "link" else None
        if fault is None or fault == "dangling":
            kept.append(e)
        if fault is not None:
            word = "kept" if fault == "dangling" else "dropped"
            notes.append(f"symlink_{word}: {show(e.path)} -> {show(e.content)} ({fault})")
    return kept, notes


class LinkTree:
    """Resolves symlinks inside a list of entries, without a file system."""

    MOST_HOPS = 40

    def __init__(self, entries: Iterable[FileEntry]) -> None:
        self._links: dict[bytes, bytes] = {}
        self._there: set[bytes] = {b""}
        for e in entries:
            self._there.update([e.path, *parents(e.path)])
            if e.kind == "link":
                self._links[e.path] = e.content

    def fault(self, path: bytes) -> str | None:
        """Why the link at `path` leads nowhere good: `outside`, `loop`, `dangling`; None where it is sound."""
        end = self.resolve(path)
        if not isinstance(end, bytes):
            return end[0]
        if path.startswith(end + b"/") or not end:
            return "loop"
        return None if end in self._there else "dangling"

    def resolve(self, path: bytes) -> bytes | tuple[str]:
        """The path that `path` ends at through every link, or a one-word fault (`outside`, `loop`) in a tuple."""
        todo, done, hops = path.split(b"/")[::-1], list[bytes](), 0
        while todo:
            part = todo.pop()
            if part in {b"", b"."}:
                continue
            if part == b"..":
                if not done:
                    return ("outside",)
                done.pop()
                continue
            done.append(part)
            target = self._links.get(b"/".join(done))
            if target is None:
                continue
            hops += 1
            if target.startswith(b"/"):
                return ("outside",)
            if hops > self.MOST_HOPS:
                return ("loop",)
            done.pop()
            todo.extend(target.split(b"/")[::-1])
        return b"/".join(done)
