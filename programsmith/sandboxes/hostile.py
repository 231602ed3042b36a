"""Reading, writing and removing trees that foreign code has touched: by descriptor, beneath, never through a link.

In: a folder of ours and plain path parts. Out: entries. Every walk is iterative; depth, names and modes that foreign
code chose cannot break it, and nothing but regular files is ever opened.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from programsmith.errors import InfraError, InputError
from programsmith.payload.verifier.model import FileEntry

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DEPTH = 256
_BLOCK = 512  # bytes, of st_blocks
_Stack = list[tuple[int, bytes, Iterator[os.DirEntry[str]]]]


@contextlib.contextmanager
def opened(top: Path, parts: Sequence[str | bytes], *, make: bool = False, owner: int | None = None) -> Iterator[int]:
    """Descriptor of the folder at `parts` below `top`; made (for `owner`) with `make`. Raises InputError for a link."""
    at = os.open(top, _FOLDER)
    try:
        for part in parts:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=at)
                    _give(part, at, owner)
            following = os.open(part, _FOLDER, dir_fd=at)
            os.close(at)
            at = following
        yield at
    except (FileNotFoundError, NotADirectoryError) as fault:
        raise InputError(f"{fault.filename!r} below the workspace: wanted a folder, got {fault.strerror}") from fault
    finally:
        os.close(at)


def _give(name: str | bytes, at: int, owner: int | None) -> None:
    if owner is not None:
        os.chown(name, owner, owner, dir_fd=at, follow_symlinks=False)


def write_entry(top: int, entry: FileEntry, owner: int | None) -> None:
    """Write one entry below the open folder `top`, replacing what is there."""
    *parents, name = entry.path.split(b"/")
    at = os.dup(top)
    try:
        for part in parents:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=at)
                _give(part, at, owner)
            following = os.open(part, _FOLDER, dir_fd=at)
            os.close(at)
            at = following
        _write_one(at, name, entry)
        _give(name, at, owner)
    except OSError as fault:
        raise InfraError(f"writing {entry.path!r} into the workspace: {fault.strerror}") from fault
    finally:
        os.close(at)


def _write_one(at: int, name: bytes, entry: FileEntry) -> None:
    if entry.kind == "dir":
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o755, dir_fd=at)
        return
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=at)
    if entry.kind == "link":
        os.symlink(entry.content, name, dir_fd=at)
        return
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=at)
    with open(fd, "wb") as out:
        out.write(entry.content)
        os.fchmod(fd, entry.mode & 0o7777)


def read_tree(top: int, *, max_files: int, max_bytes: int, cut: bool = False) -> Iterator[FileEntry]:
    """Entries below the open folder `top`. Raises InputError past a cap or for what cannot be read.

    With `cut` the reading ends with the entry that passes a cap, of which no more than one byte too many is read, and
    does not enter folders at the greatest depth.
    """
    files = size = 0
    try:
        for at, prefix, item in _walk(top, strict=not cut):
            files += 1
            name = os.fsencode(item.name)
            entry = _read_one(at, name, prefix + name, max_bytes - size)
            size += len(entry.content)
            past = files > max_files or size > max_bytes
            if past and not cut:
                raise InputError(f"the tree holds more than {max_files} entries or {max_bytes} bytes")
            yield entry
            if past:
                return
    except OSError as fault:
        raise InputError(f"the tree cannot be read: {fault.strerror} at {fault.filename!r}") from fault


def linked_outside(top: int) -> set[bytes]:
    """Paths below the open folder of files that have a further name outside of it (a hard link).

    What cannot be entered, or is too deep, is not looked at. Raises InputError.
    """
    names: dict[tuple[int, int], list[bytes]] = {}
    links: dict[tuple[int, int], int] = {}
    try:
        for _, prefix, item in _walk(top, strict=False):
            facts = item.stat(follow_symlinks=False)
            if stat.S_ISREG(facts.st_mode) and facts.st_nlink > 1:
                key = facts.st_dev, facts.st_ino
                names.setdefault(key, []).append(prefix + os.fsencode(item.name))
                links[key] = facts.st_nlink
    except OSError as fault:
        raise InputError(f"the tree cannot be read: {fault.strerror} at {fault.filename!r}") from fault
    return {path for key, paths in names.items() if links[key] > len(paths) for path in paths}


def outgrows(top: Path, *, max_files: int, max_bytes: int) -> bool:
    """Whether the tree holds more than that now. What vanishes or cannot be entered meanwhile is not counted."""
    files = size = 0
    if not os.access(top, os.R_OK | os.X_OK):
        return False
    with opened(top, ()) as folder:
        for _, _, item in _walk(folder, strict=False):
            files += 1
            with contextlib.suppress(OSError):
                size += item.stat(follow_symlinks=False).st_blocks * _BLOCK
            if files > max_files or size > max_bytes:
                return True
    return False


def _walk(top: int, *, strict: bool) -> Iterator[tuple[int, bytes, os.DirEntry[str]]]:
    """(open folder, path of the folder with a slash, item), outer before inner, one descriptor per level."""
    stack: _Stack = []
    try:
        _push(stack, os.dup(top), b"")
        while stack:
            at, prefix, items = stack[-1]
            item = next(items, None)
            if item is None:
                os.close(stack.pop()[0])
                continue
            yield at, prefix, item
            if not item.is_dir(follow_symlinks=False):
                continue
            path = prefix + os.fsencode(item.name)
            if strict and len(stack) >= _DEPTH:
                raise InputError(f"{path[:80]!r}: deeper than {_DEPTH} folders")
            if len(stack) < _DEPTH:
                _descend(stack, at, item.name, path + b"/", strict=strict)
    finally:
        for at, _, _ in stack:
            os.close(at)


def _descend(stack: _Stack, at: int, name: str, prefix: bytes, *, strict: bool) -> None:
    try:
        _push(stack, (_open_whatever_mode if strict else os.open)(name, _FOLDER, dir_fd=at), prefix)
    except OSError:
        if strict:
            raise


def _open_whatever_mode(name: str | bytes, flags: int, *, dir_fd: int) -> int:
    """Open something of ours that a run closed to its owner, which is us unless we are root."""
    try:
        return os.open(name, flags, dir_fd=dir_fd)
    except PermissionError:
        _open_up(dir_fd, name)
        return os.open(name, flags, dir_fd=dir_fd)


def _push(stack: _Stack, fd: int, prefix: bytes) -> None:
    try:
        with os.scandir(fd) as items:
            stack.append((fd, prefix, iter(sorted(items, key=lambda i: i.name))))
    except OSError:
        os.close(fd)
        raise


def _read_one(at: int, name: bytes, path: bytes, room: int) -> FileEntry:
    facts = os.stat(name, dir_fd=at, follow_symlinks=False)
    mode = stat.S_IMODE(facts.st_mode)
    if stat.S_ISDIR(facts.st_mode):
        return FileEntry(path, "dir", mode)
    if stat.S_ISLNK(facts.st_mode):
        return FileEntry(path, "link", 0o777, os.readlink(name, dir_fd=at))
    if not stat.S_ISREG(facts.st_mode):
        return FileEntry(path, "special", mode)
    fd = _open_whatever_mode(name, _FILE, dir_fd=at)
    with open(fd, "rb") as source:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return FileEntry(path, "special", mode)
        return FileEntry(path, "file", mode, source.read(max(room, 0) + 1))


def remove_tree(top: Path) -> None:
    """Remove `top` and everything below it, however deep, whatever its modes. Raises InfraError where that fails."""
    try:
        parent = os.open(top.parent, _FOLDER)
    except FileNotFoundError:
        return
    try:
        _remove_below(parent, os.fsencode(top.name))
    except OSError as fault:
        raise InfraError(f"{top}: cannot be removed ({fault.strerror})") from fault
    finally:
        os.close(parent)


def _remove_below(parent: int, name: bytes) -> None:
    """Flatten as we go: a folder inside a folder is moved up before it is emptied, so that depth costs nothing."""
    todo, number = [name], 0
    while todo:
        current = todo.pop()
        fd = _enter(parent, current)
        if fd is None:
            continue
        try:
            with os.scandir(fd) as items:
                found = [(os.fsencode(i.name), i.is_dir(follow_symlinks=False)) for i in items]
            for item, is_folder in found:
                if not is_folder:
                    os.unlink(item, dir_fd=fd)
                    continue
                number += 1
                aside = name + b".%d" % number
                _open_up(fd, item)
                os.rename(item, aside, src_dir_fd=fd, dst_dir_fd=parent)
                todo.append(aside)
        finally:
            os.close(fd)
        os.rmdir(current, dir_fd=parent)


def open_top(top: Path) -> None:
    """Make the top folder, which nothing inside can replace, enterable again after a run closed it."""
    os.chmod(top, 0o755)  # noqa: S103 - its parent is closed; a launch of another user enters it


def _open_up(at: int, name: str | bytes) -> None:
    """Make something of ours readable and enterable. The mode is changed without following a link."""
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
    try:
        os.chmod(f"/proc/self/fd/{fd}", 0o700)
    finally:
        os.close(fd)


def _enter(parent: int, name: bytes) -> int | None:
    try:
        _open_up(parent, name)  # a folder of ours: the caller took links and files away
        return os.open(name, _FOLDER, dir_fd=parent)
    except (FileNotFoundError, NotADirectoryError):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=parent)
        return None
