"""A spec compiled: what it is built from, how it stands, which turns it has.

In: the plan, the blocks, a project, a spec file. Out: subjects and turns. The plan and the blocks are parameters, so
that the engine is tested on pipelines of its own. Refuses what the spec and rule loaders refuse (InputError).
"""

from __future__ import annotations

import copy
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from programsmith.compiler.approval import approvals
from programsmith.compiler.events import Tell
from programsmith.compiler.passes import assumed, outcome_of, recorded, turn_of, walk_of
from programsmith.compiler.paths import Project
from programsmith.compiler.plan import STEPS, Step
from programsmith.compiler.proven import decided, proofs
from programsmith.compiler.pushed import pushed
from programsmith.compiler.slices import Blocks, RuleFiles, json_digest, launches
from programsmith.compiler.storage import action_cache, signing_key
from programsmith.compiler.turn import Subject, Turn
from programsmith.compiler.view import Plain
from programsmith.compiler.walk import Route
from programsmith.errors import InputError
from programsmith.payload.verifier.unseal import SECRET_NAME
from programsmith.rulebook.load import Rulebook
from programsmith.spec.load import load_spec
from programsmith.store.retry import Retries
from programsmith.verdict.routes import Routes

NEVER, STALE = "never built", "stale"


class Compiler:
    """Steps and blocks, ready to be applied to specs. Rules, routes and retries default to the project's."""

    def __init__(
        self,
        steps: Sequence[Step] = STEPS,
        blocks: Blocks | None = None,
        route: Route | None = None,
        rules: Callable[[Path], RuleFiles] = Rulebook,
        retries: Retries | None = None,
    ) -> None:
        self.steps = tuple(steps)
        self._blocks = blocks or Blocks()
        self._route = route
        self.rules = rules
        self._retries = retries

    def over(self, kind: Callable[[Blocks], Blocks]) -> Compiler:
        """The same compiler over another view of its blocks."""
        made = copy.copy(self)
        made._blocks = kind(self._blocks)  # noqa: SLF001 - its own
        return made

    @property
    def kind(self) -> str | None:
        """Empty for the command line's compiler, a name for others; None where blocks are more than what lies there."""
        if type(self._blocks) is not Blocks:
            return None
        own = (self._route, self._retries) != (None, None) or self.rules is not Rulebook or self.steps != STEPS
        return json_digest([str(self.code), repr(self.steps)]) if own or self.code != Blocks().folder else ""

    @property
    def code(self) -> Path:
        """The folder of the package whose blocks it runs."""
        return self._blocks.folder

    def host(self, project: Project) -> list[str]:
        """Patterns of the host's files that are causes of some step. Raises InputError."""
        if not any(launches(step) for step in self.steps):
            return []
        return list(self.rules(project.root).load("toolchains")["host"])

    def decided(self, rules: RuleFiles) -> str:
        """What decides a proof in another backend besides the bundle."""
        return decided(self.steps, rules, self._blocks)

    def subject(self, project: Project, path: Path, workers: int = 1, tell: Tell | None = None) -> Subject:
        """The spec at `path`, read and checked. Raises InputError."""
        spec = load_spec(path, project.root)
        rules = self.rules(project.root)
        folder = project.folder(spec.name)
        return Subject(
            folder=folder,
            files=spec.files,
            values={
                **spec.values,
                "approved": approvals(folder),
                "proven": proofs(folder, lambda: self.decided(rules)),
                "pushed": pushed(folder),
            },
            rules=rules,
            blocks=self._blocks,
            route=self._route or Routes(rules.load("routes")).go,
            workers=workers,
            tell=tell or Plain().show,
            owner_secret=owner_secret() if spec.values["seal"] == "owner" else None,
            environment=dict(os.environ),
            signing_key=signing_key,
            cache=functools.cache(lambda: action_cache(project, path)),
            retries=self._retries or Retries.of(rules.load("retries")),
        )

    def view(self, subject: Subject) -> Iterator[Turn]:
        """Every turn that the records on disk lead to, then those that would follow if all went on.

        For showing only: these records are not checked.
        """
        walk = walk_of(subject, self.steps)
        while due := walk.due():
            for one in due:
                turn = turn_of(subject, walk, one)
                yield turn
                walk.settle(one, assumed(turn, walk, recorded(turn)))
            walk.advance()


def standing_of(subject: Subject, *, stale: bool) -> str:
    """The outcome of the last verdict in one word; `stale` where that is not current, `never built` without one."""
    outcome = outcome_of(subject.folder.verdict)
    return STALE if outcome and stale else outcome or NEVER


def owner_secret() -> bytes | None:
    """What opens what its owner sealed, as the environment gives it. Raises InputError."""
    given = os.environ.get(SECRET_NAME)
    try:
        return bytes.fromhex(given) if given else None
    except ValueError as fault:
        raise InputError(f"{SECRET_NAME}: wanted hexadecimal digits, got something else") from fault
