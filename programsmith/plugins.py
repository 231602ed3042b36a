"""The verbs beside `build` as commands of doit: `doit plan spec=…` is `programsmith plan spec=…`, word for word.

In: the words after the verb, and those of the form `k=v`, which doit takes out of the command line. Out: an exit code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from doit import cmd_info
from doit.cmd_base import Command
from doit.exceptions import InvalidCommand

from programsmith.compiler.build import doit_words
from programsmith.compiler.quiet import elsewhere, until_begun
from programsmith.compiler.verbs import ADOPT, AGENTS, EXPORT, GC, PROVE, READING, SETTLE, VERIFY, YIELD, usage


class Verb(Command):  # type: ignore[misc]
    """A command that hands its words on as they are: the verb knows its options, and its `--help`."""

    doc_description = None
    cmd_options = ()

    def __init__(self, **given: Any) -> None:
        until_begun()
        super().__init__(**given)

    def parse_execute(self, in_args: Sequence[str]) -> int:
        """Run the verb. Every error ends there, in a line and a code."""
        refused = elsewhere()
        if refused is not None:
            return refused
        from programsmith.cli import run

        return run([self.name, *doit_words(), *in_args])


class OneTask(cmd_info.Info):  # type: ignore[misc]
    """doit's own `info`, which says that there is no such task as its `list` does. A checkout's settings name it."""

    name = "info"

    def _execute(self, pos_args: list[str], hide_status: bool = False) -> int:  # noqa: FBT001, FBT002 - as doit calls it
        known = {task.name for task in self.task_list}
        unknown = next((name for name in pos_args[:1] if name not in known), None)
        if unknown is not None:
            raise InvalidCommand(not_found=unknown)
        return int(super()._execute(pos_args, hide_status))


def _verb(name: str, purpose: str, words: str) -> type[Verb]:
    return type(name.title(), (Verb,), {"name": name, "doc_purpose": purpose, "doc_usage": words})


Plan, Status, Explain, Changed, Report = (_verb(name, verb.what, usage(name)) for name, verb in READING.items())
Export = _verb("export", EXPORT, "[spec=NAME_OR_FILE[,…]] [format=tar] [registry=HOST/NAME] [--with-base]")
Verify = _verb("verify", VERIFY, "PATH [--run] [--key KEY] [--json]")
Prove = _verb("prove", PROVE, "sandbox=docker|bubblewrap [spec=NAME_OR_FILE[,…]] [-n WORKERS]")
Yield = _verb("yield", YIELD, "[spec=NAME_OR_FILE[,…]]")
Agents = _verb("agents", AGENTS, "install|remove NAME[@VERSION] … | list")
Adopt = _verb("adopt", ADOPT, "[spec=NAME_OR_FILE[,…]]")
Gc = _verb("gc", GC, "[--days N] [--forget DAYS]")
Settle = _verb("settle", SETTLE, "[spec=NAME_OR_FILE[,…]] [--id ID --usd USD]")
