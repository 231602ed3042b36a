from __future__ import annotations

from programsmith.payload.verifier.model import Case, Expected
from programsmith.records.golden import Golden, Provenance
from programsmith.records.lock import OracleFacts


def facts(**changes):
    """Facts of a small tool with two subcommands."""
    values = {
        "tool": "tool",
        "program": "/opt/oracle/tool",
        "language": "c",
        "exec_allowed": (),
        "recipe": (),
        "subcommands": ("add", "list"),
        "options": ("-a", "-b", "-c", "-w", "--long", "-name"),
        "version": "1",
        "fingerprint": "",
    }
    return OracleFacts(**{**values, **changes})


def golden(*argv, stdout=b"out\n", family="plain", group="", **rest):
    """A golden of a case with these arguments; `group` defaults to one of its own."""
    inputs = {k: rest.pop(k) for k in ("stdin", "env", "files") if k in rest}
    effect = {"exit_code": 0, **rest}
    case = Case(argv=argv, **inputs)
    return Golden(
        id=case.id,
        case=case,
        expected=Expected(stdout=stdout, **effect),
        provenance=Provenance(miner="tables", path=b"t", line=1, blob="", licence="MIT"),
        family=family,
        group=group or case.id,
        agreement="agree",
        cpu_seconds=0.01,
    )
