"""Why a task runs, for a person: `rules/checks.yaml changed`, `record of r0:static would be made anew`.

In: the name of a cause as slices.py gives it, what it was, what stands behind it. Out: one phrase. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass

from programsmith.compiler.slices import ABSENT, NEED

FIXED = {
    "host": "this host changed",
    "owner secret": "the owner's secret changed",
    "trial": "its entry in the spec changed",
    "trials": "other trials are asked for",
    NEED: "something else is asked of the next revision",
    "agent script": "files beside its script changed",
    "agent folder": "files of its folder changed",
    "source.path": "files below source.path changed",
    "source.archive": "the file source.archive changed",
}
NEVER = "never built"
MANY = 3  # names that a phrase lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """`name` is the engine's, `text` for a person; `task` is the one that makes the cause anew, where one would."""

    name: str
    text: str
    task: str = ""


def changed(name: str, was: str | None, new: str | None, details: list[str]) -> str:
    """The phrase for a cause whose digest is another one. None: it was none, or is none now."""
    kind, _, rest = name.partition("/")
    if name.startswith("spec."):
        return f"{', '.join(details[:MANY])}{_more(details)}" if details else _so(name, was, new)
    if kind == "rules" and rest:
        file = name if "." in rest else f"{name}.yaml"
        return _so(file, was, new)
    if name == "code" or (kind == "payload" and rest):
        return f"{name} changed{_listed(details)}"
    if name.startswith("record "):
        return _so(f"the record of {name.removeprefix('record ')}", was, new)
    return FIXED.get(name) or _so(name, was, new)


def anew(name: str, task: str) -> str:
    """The phrase for a cause that another task would make anew."""
    short = task.partition(":")[2]
    what = "record" if name.startswith("record ") or name == NEED else name
    return f"{what} of {short} would be made anew"


def altered(artifact: str, *, there: bool) -> str:
    """The phrase for what is not as the task left it."""
    return f"{artifact} was altered" if there else f"{artifact} is gone"


def _so(what: str, was: str | None, new: str | None) -> str:
    if new is None:
        return f"{what} is read no more"
    if new == ABSENT:
        return f"{what} is gone"
    return f"{what} changed" if was is not None else f"{what} is read now"


def _listed(details: list[str]) -> str:
    return f": {', '.join(details[:MANY])}{_more(details)}" if details else ""


def _more(details: list[str]) -> str:
    return f" and {len(details) - MANY} more" if len(details) > MANY else ""
