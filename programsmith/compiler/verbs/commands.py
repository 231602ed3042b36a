"""The reading verbs as commands of doit: `doit plan spec=…`, wherever the package is installed."""

from __future__ import annotations

from programsmith.compiler.verbs import READING, usage
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
