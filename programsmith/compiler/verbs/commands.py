"""The verbs beside `build` as commands of doit: `doit plan spec=…`, wherever the package is installed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from doit.cmd_base import Command

from programsmith.compiler.build import default_workers, doit_words
from programsmith.compiler.verbs import PROVE, READING, usage
from programsmith.compiler.verbs.reading import Reading


class Plan(Reading):
    """`doit plan`."""

    name = "plan"
    doc_purpose, doc_usage = READING["plan"].what, usage("plan")


class Status(Reading):
    """`doit status`."""

    name = "status"
    doc_purpose, doc_usage = READING["status"].what, usage("status")


class Explain(Reading):
    """`doit explain`."""

    name = "explain"
    doc_purpose, doc_usage = READING["explain"].what, usage("explain")


class Changed(Reading):
    """`doit changed`."""

    name = "changed"
    doc_purpose, doc_usage = READING["changed"].what, usage("changed")


class Report(Reading):
    """`doit report`."""

    name = "report"
    doc_purpose, doc_usage = READING["report"].what, usage("report")


class Prove(Command):  # type: ignore[misc]
    """`doit prove`."""

    name = "prove"
    doc_purpose = PROVE
    doc_usage = "sandbox=docker|bubblewrap [spec=NAME_OR_FILE[,…]] [-n WORKERS]"
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
    )

    def execute(self, opt_values: Mapping[str, Any], pos_args: list[str]) -> int:
        """Prove. The words `k=v` are what doit took out of the command line."""
        from programsmith.compiler.proving import prove

        workers = opt_values["workers"] or default_workers()
        return int(prove([*doit_words(), *pos_args], Path.cwd(), workers=workers))
