"""docs/checks.md: what each static check holds a bundle to, in the rule's order, and which defences it watches.

In: the two rules. Out: Markdown. What a check is for stands in its own file; nothing of the page is written by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from programsmith.checks.registry import CHECKS

HEAD = """\
# Static checks

Every bundle is held to these before anybody tries it; one that fails goes no further. This page is generated from
`programsmith/checks/`, `rules/checks.yaml` and `rules/defences.yaml`. A check looks at the bundle as it lies there, or
has the bundle's own verifier grade something: then it holds whatever the verifier's code says. A reason names the file,
what was wanted and what was got. A test removes each defence alone and sees that every check that watches it goes red.

| check | what it holds a bundle to | parameters | defences that it watches |
|---|---|---|---|
"""


def checks_page(checks: Mapping[str, Any], defences: Mapping[str, Any]) -> str:
    """The page; `checks` and `defences` are the rules of these names."""
    watched: dict[str, list[str]] = {}
    for row in defences["defences"]:
        for name in row["watched_by"]:
            watched.setdefault(name, []).append(row["id"])
    return HEAD + "".join(_row(row["id"], row["parameters"], watched.get(row["id"], ())) for row in checks["checks"])


def purpose(name: str) -> str:
    """The first sentence of the check's own file."""
    text = sys.modules[CHECKS[name].__module__].__doc__ if hasattr(CHECKS[name], "__module__") else None
    return " ".join((text or "").partition("\n\n")[0].split())


def _row(name: str, parameters: Mapping[str, Any], watched: Iterable[str]) -> str:
    given = ", ".join(f"`{key}`" for key in parameters)
    cells = (f"`{name}`", purpose(name).replace("|", "\\|"), given or "—", ", ".join(f"`{d}`" for d in watched) or "—")
    return f"| {' | '.join(cells)} |\n"
