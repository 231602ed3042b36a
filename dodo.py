"""Plain doit's view of the compiled specs, and the contributors' tasks. Bare `doit` lists and never builds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from doit.exceptions import InvalidDodoFile
from doit.task import Task

from programsmith.compiler.build import doit_words
from programsmith.compiler.compile import Compiler
from programsmith.compiler.loader import asked_specs, doit_config, spec_tasks
from programsmith.compiler.pages import write_pages
from programsmith.compiler.quiet import until_read
from programsmith.errors import ProgramSmithError

until_read()
ROOT = Path(__file__).parent
COMPILER = Compiler()
try:
    ASKED = asked_specs(doit_words(), ROOT)
except ProgramSmithError as fault:
    raise InvalidDodoFile(str(fault)) from fault

DOIT_CONFIG: dict[str, Any] = doit_config(ASKED) | ({} if ASKED.named else {"default_tasks": ["standing"]})


def task_specs() -> Iterator[Task]:
    """Compiled specs, and how each stands."""
    try:
        yield from spec_tasks(COMPILER, ASKED)
    except ProgramSmithError as fault:
        raise InvalidDodoFile(str(fault)) from fault


def task_standing() -> dict[str, Any]:
    """List the specs: what `doit` without arguments does."""
    return {"actions": [["programsmith", "list"]], "verbosity": 2}


def task_check() -> dict[str, Any]:
    """Lint, types and import contracts."""
    commands = ("ruff check .", "ruff format --check .", "mypy", "lint-imports")
    return {"actions": [command.split() for command in commands], "verbosity": 2}


def task_test() -> dict[str, Any]:
    """The fast tests."""
    return {"actions": [["pytest", "-q", "-m", "not real and not soak"]], "verbosity": 2}


def task_docs() -> dict[str, Any]:
    """The pages that are made from the plan and the schema."""
    return {"actions": [(write_pages, [ROOT])], "verbosity": 2}
