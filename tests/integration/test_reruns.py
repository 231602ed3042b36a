"""What reruns when one thing changes, asked of the engine: every field of the spec, every rule, every other cause.

The plan, the routes, the walk and the slices are the real ones; the blocks are idle ones that cost no time. A field or
a rule that samples/edits.py does not change fails.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from programsmith.compiler.compile import Compiler
from programsmith.compiler.lock import held
from programsmith.compiler.pages import changes, reruns_page
from programsmith.compiler.paths import Project
from programsmith.compiler.plan import STEPS
from programsmith.compiler.reruns import NOTES, OTHERS, reruns
from programsmith.compiler.revision import build_spec
from programsmith.compiler.standing import standings
from programsmith.compiler.turn import Subject
from programsmith.rulebook.load import packaged_rules
from programsmith.spec.unavailable import RUNS

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "samples"))

from edits import ANSWERS, FIELDS, JUDGED, MATRIX, PROMPTS, RULES, SPEC, edited  # noqa: E402
from idle import IdleBlocks  # noqa: E402

WORKERS = 4
HOST, SECRET, SOURCE, FOLDER, *SAID = OTHERS
CONTENT = {HOST: "libc", SOURCE: "mine/program", FOLDER: "shown/tool"}
CONTENT |= {said: f"said/{said.split()[2]}.yaml" for said in SAID}
WAYS = (  # the first blocks of a row decide who follows: here from where the pipeline begins to where it ends
    "source.git", "rules/checks", "generation", "difficulty[].confidence", "horizon.min_lines",
)  # fmt: skip
OF_A_JUDGE = {
    "rules/asks",
    "rules/prompts/triage.md",
    "rules/schema/answer_triage.json",
    *(s for s in SAID if "triage" in s),
}
BLOCKS = [step.block for step in STEPS]


class Tried:
    """A project whose spec was built by idle blocks, and what an engine says of it after a change."""

    def __init__(self, root: Path, **changed: Any) -> None:
        self.root = root
        for name in ("mine", "specs", "rules", "solvers", "shown", "said", "empty"):
            (root / name).mkdir(parents=True)
        for name in ("solvers/one.py", "solvers/two.py", *CONTENT.values()):
            (root / name).write_text("as it was")
        (root / "specs" / "tried.yaml").write_text(yaml.safe_dump({**SPEC, **changed}))
        self.rule("batches", {"first": 1, "further": 2})
        self.rule("toolchains", {"host": [str(root / "libc")]})
        self.blocks = IdleBlocks(root / "empty")
        self.compiler = Compiler(blocks=self.blocks)
        self.subject = self.read()
        self.build(self.subject)

    def rule(self, name: str, edit: Mapping[str, Any]) -> None:
        path = self.root / rule_file(name)
        text = (path if path.exists() else packaged_rules() / path.relative_to(self.root / "rules")).read_text()
        path.parent.mkdir(exist_ok=True)
        if name in ANSWERS:
            path.write_text(json.dumps(edited(json.loads(text), ANSWERS[name])))
            return
        path.write_text(text + PROMPTS[name] if name in PROMPTS else yaml.safe_dump(edited(yaml.safe_load(text), edit)))

    def read(self) -> Subject:
        subject = self.compiler.subject(Project(self.root), self.root / "specs" / "tried.yaml", WORKERS)
        return dataclasses.replace(subject, cache=None, tell=lambda event: None)

    @contextlib.contextmanager
    def changed(self, change: str) -> Iterator[Subject]:
        """The spec after the change. What was built stays as it was before it."""
        name = change.removeprefix("rules/")
        if change in FIELDS:
            yield dataclasses.replace(self.subject, values=edited(deepcopy(dict(self.subject.values)), FIELDS[change]))
        elif change == SECRET:
            yield dataclasses.replace(self.subject, owner_secret=b"2" * 32)
        else:
            path = self.root / (CONTENT[change] if change in CONTENT else rule_file(name))
            former = path.read_bytes() if path.exists() else None
            path.write_text("otherwise") if change in CONTENT else self.rule(name, RULES.get(name, {}))
            try:
                yield self.read()
            finally:
                path.unlink() if former is None else path.write_bytes(former)

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        """Put back afterwards what a build changes."""
        kept = self.root.with_name(self.root.name + ".kept")
        for name in ("cache", "dist"):
            shutil.copytree(self.root / name, kept / name)
        try:
            yield
        finally:
            for name in ("cache", "dist"):
                shutil.rmtree(self.root / name)
                (kept / name).rename(self.root / name)

    def would_run(self, subject: Subject) -> set[str]:
        """Blocks of which a task would run, each asked by itself, as if nothing before it ran."""
        return {attempt.turn.step.block for attempt, runs in standings(self.compiler, subject) if runs}

    def build(self, subject: Subject, *, others: bool = True) -> set[str]:
        """Build; blocks of which a task ran. Each says something else than before, and writes `others` or the same."""
        self.blocks.number += 1
        self.blocks.others = others
        with held(subject.folder):
            answer = build_spec(STEPS, subject)
        assert answer.outcome == "ship", answer
        return {block for name in answer.ran for block in BLOCKS if block in name.split(":")[1:4]}


def rule_file(name: str) -> str:
    return f"rules/{name}" if name in {*PROMPTS, *ANSWERS} else f"rules/{name}.yaml"


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    return Tried(tmp_path_factory.mktemp("tried") / "list")


@pytest.fixture(scope="module")
def crossed(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """The same with a sweep over agents and models."""
    return Tried(tmp_path_factory.mktemp("tried") / "cross", sweep=MATRIX)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """The same with a judge of trials."""
    return Tried(tmp_path_factory.mktemp("tried") / "judge", models=JUDGED)


@pytest.fixture
def base(change: str, request: pytest.FixtureRequest) -> Tried:
    other = "crossed" if change.startswith("sweep.") else "judged" if change in OF_A_JUDGE else "tried"
    found: Tried = request.getfixturevalue(other)
    return found


def test_a_judged_trial_is_a_cause_of_triage_itself(judged: Tried) -> None:
    """What its row calls a follower where nobody judges."""
    change = "rollouts[].trials"
    row = reruns(STEPS, change)
    with judged.changed(change) as subject:
        assert judged.would_run(subject) == {*row.at_once, "triage"}


def test_every_field_and_every_rule_is_changed() -> None:
    assert [c for c in changes() if c not in OTHERS] == [
        *FIELDS,
        *sorted([*(f"rules/{name}" for name in RULES), *(f"rules/{name}" for name in (*PROMPTS, *ANSWERS))]),
    ]
    assert set(CONTENT) | {SECRET} == set(OTHERS)


def test_an_unchanged_spec_reruns_nothing(tried: Tried) -> None:
    with tried.changed("version") as subject:
        assert tried.would_run(subject) == set()
        assert tried.build(subject) == set()


@pytest.mark.parametrize("change", changes())
def test_a_change_reruns_the_blocks_of_its_row(base: Tried, change: str) -> None:
    with base.changed(change) as subject:
        assert base.would_run(subject) == set(reruns(STEPS, change).at_once)


@pytest.mark.parametrize("change", WAYS)
def test_who_follows_is_as_the_row_says(base: Tried, change: str) -> None:
    row = reruns(STEPS, change)
    with base.restored(), base.changed(change) as subject:
        assert base.build(subject, others=False) == {*row.at_once, *row.answers}
    with base.restored(), base.changed(change) as subject:
        assert base.build(subject, others=True) == {*row.at_once, *row.answers, *row.artifacts}


def test_the_page_is_as_the_plan_says() -> None:
    assert (ROOT / "docs" / "reruns.md").read_text(encoding="utf-8") == reruns_page()


def test_what_reruns_nothing_says_why() -> None:
    assert set(NOTES) <= set(changes())
    silent = {change for change in changes() if not reruns(STEPS, change).at_once} - set(NOTES)
    assert silent <= {field for field, _ in RUNS}
