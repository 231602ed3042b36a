"""Absolute paths of a suite's place become paths of a case's work folder.

In: the folders that a call used, as the suite saw them. Out: what each is called from the work folder. A suite's own
current folder is the work folder; so are its home, the source, and the one temporary folder that a call uses; further
temporary folders get numbered names, and so do files beside them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from programsmith.miners.base import Skip

_NO_NAME = rb"(?<![A-Za-z0-9_.~/-])"
_END = rb"(?![A-Za-z0-9_.~-])"
_SUFFIX = 4  # letters of a suffix that a program may look at
_WORD = rb"[^\s\"'`,;:=<>|&()\0]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Roots:
    """Folders of the suite's sandbox: the source, the home, those for temporary files, and the recorder's own."""

    source: bytes
    home: bytes
    temporary: tuple[bytes, ...]
    own: bytes

    def all(self) -> tuple[bytes, ...]:
        """Every folder below which a case's files may lie."""
        return (self.source, self.home, *self.temporary)

    def stay_in(self, text: bytes) -> bool:
        """Whether a path below any of the folders stands in a text: no case could have it there."""
        return any(root + b"/" in text for root in (*self.all(), self.own))


def is_below(path: bytes, folder: bytes) -> bool:
    """Whether a path is the folder, or lies below it."""
    return path == folder or path.startswith(folder + b"/")


@dataclass(slots=True)
class Places:
    """Old folders and files (absolute) with their new names (relative, empty for the work folder)."""

    new: dict[bytes, bytes] = field(default_factory=dict)

    def relative(self, path: bytes) -> bytes | None:
        """Where an absolute path lies in the case; None outside of it."""
        for old in sorted(self.new, key=len, reverse=True):
            if is_below(path, old):
                return b"/".join(p for p in (self.new[old], path[len(old) + 1 :]) if p)
        return None

    def rewritten(self, text: bytes) -> bytes:
        """`text` of an input with every exact mention of an old place in its new form."""
        return self._form(_NO_NAME).sub(self._renamed, text)

    def shown(self, text: bytes) -> bytes:
        """`text` of an output so: there a place may stand behind anything, since the oracle's answer decides."""
        return self._form(b"").sub(self._renamed, text)

    def _form(self, before: bytes) -> re.Pattern[bytes]:
        olds = b"|".join(re.escape(o) for o in sorted(self.new, key=len, reverse=True))
        return re.compile(before + b"(" + olds + b")(/+(?=" + _WORD + b")|/*" + _END + b")")

    def _renamed(self, found: re.Match[bytes]) -> bytes:
        name = self.new[found[1]]
        goes_on = found[2] and re.match(_WORD, found.string[found.end() : found.end() + 1])
        return (name + b"/" if name else b"") if goes_on else name or b"."


def places_of(
    cwd: bytes, roots: Roots, folders: Iterable[bytes], files: Iterable[bytes], named: Sequence[bytes] = ()
) -> Places:
    """The places of a call that ran in `cwd` and used `folders` and `files`. Raises Skip `outside_path`.

    Numbers go by the order in which the input names things (`named`): their names are made at random.
    """
    if not any(is_below(cwd, root) for root in roots.all()) or cwd in roots.temporary:
        raise Skip("outside_path")
    places = Places({roots.source: b"", roots.home: b""})
    kinds = dict.fromkeys(folders, True) | dict.fromkeys(files, False)
    used: dict[bytes, list[bytes]] = {}
    order = list(dict.fromkeys(_top(path, roots) for path in named))
    rank = {top: n for n, top in enumerate(order)}
    for path in sorted(kinds, key=lambda p: (rank.get(_top(p, roots), len(rank)), p)):
        top = _top(path, roots)
        if top is not None and not is_below(path, cwd) and not is_below(cwd, path):
            used.setdefault(top, []).append(path)
    tops = [top for top in used if any(p != top or kinds[p] for p in used[top])]
    for number, (top, paths) in enumerate(used.items(), 1):
        if tops == [top] and not is_below(cwd, top):
            places.new[_common(paths, kinds)] = b""
        elif top in tops:
            places.new[top] = b"" if is_below(cwd, top) else b"t%d" % number
        else:
            places.new[top] = _plain(posixpath.basename(top), number)
    places.new[cwd] = b""
    return places


def mentioned(texts: Iterable[bytes], roots: Roots) -> list[bytes]:
    """Paths below a temporary folder that texts mention, in the order of their first mention."""
    tops = b"|".join(re.escape(t) for t in roots.temporary)
    form = re.compile(_NO_NAME + b"(?:" + tops + b")/" + _WORD + b"+")
    return list(dict.fromkeys(posixpath.normpath(found) for text in texts for found in form.findall(text)))


def _top(path: bytes, roots: Roots) -> bytes | None:
    for root in sorted(roots.temporary, key=len, reverse=True):
        if path.startswith(root + b"/"):
            return root + b"/" + path[len(root) + 1 :].split(b"/")[0]
    return None


def _common(paths: list[bytes], kinds: dict[bytes, bool]) -> bytes:
    folders = [p if kinds[p] else posixpath.dirname(p) for p in paths]
    return posixpath.commonpath(folders)


def _plain(name: bytes, number: int) -> bytes:
    """A name that is the same whenever the suite runs: what lies beside other suites' files is named at random."""
    stem, dot, suffix = name.rpartition(b".")
    kept = dot and stem not in (b"", b"tmp") and len(suffix) <= _SUFFIX
    return b"t%d" % number + (dot + suffix if kept else b"")
