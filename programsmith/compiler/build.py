"""The verb `build`: specs in, verdicts out, incrementally.

In: `spec=…` words and the number of workers. Out: cache/<name>/ and dist/ brought up to date; one line per spec on
stdout (name, outcome, where); the exit code, computed from verdicts. Progress goes to stderr.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from doit.cmd_base import Command

from programsmith.compiler.approval import approve
from programsmith.compiler.compile import Compiler
from programsmith.compiler.faults import Caught, worst
from programsmith.compiler.loader import Asked, asked_specs, doit_words
from programsmith.compiler.lock import check_premises, held
from programsmith.compiler.revision import build_spec
from programsmith.compiler.standing import due
from programsmith.errors import Exit, InputError

MANY = 3


def build(
    args: Sequence[str], start: Path, *, workers: int, yes: bool = False, compiler: Compiler | None = None
) -> Exit:
    """Build the specs that `args` ask for, one after the other. Every error ends here, in a line and a code.

    Without `yes` a build of more than MANY specs that nobody named asks first.
    """
    with _ended_by_signals(), Caught() as caught:
        asked = asked_specs(args, start)
        if workers < 1:
            raise InputError(f"-n {workers}: wanted a number of workers from 1 up")
        check_premises(asked.project)
        compiler = compiler or Compiler()
        if not yes and not asked.named:
            _ask(due(compiler, asked.project, asked.files))
        return worst(_build_all(compiler, asked, workers))
    return caught.code or Exit.OK


def _ask(names: Sequence[str]) -> None:
    """Ask whether to build so many specs. Raises InputError where the answer is no or nobody can answer."""
    if len(names) <= MANY:
        return
    what = f"{len(names)} specs would be built: {', '.join(names)}"
    if not sys.stdin.isatty():
        raise InputError(f"{what}; add --yes, or name those that you want: spec=NAME,NAME")
    print(f"{what}. Build them? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise InputError("nothing was built; name the specs that you want: spec=NAME,NAME")


def _build_all(compiler: Compiler, asked: Asked, workers: int) -> set[Exit]:
    codes: set[Exit] = set()
    for path in asked.files:
        with Caught(asked.project.folder(path.stem).root / "logs", path.stem) as caught:
            folder = compiler.subject(asked.project, path, workers).folder
            with held(folder):
                for block in asked.approved:
                    approve(folder, compiler.steps, block)
                answer = build_spec(compiler.steps, compiler.subject(asked.project, path, workers))
            print(f"{answer.name}  {answer.outcome}  {answer.where}", flush=True)
            codes.add(answer.exit)
        if caught.code is Exit.INTERRUPTED:
            _leave()
        codes |= {caught.code} if caught.code else set()
    return codes


def _leave() -> None:
    """End now: blocks that still run in threads end with the process, and so do their children."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(Exit.INTERRUPTED)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM ends a build as an interrupt does."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


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
            "help": "build many specs without asking",
        },
    )

    def execute(self, opt_values: Mapping[str, Any], pos_args: list[str]) -> int:
        """Build. The words `k=v` are what doit took out of the command line."""
        words = [*doit_words(), *pos_args]
        workers = opt_values["workers"] or default_workers()
        return int(build(words, Path.cwd(), workers=workers, yes=opt_values["yes"]))
