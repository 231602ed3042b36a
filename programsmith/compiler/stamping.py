"""Which specs are up to date: by their stamps, else by a look at everything; and the stamps of those that are.

In: the compiler, a project, a spec file. Out: what is known of a spec, None where something is to be done. A spec gets
a stamp where a look found it up to date and nothing that it depends on changed from before the look to the stamp.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import programsmith
from programsmith.compiler.compile import Compiler
from programsmith.compiler.early import Known, Look, known_specs
from programsmith.compiler.footing import footing, keep, settled
from programsmith.compiler.paths import Project
from programsmith.compiler.slices import Glance, Steady
from programsmith.compiler.stamp import STARTED, Stamp, States, Watched, formed
from programsmith.compiler.standing import standings
from programsmith.compiler.watching import unwatched, watched
from programsmith.errors import InputError, ProgramSmithError
from programsmith.rulebook.load import packaged_rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A look at a spec: how many tasks are up to date, and what that depends on, None where there is no saying."""

    tasks: int
    watched: Watched | None = None
    states: States | None = None


class Stamps:
    """The stamps of a project's specs as one run reads and writes them; `looked` is what it knows of them already."""

    def __init__(self, compiler: Compiler, project: Project, looked: Look | None = None) -> None:
        self._compiler = compiler
        self._project = project
        self._looked = looked
        self._footing = looked.footing if looked else _footing(compiler, project)
        self._steady = compiler.over(Steady)

    def known(self, files: Sequence[Path]) -> Mapping[str, Known]:
        """What the stamps of these specs say: the file of each that holds to its answer."""
        if self._looked is not None:
            return self._looked.known
        if self._footing is None:
            return {}
        return known_specs(str(self._project.root), self._footing.fields[0], [str(path) for path in files])

    def look(self, path: Path) -> Seen | None:
        """Look at everything that the spec depends on. None where a task would run; a broken spec has none that would.

        Raises OSError.
        """
        try:
            compiler = self._steady.over(Glance) if self._stands() else self._compiler
            before = compiler.subject(self._project, path)
            found = settled(lambda: watched(compiler, before), str(self._project.cache))
            tasks, stampable = 0, found is not None
            with closing(standings(compiler, compiler.subject(self._project, path))) as standing:
                for attempt, would_run in standing:
                    if would_run:
                        return None
                    tasks += 1
                    stampable = stampable and not unwatched(attempt.turn, attempt.slice)
        except InputError:
            return Seen(tasks=0)
        if found is None or not stampable:
            return Seen(tasks=tasks)
        return Seen(tasks=tasks, watched=found[0], states=found[1])

    def keep(self, path: Path, seen: Seen, known: Known) -> None:
        """Stamp the spec with its answer where all is still as it was seen. Its lock is held by the caller."""
        if self._footing is None or seen.watched is None or seen.states is None:
            return
        try:
            if self._old and self._stands() and States(seen.watched).text == seen.states.text:
                answer = (str(known.seen), known.outcome, known.where, str(int(known.exit)))
                fields = [self._footing.fields[0], os.fsencode(path), *map(os.fsencode, answer)]
                keep(str(self._project.folder(path.stem).stamp), formed(fields, seen.watched, seen.states))
        except (OSError, OverflowError):
            return

    def _stands(self) -> bool:
        """Whether code, rules and host are what they were when this run began."""
        return self._footing is not None and self._footing.holds

    @functools.cached_property
    def _old(self) -> bool:
        """Whether all code and schemas are older than what runs, which then is what lies there; rules are read anew."""
        if self._footing is None:
            return False
        tops = (Path(programsmith.__file__).parent, self._compiler.code, packaged_rules() / "schema")
        kept = tuple(os.fsencode(top) + b"/" for top in tops)
        return (
            States(Watched([p for p in self._footing.watched.through if p.startswith(kept)], [], [])).newest < STARTED
        )

    def drop(self, path: Path) -> None:
        """Remove the spec's stamp: a build begins to change what it stands for."""
        self._project.folder(path.stem).stamp.unlink(missing_ok=True)


def _footing(compiler: Compiler, project: Project) -> Stamp | None:
    """What stamps stand on, None where that cannot be told: the look at a spec says then what is wrong."""
    try:
        if compiler.kind is None:
            return None
        return footing(project, compiler.kind, compiler.code, compiler.host(project))
    except (OSError, OverflowError, ProgramSmithError):
        return None
