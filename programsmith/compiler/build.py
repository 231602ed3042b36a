"""The verb `build`: specs in, verdicts out, incrementally.

In: `spec=…` words and the number of workers. Out: cache/<name>/ and dist/ brought up to date, by a child for each spec
in which something is to be done; one line per spec on stdout (name, outcome, where); the exit code, computed from
verdicts. Progress goes to stderr.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from doit.cmd_base import Command

from programsmith.compiler.approval import approve
from programsmith.compiler.asking import ask
from programsmith.compiler.children import Children, Work
from programsmith.compiler.compile import Compiler
from programsmith.compiler.events import Event, Kind, Tell
from programsmith.compiler.faults import Caught, worst
from programsmith.compiler.loader import Asked, asked_specs, doit_words
from programsmith.compiler.lock import check_premises, held
from programsmith.compiler.revision import Answer, build_spec, look_at
from programsmith.compiler.standing import up_to_date
from programsmith.compiler.turn import Subject
from programsmith.compiler.view import view
from programsmith.errors import Exit, InputError


def build(
    args: Sequence[str], start: Path, *, workers: int, yes: bool = False, compiler: Compiler | None = None
) -> Exit:
    """Build the specs that `args` ask for, `workers` at a time. Every error ends here, in a line and a code.

    Without `yes` it asks before it builds many specs that nobody named, and before money could be spent.
    """
    with Caught() as caught:
        asked = asked_specs(args, start)
        if workers < 1:
            raise InputError(f"-n {workers}: wanted a number of workers from 1 up")
        check_premises(asked.project)
        compiler = compiler or Compiler()
        clean = {path: up_to_date(compiler, asked.project, path) for path in asked.files if not asked.approved}
        if not yes:
            due = [path for path in asked.files if clean.get(path) is None]
            ask(compiler, asked.project, due, workers, named=asked.named)
        return Builds(compiler, asked, workers).run(clean)
    return caught.code or Exit.OK


class Builds:
    """The builds of some specs."""

    def __init__(self, compiler: Compiler, asked: Asked, workers: int) -> None:
        self._compiler = compiler
        self._asked = asked
        self._workers = workers
        self._view = view()
        self._answers = Answers([path.stem for path in asked.files])

    def run(self, clean: Mapping[Path, int | None]) -> Exit:
        """Look here at the specs of which `clean` knows how many tasks are up to date; the others get a child each."""
        stale = [path for path in self._asked.files if clean.get(path) is None]
        children = Children(self._workers, self._view, self._answers.take)
        each = max(1, self._workers // max(1, min(self._workers, len(stale))))
        try:
            for path, seen in clean.items():
                if seen is not None:
                    self._one(path, self._tell, lambda subject, seen=seen: look_at(subject, seen))  # type: ignore[misc]
            children.run([self._work(path, each) for path in stale])
        finally:
            self._view.close()
            self._answers.close()
        return Exit.INTERRUPTED if children.interrupted else worst(self._answers.codes)

    def _tell(self, event: Event) -> None:
        self._view.show(event)
        if event.kind is Kind.ENDED:
            self._answers.take(event)

    def _work(self, path: Path, workers: int) -> Work:
        def build_it(subject: Subject) -> Answer:
            return build_spec(self._compiler.steps, subject)

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


def default_workers() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0))


class Build(Command):  # type: ignore[misc]
    """`doit build`, in a checkout and, as a plugin of doit, wherever the package is installed."""

    name = "build"
    doc_purpose = "build environments from task specs"
    doc_usage = "[spec=NAME_OR_FILE[,…] [approve=BLOCK[,…]]] [-n WORKERS]"
    doc_description = None
    cmd_options = (
        {
            "name": "workers",
            "short": "n",
            "long": "workers",
            "type": int,
            "default": 0,
            "help": "blocks and cases at a time [default: one per processor]",
        },
        {
            "name": "yes",
            "short": "y",
            "long": "yes",
            "type": bool,
            "default": False,
            "help": "build many specs, and spend, without asking",
        },
    )

    def execute(self, opt_values: Mapping[str, Any], pos_args: list[str]) -> int:
        """Build. The words `k=v` are what doit took out of the command line."""
        words = [*doit_words(), *pos_args]
        workers = opt_values["workers"] or default_workers()
        return int(build(words, Path.cwd(), workers=workers, yes=opt_values["yes"]))
