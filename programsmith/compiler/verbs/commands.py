"""The reading verbs as commands of doit: `doit plan spec=…`, wherever the package is installed."""

from __future__ import annotations

from programsmith.compiler.verbs import READING
from programsmith.compiler.verbs.reading import Reading


class Plan(Reading):
    """`doit plan`."""

    name = "plan"
    doc_purpose, doc_usage = READING["plan"]


class Status(Reading):
    """`doit status`."""

    name = "status"
    doc_purpose, doc_usage = READING["status"]


class Explain(Reading):
    """`doit explain`."""

    name = "explain"
    doc_purpose, doc_usage = READING["explain"]


class Changed(Reading):
    """`doit changed`."""

    name = "changed"
    doc_purpose, doc_usage = READING["changed"]
