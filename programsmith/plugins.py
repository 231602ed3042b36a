"""The verbs beside `build` as commands of doit: `doit plan spec=…` is `programsmith plan spec=…`, word for word.

In: the words after the verb, and those of the form `k=v`, which doit takes out of the command line. Out: an exit code.
"""

from __future__ import annotations

from collections.abc import Sequence

from doit.cmd_base import Command

from programsmith.compiler.build import doit_words
from programsmith.compiler.verbs import EXPORT, GC, PROVE, READING, SETTLE, VERIFY, YIELD, usage


class Verb(Command):  # type: ignore[misc]
    """A command that hands its words on as they are: the verb knows its options, and its `--help`."""

    doc_usage = "[--help]"
    doc_description = None
    cmd_options = ()

    def parse_execute(self, in_args: Sequence[str]) -> int:
        """Run the verb. Every error ends there, in a line and a code."""
        from programsmith.cli import run

        return run([self.name, *doit_words(), *in_args])


class Plan(Verb):
    """`doit plan`."""

    name = "plan"
    doc_purpose, doc_usage = READING["plan"].what, usage("plan")


class Status(Verb):
    """`doit status`."""

    name = "status"
    doc_purpose, doc_usage = READING["status"].what, usage("status")


class Explain(Verb):
    """`doit explain`."""

    name = "explain"
    doc_purpose, doc_usage = READING["explain"].what, usage("explain")


class Changed(Verb):
    """`doit changed`."""

    name = "changed"
    doc_purpose, doc_usage = READING["changed"].what, usage("changed")


class Report(Verb):
    """`doit report`."""

    name = "report"
    doc_purpose, doc_usage = READING["report"].what, usage("report")


class Export(Verb):
    """`doit export`."""

    name = "export"
    doc_purpose, doc_usage = EXPORT, "spec=NAME_OR_FILE[,…] format=tar"


class Verify(Verb):
    """`doit verify`."""

    name = "verify"
    doc_purpose, doc_usage = VERIFY, "PATH [--run] [--key KEY] [--json]"


class Prove(Verb):
    """`doit prove`."""

    name = "prove"
    doc_purpose, doc_usage = PROVE, "sandbox=docker|bubblewrap [spec=NAME_OR_FILE[,…]] [-n WORKERS]"


class Yield(Verb):
    """`doit yield`."""

    name = "yield"
    doc_purpose, doc_usage = YIELD, "[spec=NAME_OR_FILE[,…]]"


class Gc(Verb):
    """`doit gc`."""

    name = "gc"
    doc_purpose, doc_usage = GC, "[--days N]"


class Settle(Verb):
    """`doit settle`."""

    name = "settle"
    doc_purpose, doc_usage = SETTLE, "[spec=NAME_OR_FILE[,…]] [--id ID --usd USD]"
