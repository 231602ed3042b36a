"""Typed errors and the exit codes that they stand for.

An error says where, what was wanted, what was got, what to do. A block's "no" is an outcome, never an error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from enum import IntEnum


def plain(text: str) -> str:
    """The text as a terminal may show it: a repository, an agent or a model may have put orders for one into it.

    Lines stay lines; of what is not printable (control, direction, width) there remains how it is written in Python.
    """
    if text.isprintable():
        return text
    kept = (c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode("ascii") for c in text)
    return "".join(kept)


class Exit(IntEnum):
    """Exit codes of every command."""

    OK = 0  # ship, or draft where the spec asks for no trials
    ENDED = 1  # finished otherwise
    INFRA = 2  # run again to resume
    USAGE = 3  # wrong input or missing prerequisite
    INTERRUPTED = 130

    @staticmethod
    def worst(codes: Collection[Exit]) -> Exit:
        """The exit code of several specs."""
        order = (Exit.INTERRUPTED, Exit.USAGE, Exit.INFRA, Exit.ENDED)
        return next((code for code in order if code in codes), Exit.OK)


class ProgramSmithError(Exception):
    """Base of all errors that a user is meant to read. `kind` says in one word which it is."""

    exit = Exit.INFRA
    kind = "infra"


class InputError(ProgramSmithError):
    """Wrong input: a spec, a rules file, an argument. Nothing was changed."""

    exit = Exit.USAGE
    kind = "error"


class PrerequisiteError(ProgramSmithError):
    """Something that this machine lacks; the message names the command that provides it."""

    exit = Exit.USAGE
    kind = "error"


class InfraError(ProgramSmithError):
    """A failure that submitted code cannot have caused. Never a score, never cached.

    `again`: whether another attempt may do better; `after`: seconds before which none will.
    """

    exit = Exit.INFRA

    def __init__(self, message: str, *, again: bool = True, after: float = 0.0) -> None:
        super().__init__(message)
        self.again, self.after = again, after


class BudgetError(PrerequisiteError):
    """A call that could pass the spec's budget; it was not made. What was bought stays."""

    kind = "budget"


class UndeclaredAccess(RuntimeError):
    """A block read a spec field, a rule file or an artifact that its step does not declare: a bug of ours."""


@contextmanager
def boundary(kind: type[ProgramSmithError], what: str, *faults: type[Exception]) -> Iterator[None]:
    """Turn `faults` raised inside into `kind`, naming `what` was being done; errors of ours pass unchanged.

    What the system says is told in its words, with the file where `what` does not name it.
    """
    try:
        yield
    except ProgramSmithError:
        raise
    except faults as fault:
        raise kind(f"{what}: {_said(fault, what)}") from fault


def _said(fault: Exception, what: str) -> str:
    if not isinstance(fault, OSError) or fault.strerror is None:
        return str(fault)
    name = fault.filename.decode("utf-8", "backslashreplace") if isinstance(fault.filename, bytes) else fault.filename
    return fault.strerror if name is None or str(name) in what else f"{fault.strerror}: {name}"
