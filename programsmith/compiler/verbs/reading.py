"""What the reading verbs share: which specs and tasks are meant, how the answer is printed.

In: a verb's name, words, whether JSON is wanted. Out: the answer on stdout, exit code 0. A verb's module has WORDS, the
words `k=v` that it takes, TASKS, whether it takes tasks, and `answer`. Nothing is locked, nothing written below cache/.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from programsmith.compiler.compile import Compiler
from programsmith.compiler.early import known_footing, known_specs
from programsmith.compiler.loader import Asked, asked_specs
from programsmith.compiler.outlook import Outlook, outlook
from programsmith.compiler.slices import Steady
from programsmith.errors import Exit, InputError, plain
from programsmith.rulebook.fault import suggest

VERSION = 1
"""Of the JSON forms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a verb answers: JSON, and the same for a person."""

    value: Mapping[str, Any]
    text: str


def read(verb: str, words: Sequence[str], start: Path, *, as_json: bool, compiler: Compiler | None = None) -> Exit:
    """Answer. Raises InputError, InfraError."""
    module = import_module(f"programsmith.compiler.verbs.{verb}")
    names = [word for word in words if "=" not in word] if module.TASKS else []
    rest = [word for word in words if word not in names]
    if names and not any(word.startswith("spec=") for word in rest):
        rest.append(f"spec={','.join(dict.fromkeys(name.partition(':')[0] for name in names))}")
    asked = asked_specs(rest, start, module.WORDS)
    found: Answer = module.answer(asked, names, compiler or Compiler())
    emit(json.dumps({"version": VERSION, **found.value}, indent=1) if as_json else found.text)
    return Exit.OK


def looks(asked: Asked, compiler: Compiler) -> Iterator[Outlook]:
    """The outlook of each spec. Raises what is wrong with one that was asked for by name."""
    clean, steady = _clean(asked, compiler), compiler.over(Steady)
    for path in asked.files:
        found = outlook(steady, asked.project, path, clean=str(path) in clean)
        if found.fault is not None and asked.named:
            raise found.fault
        yield found


def _clean(asked: Asked, compiler: Compiler) -> Collection[str]:
    """Files of the specs in which nothing is to be done, as their stamps say. None is written here."""
    root = str(asked.project.root)
    try:
        footing = None if compiler.kind is None else known_footing(root, compiler.kind)
        return () if footing is None else known_specs(root, footing.fields[0], list(map(str, asked.files)))
    except OSError:
        return ()


def check_names(names: Sequence[str], known: Sequence[str]) -> None:
    """Raise InputError for a task that there is not."""
    for name in names:
        if name not in known:
            raise InputError(f"{name}: wanted a task, got no such one; {suggest(name, known, 'the tasks are')}")


def short(name: str) -> str:
    """A task's name without its spec's."""
    return name.partition(":")[2]


def emit(text: str) -> None:
    """Print to stdout, whatever it can show; a reader that is gone has had enough. Nothing is no line."""
    if not text:
        return
    coding = sys.stdout.encoding or "utf-8"
    try:
        print(plain(text).encode(coding, "backslashreplace").decode(coding), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
