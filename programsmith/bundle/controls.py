"""Submissions whose score is known in advance: the table, the table with one entry altered, nulls, nothing at all.

In: graded cases, a target language, facts of the oracle. Out: files of a submission. Refuses a language for which
payload/ has no program.
"""

from __future__ import annotations

import dataclasses
import io
import tarfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from programsmith.bundle.render import PAYLOAD
from programsmith.errors import InputError
from programsmith.payload.table.form import write
from programsmith.payload.verifier.environment import BASE_ENV, COMPILE
from programsmith.payload.verifier.grade import CARRIED
from programsmith.payload.verifier.model import FileEntry, GradedCase
from programsmith.payload.verifier.plan import ReceiptRule
from programsmith.payload.verifier.receive import receive
from programsmith.payload.verifier.tree import tree_digest, write_tree

Files = tuple[FileEntry, ...]
Other = tuple[bytes, int]
SUFFIXES = {".c", ".go", ".h", ".java", ".js", ".py", ".rs"}
ALIKE = {"cpp": "c"}  # languages that take another's programs as their own
_RENAMED = {("cpp", ".c"): ".cpp"}
_AS_MODULE = {
    b"main.js": b"table.js",
    b"main.py": b"table.py",
    b"table.c": b"table.h",
    b"table.cpp": b"table.h",
}
"""The table program's main file, by the name under which another program takes it in."""
_STARTS = frozenset({COMPILE.encode(), b"Main.java", b"main.go", b"main.rs"})
"""What of the table program only starts it: another program that takes it in brings its own."""


def program(language: str, folder: str, name: str = "") -> Files:
    """A program of payload/`folder` as a submission, with its compile.sh or the language's. `name` picks one source.

    Raises InputError where payload/ has nothing for the language.
    """
    sources = PAYLOAD / folder / spoken(language)
    own = PAYLOAD / folder / language / COMPILE
    found = sorted(p for p in sources.glob(f"{name or '*'}.*") if p.suffix in SUFFIXES and p.stem != "__init__")
    script = own if own.exists() else PAYLOAD / "submission" / language / COMPILE
    if not found or not script.exists():
        raise InputError(f"payload/{folder}: no {name or folder} program in {language}; add one, with a compile.sh")
    stems = {p: "main" if len(found) == 1 else p.stem for p in found}
    named = {f"{stems[p]}{_RENAMED.get((language, p.suffix), p.suffix)}".encode(): p.read_bytes() for p in found}
    entries = [FileEntry(path, "file", 0o644, content) for path, content in named.items()]
    return (*entries, FileEntry(COMPILE.encode(), "file", 0o755, script.read_bytes()))


def spoken(language: str) -> str:
    """The language in which payload/ has programs for a target language."""
    return ALIKE.get(language, language)


def has_table(language: str) -> bool:
    """Whether payload/ has the table program in the language."""
    return (PAYLOAD / "table" / spoken(language)).is_dir()


def targets() -> list[str]:
    """Languages that a task can be in: those in which payload/ has a build, and what the static checks start."""
    built = sorted(folder.parent.name for folder in (PAYLOAD / "submission").glob(f"*/{COMPILE}"))
    return [name for name in built if any((PAYLOAD / "probes" / spoken(name)).glob("tries.*"))]


def table(language: str, cases: Iterable[GradedCase], other: Other | None = None) -> Files:
    """The table submission of `cases`; `other` is what every other invocation gets."""
    rows = [(c.case, c.expected) for c in cases]
    return (*program(language, "table"), FileEntry(b"table.txt", content=write(rows, dict(BASE_ENV), other)))


def table_module(language: str) -> Files:
    """The table program as a module that another program calls."""
    return tuple(
        dataclasses.replace(e, path=_AS_MODULE.get(e.path, e.path))
        for e in program(language, "table")
        if e.path not in _STARTS
    )


def altered(cases: Sequence[GradedCase], at: str) -> tuple[GradedCase, ...]:
    """The same cases, the one named `at` with another standard output."""
    return tuple(
        dataclasses.replace(c, expected=dataclasses.replace(c.expected, stdout=c.expected.stdout + b"?"))
        if c.case.id == at
        else c
        for c in cases
    )


def nulls(
    language: str, tool: str, public: Sequence[GradedCase], help_text: bytes, executables: Iterable[str]
) -> dict[str, Files]:
    """The five null submissions, none of which the goldens' gate uses, by name."""
    return {
        "most_frequent": table(language, (), most_frequent(public)),
        "help": table(language, (), (help_text, 0)),
        "echo_last": program(language, "nulls", "echo_last"),
        "public_table": table(language, public),
        "wrapper": (*program(language, "nulls", "wrapper"), _wrapped(tool, executables)),
    }


def most_frequent(cases: Iterable[GradedCase]) -> Other:
    """The standard output and exit code that most of the cases share; the smallest of several."""
    counts = Counter((c.expected.stdout, c.expected.exit_code or 0) for c in cases)
    return min(counts, key=lambda pair: (-counts[pair], pair)) if counts else (b"", 0)


def wrapper(language: str, tool: str, oracle: Iterable[FileEntry], program_path: str) -> Files:
    """A submission that carries the oracle's tree, packed, and hands every invocation to the oracle's program."""
    names = f"{tool}\n{program_path}\n".encode()
    carried = FileEntry(f"{CARRIED}.tar".encode(), content=pack(oracle))
    return (*program(language, "solution"), FileEntry(b"tool.txt", content=names), carried)


def received_digest(files: Iterable[FileEntry], folder: Path, rule: ReceiptRule) -> str:
    """The tree digest that the verifier takes of a submission. `folder` does not exist yet. Raises TreeError."""
    write_tree(str(folder), files)
    return tree_digest(receive(str(folder), rule).entries)


def pack(files: Iterable[FileEntry]) -> bytes:
    """A submission as a tar whose bytes depend on nothing else."""
    raw = io.BytesIO()
    with tarfile.open(
        fileobj=raw, mode="w", format=tarfile.PAX_FORMAT, encoding="utf-8", errors="surrogateescape"
    ) as tar:
        for e in sorted(files):
            member = tarfile.TarInfo(e.path.decode("utf-8", "surrogateescape"))
            member.mode = e.mode
            member.type = {"dir": tarfile.DIRTYPE, "link": tarfile.SYMTYPE}.get(e.kind, tarfile.REGTYPE)
            member.linkname = e.content.decode("utf-8", "surrogateescape") if e.kind == "link" else ""
            member.size = len(e.content) if e.kind == "file" else 0
            tar.addfile(member, io.BytesIO(e.content) if e.kind == "file" else None)
    return raw.getvalue()


def _wrapped(tool: str, executables: Iterable[str]) -> FileEntry:
    """Paths that the wrapper tries: the tool by its name where systems keep programs, then all that the view lists."""
    named = [f"{folder}/{tool}" for folder in ("/usr/bin", "/bin", "/usr/local/bin")]
    return FileEntry(b"wrapped.txt", content="".join(f"{p}\n" for p in (*named, *sorted(executables))).encode())
