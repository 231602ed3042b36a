"""Keys of blocks, drift of places, what is bought: on a package of two small blocks with the engine's own action."""

from __future__ import annotations

import functools
import io
import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from programsmith.bundle.dataset import tar_of
from programsmith.compiler.action import act
from programsmith.compiler.cached import key_of
from programsmith.compiler.paths import Project, Spot
from programsmith.compiler.plan import Step
from programsmith.compiler.slices import Blocks
from programsmith.compiler.storage import action_cache
from programsmith.compiler.tasks import Attempt, shown
from programsmith.compiler.turn import Subject, Turn
from programsmith.errors import BudgetError, InfraError
from programsmith.records.outcome import Record, Word
from programsmith.store.ledger import Ledger
from programsmith.store.retry import Retries
from programsmith.verdict.routes import Go

IMAGES = """
from programsmith.records.outcome import Outcome, Word
def run(job):
    job.outputs["r/environments.json"].write_text("{}")
    place = (job.project / "place").read_text()
    return Outcome(word=Word.PASS, reason=place, evidence={"fingerprint": place})
"""
TRIAL = """
NUMBER = 1
from programsmith.errors import InfraError
from programsmith.records.outcome import Outcome, Word
def key(job):
    return "the same agent sees the same"
def bound(job):
    return 0.4
def run(job):
    with (job.project / "calls").open("a") as out:
        out.write("call ")
    if (job.project / "dead").exists():
        raise InfraError("the line is dead")
    job.outputs["t.txt"].write_text("tried")
    return Outcome(word=Word.DONE, reason="", evidence={"usd": 0.1})
"""
STEPS = {
    "images": Step(block="images", writes=("r/environments.json",), says=(Word.PASS,), per_revision=True),
    "trial": Step(block="trial", writes=("t.txt",), says=(Word.DONE,), spec=("verifier",)),
}


class Rules:
    """No rule files."""

    def load(self, name: str) -> Any:
        raise KeyError(name)

    def digest(self, name: str) -> str:
        raise KeyError(name)


class Small:
    """Runs one block of the package."""

    def __init__(self, root: Path) -> None:
        self.root = root
        package = root / "smallforge"
        (package / "blocks").mkdir(parents=True)
        for name, text in {
            "__init__": "",
            "blocks/__init__": "",
            "blocks/wash": "",
            "blocks/images": IMAGES,
            "blocks/trial": TRIAL,
        }.items():
            (package / f"{name}.py").write_text(text)
        self.subject = Subject(
            folder=Project(root).folder("small"),
            values={"verifier": 1, "budget": {"usd": 1.0}},
            rules=Rules(),
            blocks=Blocks(package),
            route=lambda block, word: Go.CONTINUE,
            workers=1,
            retries=Retries(attempts=2),
        )
        self.moved(root)

    def moved(self, root: Path) -> None:
        """Another project with the same blocks."""
        self.root, project = root, Project(root)
        cache = functools.cache(lambda: action_cache(project, root / "specs" / "small.yaml"))
        self.subject = replace(self.subject, folder=project.folder("small"), cache=cache)

    def act(self, block: str) -> tuple[Record, bool]:
        turn = Turn(subject=self.subject, step=STEPS[block], spot=Spot(revision=0), reads=(), records={})
        done = act(turn, turn.slice())
        return done.record, done.restored

    def values(self, **changed: Any) -> None:
        self.subject = replace(self.subject, values={**self.subject.values, **changed})

    @property
    def calls(self) -> int:
        return len((self.root / "calls").read_text().split())

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.subject.folder.ledger)


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Small]:
    monkeypatch.syspath_prepend(tmp_path)
    yield Small(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "smallforge"]:
        del sys.modules[name]


def test_a_place_is_proven_each_time_and_tells_what_it_was_before(small: Small) -> None:
    for place, drift in (("a", None), ("a", None), ("b", ["a"]), ("b", ["a"]), ("c", ["a", "b"])):
        (small.root / "place").write_text(place)
        record, restored = small.act("images")
        assert not restored
        assert record.evidence == {"fingerprint": place} | ({"drift": drift} if drift else {})


def test_another_host_asks_the_same_of_a_place_and_something_else_of_a_block(small: Small) -> None:
    job: Any = None
    for block, same in (("images", True), ("wash", False)):
        step = Step(block=block, writes=("t.txt",), says=(Word.PASS,))
        turn = Turn(subject=small.subject, step=step, spot=Spot(revision=0), reads=(), records={})
        keys = {key_of(turn, job, {"code": "c", "host": host}) for host in "ab"}
        assert (len(keys) == 1) is same


def test_a_trial_is_bought_once_whatever_changes_that_its_agent_does_not_see(small: Small) -> None:
    first, restored = small.act("trial")
    assert not restored
    small.values(verifier=2)
    with (small.root / "smallforge" / "blocks" / "trial.py").open("a") as out:
        out.write("# another word\n")
    again, restored = small.act("trial")
    assert restored
    assert again == first
    assert small.calls == 1
    assert float(small.ledger.account().spent) == 0.1


def test_a_trial_is_bought_anew_under_another_number(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    small.act("trial")
    monkeypatch.setattr(sys.modules["smallforge.blocks.trial"], "NUMBER", 2)
    small.values(verifier=2)
    _, restored = small.act("trial")
    assert not restored
    assert small.calls == 2


def test_the_budget_ends_buying_before_the_call(small: Small) -> None:
    small.values(budget={"usd": 0.3})
    with pytest.raises(BudgetError, match=r"small:r0:trial may cost 0\.4 usd"):
        small.act("trial")
    assert not (small.root / "calls").exists()


def test_what_was_spent_outlives_the_folder_of_the_spec(small: Small) -> None:
    small.act("trial")
    for folder in (small.subject.folder.root, small.root / "cache" / "store"):
        shutil.rmtree(folder)
    assert float(small.ledger.account().spent) == 0.1
    small.values(budget={"usd": 0.45})
    with pytest.raises(BudgetError, match=r"may cost 0\.4 usd; 0\.1 are spent"):
        small.act("trial")
    assert small.calls == 1


def test_calls_that_ended_in_infra_keep_their_reservations_and_nothing_is_kept(small: Small) -> None:
    (small.root / "dead").touch()
    with pytest.raises(InfraError, match="the line is dead"):
        small.act("trial")
    assert small.calls == 2
    assert float(small.ledger.account().reserved) == 0.8
    (small.root / "dead").unlink()
    with pytest.raises(BudgetError):
        small.act("trial")
    for held in small.ledger.account().held:
        small.ledger.settle(held.id, 0.0, 1.0)
    _, restored = small.act("trial")
    assert not restored
    assert [json.loads(line)["kind"] for line in small.ledger.path.read_text().splitlines()] == [
        "reserve", "reserve", "settle", "settle", "reserve", "spend",
    ]  # fmt: skip


def killed_at(number: int, small: Small) -> bool:
    """Buy in a child that is killed when it brings something to the disk for the `number`th time; whether it was."""
    child = os.fork()
    if not child:
        durable, left = os.fsync, iter(range(number - 1))

        def fsync(handle: int) -> None:
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            durable(handle)

        os.fsync = fsync
        small.act("trial")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_what_the_ledger_says_was_bought_is_never_bought_again_whenever_a_run_is_killed(small: Small) -> None:
    small.act("trial")  # keys and modules are there
    root = small.root
    for number in range(1, 100):
        (root / str(number)).mkdir()
        small.moved(root / str(number))
        was_killed = killed_at(number, small)
        small.act("trial")
        kinds = [json.loads(line)["kind"] for line in small.ledger.path.read_text().splitlines()]
        assert kinds.count("spend") <= 1, number
        assert kinds.count("reserve") >= small.calls, number
        if not was_killed:
            break
    assert not was_killed
    assert number > 10


@pytest.mark.parametrize("dryrun", [True, False])
def test_cleaning_an_export_takes_its_tar_along(small: Small, dryrun: bool) -> None:
    place = small.root / "dist" / "drafts" / "small"
    place.mkdir(parents=True)
    tar_of(place).write_bytes(b"packed")
    step = Step(block="wash", writes=("dist/",), says=(Word.PASS,))
    turn = Turn(subject=small.subject, step=step, spot=Spot(revision=0), reads=(), records={}, exported=place)
    told = io.StringIO()
    shown(Attempt(turn), []).clean(told, dryrun)
    assert [place.exists(), tar_of(place).exists()] == [dryrun, dryrun]
    assert told.getvalue().endswith("dist/drafts/small, dist/drafts/small.tar\n")
