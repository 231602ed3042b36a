"""Sibling groups: cases that would give each other away.

Same family, and the same source stem, or the same fixture with nearly the same command line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from programsmith.payload.verifier.model import FileEntry
from programsmith.records.golden import Golden


def sibling_groups(goldens: Sequence[Golden], distance: int) -> list[list[Golden]]:
    """Groups in id order, each in id order. `distance` counts edited bytes of the command line."""
    ordered = sorted(goldens, key=lambda g: g.id)
    parent = list(range(len(ordered)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    for stem in _alike([(g.family, g.group) for g in ordered]):
        for other in stem[1:]:
            parent[root(other)] = root(stem[0])
    for a, b in _pairs(ordered):
        if root(a) != root(b) and near(_line(ordered[a]), _line(ordered[b]), distance):
            parent[root(a)] = root(b)
    groups: dict[int, list[Golden]] = {}
    for at, golden in enumerate(ordered):
        groups.setdefault(root(at), []).append(golden)
    return [groups[at] for at in sorted(groups)]


def _pairs(ordered: Sequence[Golden]) -> Iterator[tuple[int, int]]:
    """Pairs of one family that share their fixture."""
    for fixture in _alike([(g.family, _fixture(g)) for g in ordered]):
        yield from combinations(fixture, 2)


def _line(golden: Golden) -> bytes:
    return b"\0".join(golden.case.argv)


def near(a: bytes, b: bytes, distance: int) -> bool:
    """Whether at most `distance` insertions, deletions and changes turn `a` into `b`."""
    if abs(len(a) - len(b)) > distance:
        return False
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    a, b = a[start:], b[start:]
    if distance == 0:
        return a == b
    if not a or not b:
        return len(a) + len(b) <= distance
    return any(near(x, y, distance - 1) for x, y in ((a[1:], b), (a, b[1:]), (a[1:], b[1:])))


def _fixture(golden: Golden) -> tuple[bytes, tuple[FileEntry, ...]]:
    return golden.case.stdin, tuple(sorted(golden.case.files))


def _alike(keys: Sequence[object]) -> list[list[int]]:
    found: dict[object, list[int]] = {}
    for at, key in enumerate(keys):
        found.setdefault(key, []).append(at)
    return [members for members in found.values() if len(members) > 1]
