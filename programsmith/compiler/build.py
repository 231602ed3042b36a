"""The verb `build` as others call it, and as doit's command.

In: `spec=…` words and the number of workers. Out: what builds.py makes of them. doit imports this for its command, so
what a build needs is imported when the stamps have no answer.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doit import doit_cmd
from doit.cmd_base import Command

from programsmith.compiler.early import VERB, Look, answered
from programsmith.compiler.quiet import elsewhere, until_begun
from programsmith.errors import Exit

if TYPE_CHECKING:
    from programsmith.compiler.compile import Compiler


def build(
    args: Sequence[str],
    start: Path,
    *,
    workers: int,
    yes: bool = False,
    compiler: Compiler | None = None,
    looked: Look | None = None,
) -> Exit:
    """Build the specs that `args` ask for, `workers` at a time. Every error ends here, in a line and a code."""
    from programsmith.compiler.builds import Ways, build_asked
    from programsmith.compiler.compile import Compiler

    return build_asked(args, start, Ways(compiler=compiler or Compiler(), workers=workers, yes=yes, looked=looked))


def default_workers() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0))


def doit_words() -> list[str]:
    """The words `k=v` that doit took out of its command line: all of them, where `get_var` gives but known ones."""
    return [f"{name}={value}" for name, value in (vars(doit_cmd)["_CMDLINE_VARS"] or {}).items()]


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

    def __init__(self, **given: Any) -> None:
        until_begun()
        super().__init__(**given)

    def execute(self, opt_values: Mapping[str, Any], pos_args: list[str]) -> int:
        """Build. The words `k=v` are what doit took out of the command line."""
        refused = elsewhere()
        if refused is not None:
            return refused
        words = [*doit_words(), *pos_args]
        workers = opt_values["workers"] or default_workers()

        def go_on(looked: Look | None) -> int:
            return int(build(words, Path.cwd(), workers=workers, yes=opt_values["yes"], looked=looked))

        return answered([VERB, *words], go_on) if workers > 0 else go_on(None)
