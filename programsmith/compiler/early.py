"""A build's first look, before anything heavy is imported: which specs are asked for, and which of them are stamped.

In: the words of a command line. Out: what the stamps answer, and where they answer for every spec the build's own lines
and exit code. Whatever is not plain here (a word, a premise, a changed rule) is left to the build itself, which knows
what to say of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

import programsmith
from programsmith.compiler.shares import shared
from programsmith.compiler.stamp import FOOTING, STAMP, Stamp, stamp_at
from programsmith.errors import Exit
from programsmith.spec import places

SECRET = "PROGRAMSMITH_SECRET"  # noqa: S105 - the variable's name
FIELDS = 5  # a spec's path and its answer
VERB, YES, WORKERS = "build", ("-y", "--yes"), ("-n", "--workers")


class Known:
    """A stamp's answer for a spec: how many tasks are up to date, its outcome, where that lies, its exit code."""

    __slots__ = ("exit", "outcome", "seen", "where")

    def __init__(self, seen: int, outcome: str, where: str, code: Exit) -> None:
        self.seen = seen
        self.outcome = outcome
        self.where = where
        self.exit = code

    def said(self, name: str) -> str:
        """The line of progress."""
        return f"{name}  {nothing_to_do(self.seen)}\n"

    def answer(self, name: str) -> str:
        """The line of the answer, empty where the spec has no outcome."""
        return f"{name}  {self.outcome}  {self.where}\n" if self.outcome else ""


class Look:
    """What the stamps know: `footing` is what they stand on, `known` the answer for each stamped spec of `files`."""

    __slots__ = ("files", "footing", "known")

    def __init__(self, footing: Stamp, files: list[str], known: dict[str, Known]) -> None:
        self.footing = footing
        self.files = files
        self.known = known

    @property
    def whole(self) -> bool:
        """Whether every spec is known."""
        return len(self.known) == len(self.files)

    def tell(self) -> Exit:
        """Write the lines of a build that found nothing to do, and give its exit code. Raises OSError, ValueError."""
        names = {path: os.path.basename(path).removesuffix(places.SUFFIX) for path in self.files}
        sys.stderr.write("".join(self.known[path].said(name) for path, name in names.items()))
        sys.stderr.flush()
        sys.stdout.write("".join(self.known[path].answer(name) for path, name in names.items()))
        sys.stdout.flush()
        return Exit.worst({known.exit for known in self.known.values()})


def nothing_to_do(seen: int) -> str:
    """What a build says of a spec of which all tasks are up to date."""
    return f"nothing to do: {seen} blocks are up to date"


def answered(args: Sequence[str], otherwise: Callable[[Look | None], int]) -> int:
    """The exit code of a command line: the stamps' answer where they have a whole one, else what `otherwise` makes.

    `args` begin with the verb; `otherwise` is told what the stamps know.
    """
    try:
        looked = look(args)
        if looked is not None and looked.whole:
            return looked.tell()
    except (KeyboardInterrupt, OSError, ValueError):
        from programsmith.compiler.faults import Caught

        with Caught() as caught:
            raise
        return int(caught.code or Exit.OK)
    return otherwise(looked)


def look(args: Sequence[str]) -> Look | None:
    """What the stamps know of a `build` with these arguments. None where they are no plain build's, or know nothing."""
    words = _words(args)
    if words is None:
        return None
    try:
        start = os.getcwd()
        word = words[0].removeprefix("spec=") if words else None
        root = places.root_of(places.search_from(word, start))
        footing = known_footing(root) if root else None
        files = _files(word, root, start) if root and footing else []
        if root is None or footing is None or not files:
            return None
        return Look(footing, files, known_specs(root, footing.fields[0], files))
    except (OSError, ValueError):
        return None


def _words(args: Sequence[str]) -> list[str] | None:
    """The words beside the verb and its options, None where there is more than one `spec=…`."""
    words: list[str] = []
    rest = iter(args)
    if next(rest, None) != VERB:
        return None
    for arg in rest:
        if arg in WORKERS:
            workers = next(rest, "")
            if not (workers.isascii() and workers.isdigit() and int(workers)):
                return None
        elif arg not in YES:
            words.append(arg)
    plain = not words or (len(words) == 1 and words[0].startswith("spec="))
    return words if plain else None


def _files(word: str | None, root: str, start: str) -> list[str]:
    """The specs that a word means, none where only the build itself can say."""
    if word is None:
        return places.own(root)
    files: list[str] = []
    for part in word.split(","):
        found = _file(part.strip(), root, start)
        if found is None or os.path.basename(found) in map(os.path.basename, files):
            return []
        files.append(found)
    return files


def _file(part: str, root: str, start: str) -> str | None:
    if not part or os.path.normpath(part) != part or ".." in part or places.MAGIC.search(part):
        return None
    found = next((path for path in places.candidates(part, root, start) if os.path.exists(path)), None)
    return found if found and os.path.isfile(found) else None


def known_footing(root: str, kind: str = "") -> Stamp | None:
    """What every stamp of a project stands on, None where that changed or nothing could be built here.

    `kind` names a compiler other than that of the command line.
    """
    found = stamp_at(os.path.join(root, "cache", FOOTING), [identity(root, kind)])
    if found is None or not all(map(usable, found.fields[1:])):
        return None
    return found if found.holds else None


def identity(root: str, kind: str) -> bytes:
    """What a project is here, apart from what lies in files."""
    given = os.environ.get(SECRET)
    real = [os.path.realpath(os.path.join(root, name)) for name in ("cache", "dist")]
    who = [str(os.geteuid()), os.environ.get("HOME", ""), _digest(given) if given else ""]
    told = [programsmith.__version__, programsmith.__file__, sys.version, kind, root]
    return repr([*told, *real, *who]).encode("ascii", "backslashreplace")


def _digest(secret: str) -> str:
    import hashlib

    return hashlib.sha256(b"programsmith stamp " + os.fsencode(secret)).hexdigest()


def usable(folder: bytes) -> bool:
    """Whether a build can write to and execute from a folder."""
    return os.access(folder, os.W_OK) and not os.statvfs(folder).f_flag & os.ST_NOEXEC


def known_specs(root: str, footing: bytes, files: Sequence[str]) -> dict[str, Known]:
    """What the stamps of these specs say."""
    answers = shared(lambda share: _answers(root, footing, share), files)
    given = [answers[at : at + FIELDS] for at in range(0, len(answers), FIELDS)]
    return {os.fsdecode(path): known for path, *fields in given if (known := _known(fields))}


def _answers(root: str, footing: bytes, files: Sequence[str]) -> list[bytes]:
    """Path and answer of each spec whose stamp holds, field by field."""
    found: list[bytes] = []
    for path in files:
        name = os.path.basename(path).removesuffix(places.SUFFIX)
        stamp = stamp_at(os.path.join(root, "cache", name, STAMP), [footing, os.fsencode(path)])
        if stamp is not None and len(stamp.fields) == FIELDS - 1 and stamp.holds:
            found += [os.fsencode(path), *stamp.fields]
    return found


def _known(fields: list[bytes]) -> Known | None:
    seen, outcome, where, code = fields
    try:
        return Known(int(seen), os.fsdecode(outcome), os.fsdecode(where), Exit(int(code)))
    except ValueError:
        return None
