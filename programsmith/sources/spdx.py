"""SPDX expressions: what a manifest's words mean, and which side of them the rule accepts."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

UNKNOWN = "LicenseRef-unknown"
BARE_GNU = re.compile(r"(A|L)?GPL-\d\.\d")
GNU_VERSION_WORDS = ("-only", "-or-later")


@dataclass(frozen=True, slots=True)
class Choice:
    """The part of an expression that is accepted, or the id that is not."""

    taken: str | None
    refused: str | None = None


@cache
def _spdx() -> Any:
    from license_expression import get_spdx_licensing

    return get_spdx_licensing()


def _parse(expression: str) -> Any:
    """The syntax tree of an expression, None where it is none."""
    from license_expression import ExpressionError

    try:
        return _spdx().parse(expression)
    except ExpressionError:
        return None


def squeezed(text: str) -> str:
    """Lower case, single blanks: the form in which phrases and aliases are looked up."""
    return " ".join(text.lower().split())


def expression_of(claim: str, aliases: Mapping[str, str]) -> str:
    """The SPDX expression that a manifest's claim means; UNKNOWN where it means none."""
    alias = aliases.get(squeezed(claim))
    if alias is not None:
        return alias
    tree = _parse(re.sub(r"\s*/\s*", " OR ", claim.strip()))
    if tree is None or any(not _is_spdx(i) for i in ids_in(tree)):
        return UNKNOWN
    return str(tree)


def _is_spdx(name: str) -> bool:
    return name.startswith("LicenseRef-") or name in _spdx().known_symbols or BARE_GNU.fullmatch(name) is not None


def ids_in(expression: Any) -> list[str]:
    """The licence ids of an expression (text or tree), exceptions left off."""
    tree = _parse(expression) if isinstance(expression, str) else expression
    if tree is None:
        return [UNKNOWN]
    if hasattr(tree, "operator"):
        return [i for arg in tree.args for i in ids_in(arg)]
    return [str(getattr(tree, "license_symbol", tree).key)]


def is_choice(expression: str) -> bool:
    """Whether the expression offers alternatives."""
    return " OR " in expression


def family(identifier: str) -> str:
    """A GNU id without its version words: the text of GPL-2.0-only and of GPL-2.0-or-later is the same."""
    for word in GNU_VERSION_WORDS:
        identifier = identifier.removesuffix(word)
    return identifier


def modern(identifier: str) -> str:
    """The id that SPDX has today for the text of a GNU licence; others unchanged."""
    return f"{identifier}-only" if BARE_GNU.fullmatch(identifier) else identifier


def choose(expression: str, allowed: frozenset[str]) -> Choice:
    """The accepted side of an expression: one side of an OR is enough, an AND needs all."""
    tree = _parse(expression)
    return Choice(None, UNKNOWN) if tree is None else _choose(tree, allowed)


def _choose(tree: Any, allowed: frozenset[str]) -> Choice:
    operator = getattr(tree, "operator", "").strip()
    if not operator:
        plain = ids_in(tree)[0]
        return Choice(str(tree)) if plain in allowed else Choice(None, plain)
    parts = [_choose(arg, allowed) for arg in tree.args]
    refused = next((p.refused for p in parts if p.taken is None), None)
    if operator == "OR":
        taken = next((p.taken for p in parts if p.taken is not None), None)
        return Choice(taken, None if taken else refused)
    if refused is not None:
        return Choice(None, refused)
    return Choice(" AND ".join(dict.fromkeys(p.taken for p in parts if p.taken)))


def explain(identifier: str, rule: Mapping[str, Any]) -> tuple[str, str]:
    """(class, reason) of an id that is not accepted."""
    for row in rule["refused"]:
        if any(fnmatch.fnmatchcase(identifier, pattern) for pattern in row["ids"]):
            return str(row["class"]), str(row["reason"])
    return "unlisted", "no line of the rule accepts it"
