"""Take upstream's addresses out of documentation: whoever reads it must not be led to the original.

In: bytes of a document and the lock. Out: the bytes with a neutral marker in each address's place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from programsmith.records.lock import Lock

_ADDRESS = re.compile(
    rb"(?:(?:https?|git|ssh|ftp)://|git@|www\.)[^\s<>\"'`)\]}|]+|(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev)[/:][^\s<>\"'`)\]}|]+",
    re.IGNORECASE,
)
_ORIGIN = re.compile(r"^(?:[a-z+]+://)?(?:[^/@\s]+@)?([^/:\s]+\.[a-z]+)[:/](.+?)(?:\.git)?/*$", re.IGNORECASE)
SHORTEST = 6  # letters of a text that is a pointer by itself
COMMIT_DIGITS = 7  # what people write of a commit's name


def redacted(content: bytes, lock: Lock, tool: str, marker: str) -> bytes:
    """`content` without addresses that name the project, and without the origin and the commit in any form."""
    mark = marker.encode()
    names = re.compile(rb"(?<![a-z0-9])(?:" + b"|".join(_words((lock.name, tool))) + rb")(?![a-z0-9])", re.IGNORECASE)

    def cut(found: re.Match[bytes]) -> bytes:
        return mark if names.search(found[0]) or any(p.search(found[0]) for p in pointers) else found[0]

    pointers = _pointers(lock, tool)
    content = _ADDRESS.sub(cut, content)
    for pointer in pointers:
        content = pointer.sub(mark, content)
    return content


def _words(names: Iterable[str]) -> list[bytes]:
    return [re.escape(name.encode()) for name in sorted(set(names)) if name]


def _pointers(lock: Lock, tool: str) -> list[re.Pattern[bytes]]:
    """The origin's address, its path and its last two parts; the commit and the tree by their first digits.

    A folder or archive that is called as the tool points nowhere.
    """
    texts: set[str] = set()
    address = _ORIGIN.match(lock.origin)
    if address:
        host, path = address.groups()
        texts = {f"{host}/{path}", path, "/".join(path.split("/")[-2:])}
    elif lock.origin:
        texts = {lock.origin, lock.origin.rpartition("/")[2]}
    found = [
        re.compile(rb"(?<![\w.-])" + re.escape(t.encode()) + rb"(?![\w-])", re.IGNORECASE)
        for t in sorted(texts, key=len, reverse=True)
        if len(t) >= SHORTEST and t.lower() != tool.lower()
    ]
    for name in (lock.commit, lock.tree):
        if re.fullmatch(r"[0-9a-f]{7,}", name):
            head, rest = name[:COMMIT_DIGITS], name[COMMIT_DIGITS:]
            tail = "".join(f"(?:{c}" for c in rest) + ")?" * len(rest)
            found.append(re.compile(rb"\b" + (head + tail).encode() + rb"[0-9a-f]*\b"))
    return found
