"""A version history of one commit over some files, as loose objects: what a leak of a repository looks like."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Iterator

from programsmith.payload.verifier.model import FileEntry

AUTHOR = b"source <source@invalid> 946684800 +0000"
Node = dict[bytes, "FileEntry | Node"]


def history(files: Iterable[FileEntry]) -> list[FileEntry]:
    """The files of a .git folder whose one commit holds `files`."""
    root: Node = {}
    for entry in files:
        if entry.kind == "file":
            *above, name = entry.path.split(b"/")
            at = root
            for part in above:
                inner = at.setdefault(part, {})
                assert isinstance(inner, dict)
                at = inner
            at[name] = entry
    made: dict[str, bytes] = {}
    tree = _tree(root, made)
    commit = _object(b"commit", b"tree %s\nauthor %s\ncommitter %s\n\nsource\n" % (tree.encode(), AUTHOR, AUTHOR), made)
    objects = [FileEntry(f"objects/{i[:2]}/{i[2:]}".encode(), content=raw) for i, raw in made.items()]
    return [
        FileEntry(b"HEAD", content=b"ref: refs/heads/main\n"),
        FileEntry(b"refs/heads/main", content=commit.encode() + b"\n"),
        *objects,
    ]


def _tree(node: Node, made: dict[str, bytes]) -> str:
    return _object(b"tree", b"".join(_items(node, made)), made)


def _items(node: Node, made: dict[str, bytes]) -> Iterator[bytes]:
    for name, inner in sorted(node.items(), key=lambda i: i[0] + (b"/" if isinstance(i[1], dict) else b"")):
        if isinstance(inner, dict):
            mode, found = b"40000", _tree(inner, made)
        else:
            mode, found = b"100%o" % inner.mode, _object(b"blob", inner.content, made)
        yield mode + b" " + name + b"\0" + bytes.fromhex(found)


def _object(kind: bytes, content: bytes, made: dict[str, bytes]) -> str:
    raw = kind + b" %d\0" % len(content) + content
    name = hashlib.sha1(raw, usedforsecurity=False).hexdigest()
    made[name] = zlib.compress(raw)
    return name
