"""The verb `build`: specs in, verdicts out, incrementally.

In: `spec=…` words and the number of workers. Out: cache/<name>/ and dist/ brought up to date, by a child for each spec
in which something is to be done; one line per spec on stdout (name, outcome, where); the exit code, computed from
verdicts. Progress goes to stderr.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from programsmith.compiler.approval import approve
from programsmith.compiler.asking import ask
from programsmith.compiler.children import Children, Work
from programsmith.compiler.compile import Compiler
from programsmith.compiler.early import Known, Look, nothing_to_do
from programsmith.compiler.events import Event, Kind, Tell
from programsmith.compiler.faults import Caught
from programsmith.compiler.leftovers import reap_shared
from programsmith.compiler.loader import Asked, asked_specs
from programsmith.compiler.lock import check_premises, held
from programsmith.compiler.revision import Answer, build_spec, look_at
from programsmith.compiler.stamping import Seen, Stamps
from programsmith.compiler.turn import Subject
from programsmith.compiler.view import view
from programsmith.errors import Exit, InputError, ProgramSmithError


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """How to build: with how many workers, whether without asking, what the stamps are known to say.

    Unless `yes` it asks before it builds many specs that nobody named, and before money could be spent.
    """

    compiler: Compiler
    workers: int
    yes: bool = False
    looked: Look | None = None


def build_asked(args: Sequence[str], start: Path, ways: Ways) -> Exit:
    """Build the specs that `args` ask for. Every error ends here, in a line and a code."""
    with Caught() as caught:
        asked = asked_specs(args, start)
        if ways.workers < 1:
            raise InputError(f"-n {ways.workers}: wanted a number of workers from 1 up")
        check_premises(asked.project)
        builds = Builds(ways, asked)
        if builds.stale:
            reap_shared()
        if not ways.yes:
            ask(ways.compiler, asked.project, builds.stale, ways.workers, named=asked.named)
        return builds.run()
    return caught.code or Exit.OK


class Builds:
    """The builds of some specs: those that are up to date are answered here, the others by a child each."""

    def __init__(self, ways: Ways, asked: Asked) -> None:
        self._compiler = ways.compiler
        self._asked = asked
        self._workers = ways.workers
        self._stamps = Stamps(ways.compiler, asked.project, ways.looked)
        self._found = {} if asked.approved else self._find(asked.files)

    @property
    def stale(self) -> list[Path]:
        """The specs in which something is to be done."""
        return [path for path in self._asked.files if self._found.get(path) is None]

    def run(self) -> Exit:
        """Answer for all, in order; children run side by side."""
        self._view = view()
        self._answers = Answers([path.stem for path in self._asked.files])
        stale = self.stale
        children = Children(self._workers, self._view, self._answers.take)
        each = max(1, self._workers // max(1, min(self._workers, len(stale))))
        try:
            for path, found in self._found.items():
                if isinstance(found, Known):
                    self._known(path, found)
                elif found is not None:
                    self._seen(path, found)
            children.run([self._work(path, each) for path in stale])
        finally:
            self._view.close()
            self._answers.close()
        return Exit.INTERRUPTED if children.interrupted else Exit.worst(self._answers.codes)

    def _find(self, files: Sequence[Path]) -> dict[Path, Known | Seen | None]:
        """What is known of each, None where something is to be done."""
        known = self._stamps.known(files)
        return {path: known.get(str(path)) or self._stamps.look(path) for path in files}

    def _tell(self, event: Event) -> None:
        self._view.show(event)
        if event.kind is Kind.ENDED:
            self._answers.take(event)

    def _known(self, path: Path, known: Known) -> None:
        """Answer as the stamp says."""
        self._tell(Event(kind=Kind.SAID, spec=path.stem, text=nothing_to_do(known.seen)))
        self._tell(Event(kind=Kind.ENDED, spec=path.stem, word=known.outcome, text=known.where, exit=known.exit))

    def _seen(self, path: Path, seen: Seen) -> None:
        """Answer for what a look found up to date, and stamp it."""

        def look(subject: Subject) -> Answer:
            answer = look_at(subject, seen.tasks)
            self._stamps.keep(path, seen, _known(seen, answer))
            return answer

        self._one(path, self._tell, look)

    def _work(self, path: Path, workers: int) -> Work:
        def build_it(subject: Subject) -> Answer:
            self._stamps.drop(path)
            answer = build_spec(self._compiler.steps, subject)
            with suppress(OSError, ProgramSmithError):
                seen = self._stamps.look(path)
                if seen is not None:
                    self._stamps.keep(path, seen, _known(seen, answer))
            return answer

        log = self._asked.project.folder(path.stem).root / "logs" / "build.log"
        return Work(spec=path.stem, run=lambda tell: self._one(path, tell, build_it, workers), log=log)

    def _one(self, path: Path, tell: Tell, answer_of: Callable[[Subject], Answer], workers: int = 1) -> Exit:
        """Have one spec answered under its lock, and tell its end."""
        outcome, where, code = "", "", Exit.OK
        folder = self._asked.project.folder(path.stem)
        with Caught(folder.root / "logs", path.stem, tell) as caught:
            self._compiler.subject(self._asked.project, path)
            with held(folder):
                for block in self._asked.approved:
                    approve(folder, self._compiler.steps, block)
                answer = answer_of(self._compiler.subject(self._asked.project, path, workers, tell))
                outcome, where, code = answer.outcome, str(answer.where), answer.exit
        code = code if caught.code is None else caught.code
        tell(Event(kind=Kind.ENDED, spec=path.stem, word=outcome, text=where, exit=code))
        return code


def _known(seen: Seen, answer: Answer) -> Known:
    return Known(seen.tasks, answer.outcome, str(answer.where), answer.exit)


class Answers:
    """One line per spec on stdout, in the order of the specs: name, outcome, where. A spec without outcome has none."""

    def __init__(self, names: Sequence[str]) -> None:
        self._waiting = list(names)
        self._ends: dict[str, Event] = {}

    def take(self, event: Event) -> None:
        """Take in a spec's last event; print what is next in order."""
        self._ends[event.spec] = event
        while self._waiting and self._waiting[0] in self._ends:
            self._print(self._waiting.pop(0))

    def close(self) -> None:
        """Print what came out of order."""
        for name in self._waiting:
            if name in self._ends:
                self._print(name)

    @property
    def codes(self) -> set[Exit]:
        """The exit codes of the specs."""
        return {Exit(event.exit) for event in self._ends.values()}

    def _print(self, name: str) -> None:
        event = self._ends[name]
        if event.word:
            print(f"{name}  {event.word}  {event.text}", flush=True)
