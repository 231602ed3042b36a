"""The original, started once for each query as a case is: a fresh root and folder, its limits, no network, ended after.

In: a launcher over the original's view, the request that every launch has in common, files whose bytes are the
original's own. Out: an answer. Where there are such files, a query that names the place of one is refused, and an
answer that shows a run of them is withheld: an original that prints whatever file it is told to would else hand over
its text. What the launcher could not do counts against the query where the launcher does it for a plain one, else
against this host.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from programsmith.payload.query.names import named_place
from programsmith.payload.query.search import RunIndex, readings
from programsmith.payload.query.wire import ANSWER_MOST, RAN, Answer, Query
from programsmith.payload.verifier.compare import same_tree
from programsmith.payload.verifier.launcher import Launcher, Request, Result
from programsmith.payload.verifier.magic import begins_with_code
from programsmith.payload.verifier.model import FileEntry, GradedCase

WITHHELD = b"reference: withheld: standard error shows text of the original itself\n"
"""What stands for a standard error that does, as that of a crash; whether it is empty is what counts of it."""
PLAIN = Query(argv=(b"--version",))
_PAUSES = (0.0, 0.3, 1.0)  # seconds before each try; what an agent does to a host for a moment is no matter of the host
_ELF = b"\x7fELF"
_COLLECTED = 8 << 20  # bytes of a working directory that are read back
_ARCHIVES = (b".jar", b".zip", b".whl", b".pyz")
_SEARCHED = 24 << 20  # bytes of an answer in all its readings
_EXECUTED = 0o111


class BrokenError(Exception):
    """This host cannot start the original, or not as it was captured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """Runs of `size` bytes, `distinct` of them different, that no answer shows unless it is in what `shown` holds."""

    files: tuple[bytes, ...]
    shown: tuple[bytes, ...]
    size: int
    distinct: int


class Original:
    """Answers queries, from several threads. `base` is a request whose argv is the program's name alone.

    `variables` are the names that a query may set: any other could make the original load what it was sent.
    """

    def __init__(self, launcher: Launcher, base: Request, secret: Secret, variables: Collection[bytes] = ()) -> None:
        self._launcher = launcher
        self._base = replace(base, collect=True, collect_bytes=_COLLECTED)
        self._index = RunIndex(secret.files, secret.size, secret.distinct)
        self._secret = secret
        self._variables = frozenset(variables)
        self._shown = b"\0\xff\0".join(secret.shown)

    def answer(self, query: Query) -> Answer:
        """Run it. Raises BrokenError."""
        unknown = {name for name, _ in query.env} - self._variables
        if unknown:
            return Answer(word="variables", said=f"it sets {min(unknown)[:80]!r}, which no public case does")
        named = named_place(query) if self._secret.files else None
        if named is not None:
            return Answer(word="outside", said=f"it names a place outside of its folder: {named[:80]!r}")
        result = self._run(query)
        if result.fault is not None:
            result = self._run(query)
        if result.fault is not None:
            self.require_host()
            return Answer(word="failed", said="the original cannot be started with this")
        return self._judged(query, result)

    def require_host(self) -> None:
        """Raise BrokenError unless this host starts the original, if not at once, then a little later."""
        fault: str | None = None
        for pause in _PAUSES:
            time.sleep(pause)
            fault = self._run(PLAIN).fault
            if fault is None:
                return
        raise BrokenError(fault)

    def require_known(self, known: Iterable[GradedCase]) -> None:
        """Raise BrokenError unless each is answered as it was captured: a program may start and yet not work here."""
        for one in known:
            case, wanted = one.case, one.expected
            got = self._run(Query(argv=case.argv, stdin=case.stdin, files=case.files, env=case.env))
            if (got.exit_code, got.signal, got.stdout) != (wanted.exit_code, wanted.signal, wanted.stdout):
                raise BrokenError(f"the original does not answer the public case {one.case.id} here as it was captured")

    def _run(self, query: Query) -> Result:
        argv = (*self._base.argv, *query.argv)
        env = tuple({**dict(self._base.env), **dict(query.env)}.items())
        return self._launcher.run(replace(self._base, argv=argv, env=env, stdin=query.stdin, files=query.files))

    def _judged(self, query: Query, result: Result) -> Answer:
        if not result.started:
            return Answer(word="failed", said="the original cannot be started with this")
        if result.limits_hit:
            return Answer(
                word="limit", said=f"the original met a limit of a case: {', '.join(sorted(result.limits_hit))}"
            )
        if result.files is None:
            return Answer(word="limit", said="the original left more files than are read back")
        answer = Answer(
            word=RAN,
            exit_code=result.exit_code,
            signal=result.signal,
            stdout=result.stdout,
            stderr=result.stderr,
            files=None if same_tree(query.files, result.files) else result.files,
        )
        if _size(answer) > ANSWER_MOST - (1 << 20):
            return Answer(word="limit", said="the original printed and left more than crosses")
        return self._searched(query, answer) if self._secret.files else answer

    def _searched(self, query: Query, answer: Answer) -> Answer:
        """The answer, without what holds text of the original."""
        left = (part for e in answer.files or () for part in (e.path, e.content))
        brought = [query.stdin, *query.argv, *(v for _, v in query.env), *(e.content for e in query.files)]
        if self._shows((answer.stdout, *left), brought):
            return Answer(word="withheld", said="the answer holds text of the original itself")
        return replace(answer, stderr=WITHHELD) if self._shows((answer.stderr,), brought) else answer

    def _shows(self, parts: Iterable[bytes], brought: list[bytes]) -> bool:
        """Whether any part holds a run of the original that neither the task shows nor the query brought.

        So it is taken to where it unfolds to more than is searched.
        """
        searched = 0
        for reading in (reading for part in parts for reading in readings(part, largest=_SEARCHED)):
            searched += len(reading)
            if searched > _SEARCHED or any(not self._known(run.content, brought) for run in self._index.runs(reading)):
                return True
        return False

    def _known(self, run: bytes, brought: list[bytes]) -> bool:
        if run in self._shown:
            return True
        size = self._secret.size
        windows = (run[at : at + size] for at in range(len(run) - size + 1))
        return all(w in self._shown or any(w in text for text in brought) for w in windows)


def _size(answer: Answer) -> int:
    left = sum(len(e.path) + len(e.content) for e in answer.files or ())
    return len(answer.stdout) + len(answer.stderr) + left


def guarded(tree: Iterable[FileEntry], suffixes: tuple[str, ...]) -> tuple[list[FileEntry], tuple[bytes, ...]]:
    """The original's tree as it is shown to itself, and the contents of it that answers are searched for.

    A machine program loses its read permission: no process that it becomes can read it, under any name. What has to be
    read to run (scripts, source by its `suffixes`, libraries, bytecode, archives of them) is searched for; data is what
    an original shows.
    """
    entries = list(tree)
    shown = [replace(e, mode=_EXECUTED) if _is_machine_program(e) else e for e in entries]
    return shown, tuple(text for e in read_to_run(entries, suffixes) for text in readings(e.content))


def read_to_run(tree: Iterable[FileEntry], suffixes: tuple[str, ...]) -> list[FileEntry]:
    """The files of an original that it has to be able to read: no kernel keeps it from showing these."""
    return [e for e in tree if e.kind == "file" and not _is_machine_program(e) and _is_code(e, suffixes)]


def _is_machine_program(entry: FileEntry) -> bool:
    return entry.kind == "file" and bool(entry.mode & _EXECUTED) and entry.content.startswith(_ELF)


def _is_code(entry: FileEntry, suffixes: tuple[str, ...]) -> bool:
    named = entry.path.endswith(tuple(s.encode() for s in suffixes) + _ARCHIVES)
    return named or entry.content.startswith(b"#!") or begins_with_code(entry.content) is not None
