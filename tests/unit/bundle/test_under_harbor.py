"""An exported task under a real Harbor: lint, oracle, nop, forged rewards, regrading, and vectors as elsewhere."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from programsmith.blocks import create
from programsmith.bundle.grade import grade
from programsmith.bundle.sides import read_sides
from programsmith.bundle.solution import solution
from programsmith.bundle.submissions import SOUND, Submission, difference, read_submissions, scale_of, verdict
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.tree import write_tree
from programsmith.payload.verifier.unseal import SECRET_NAME
from programsmith.records.outcome import Word
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes.base import BUBBLEWRAP, DOCKER
from programsmith.toolchains.bases import agent_tag
from tests.contract.backends import base_image
from tests.samples.exporting import SECRET, exported
from tests.samples.harbor.runs import Harbor, Ran, example, program, watched
from tests.unit.bundle.conftest import Toy, environments

pytestmark = pytest.mark.harbor
HALF = "without_e"
KINDS = 12
TIMED = {"slow"}  # which of two clocks ends it depends on what else runs
WRITES = """for file in reward.json reward.txt details.json; do echo '{"reward": 1}' >/logs/verifier/$file; done"""
FORGERIES = {
    "writes_the_reward": WRITES,
    "goes_on_writing": f"setsid sh -c 'while :; do {WRITES.replace(chr(39), chr(34))}; done' >/dev/null 2>&1 &",
    "gives_more_artifacts": """cp -r /app/submission /logs/artifacts/; echo 1 >/logs/artifacts/reward.txt
        ln -s /etc/shadow /logs/artifacts/shadow; mkdir -p /app/more; echo 1 >/app/more/reward.txt""",
    "leaves_links": """cd /app/submission && ln -s /logs/verifier out && ln -s /tests/held_out.sealed cases
        mkfifo pipe; mknod disk b 7 0; touch set && chmod 6755 set""",
    "lays_down_tests": """mkdir -p /tests; printf '#!/bin/sh\\necho 1 >/logs/verifier/reward.txt\\n' >/tests/test.sh
        chmod +x /tests/test.sh; cp /tests/test.sh /usr/local/bin/python3""",
    "is_a_link": "mv /app/submission /app/other && ln -s /logs/verifier /app/submission; " + WRITES,
}
"""What is done as root in the agent's container beside a half-solution, which keeps its vector where it stays there."""
GONE = {"is_a_link"}


@dataclass(frozen=True, slots=True)
class Tried:
    """The trials of one job over one exported task, and what happened to containers meanwhile."""

    toy: Toy
    task: Path
    submissions: Mapping[str, Submission]
    folders: Mapping[str, Path]
    trials: Mapping[str, Ran]
    seen: list[tuple[str, str, str]]


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Harbor:
    return Harbor(program(), tmp_path_factory.mktemp("harbor"))


@pytest.fixture(scope="module")
def tried(harbor: Harbor, toys: Callable[[str, str], Toy], tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """One submission of each kind, and the half-solution beside every forgery."""
    top = tmp_path_factory.mktemp("tried")
    toy = toys("python", "python").copy(top / "toy")
    sound = [one for one in read_submissions(toy.bundle) if one.place == SOUND and one.kind not in TIMED]
    chosen = {one.id: one for one in {one.kind: one for one in reversed(sound)}.values()}
    files = {name: one.files for name, one in chosen.items()} | {HALF: half(toy)}
    folders = {name: top / "handed-in" / name for name in files}
    for name, entries in files.items():
        folders[name].parent.mkdir(exist_ok=True)
        write_tree(str(folders[name]), entries)
    given = {name: (folder, "") for name, folder in folders.items()}
    given |= {name: (folders[HALF], script) for name, script in FORGERIES.items()}
    task = exported(toy, top / "dist" / "rot")
    with watched() as seen:
        trials = harbor.handed_in("tried", task, given)
    assert trials.keys() == given.keys()
    return Tried(toy=toy, task=task, submissions=chosen, folders=folders, trials=trials, seen=seen)


def half(toy: Toy) -> tuple[FileEntry, ...]:
    """The original without one of its options."""
    files = solution(toy.bundle)
    assert any(b'word == "-e"' in e.content for e in files)
    return tuple(dataclasses.replace(e, content=e.content.replace(b'word == "-e"', b'word == "-"')) for e in files)


def vector(details: Mapping[str, Any]) -> dict[str, Any]:
    return {what: details[what] for what in ("word", "reward", "fraction", "cases", "families")}


def test_lint_finds_nothing_in_the_example_and_in_a_draft(
    harbor: Harbor, toys: Callable[[str, str], Toy], tmp_path: Path
) -> None:
    draft = exported(toys("python", "python").copy(tmp_path / "toy"), tmp_path / "drafts" / "rot", outcome=Word.DRAFT)
    for task in (example(), draft):
        assert json.loads(harbor.say("lint", "--json", task)) == []


@pytest.mark.parametrize(("agent", "reward"), [("oracle", 1.0), ("nop", 0.0)])
def test_the_examples_oracle_gets_one_and_nop_nothing(harbor: Harbor, agent: str, reward: float) -> None:
    ran = harbor.one(agent, example(), agent)
    assert ran.rewards == {"reward": reward}
    assert ran.result["verifier_environment_mode"] == "separate"
    assert ran.result["reward_valid"] is True


def test_the_oracle_opens_what_its_owner_sealed(
    harbor: Harbor, toys: Callable[[str, str], Toy], tmp_path: Path
) -> None:
    toy = toys("python", "python").copy(tmp_path / "toy")
    toy.spec["seal"], toy.owner_secret = "owner", SECRET
    shutil.rmtree(toy.bundle)
    create.run(toy.job("create"))
    ran = harbor.one("owner", exported(toy, tmp_path / "dist" / "rot"), "oracle", **{SECRET_NAME: SECRET.hex()})
    assert ran.rewards == {"reward": 1.0}


def test_the_oracle_of_another_language_gets_one(
    harbor: Harbor, toys: Callable[[str, str], Toy], tmp_path: Path
) -> None:
    """Its own agent's base is what both containers are made on: it holds all that either asks for."""
    base_image("c")
    base = agent_tag("c", Rulebook(None).load("containers")["suite"])
    task = exported(toys("python", "c").copy(tmp_path / "toy"), tmp_path / "dist" / "rot")
    assert harbor.one("carrying", task, "oracle", BASE=base).rewards == {"reward": 1.0}


def test_a_submission_gets_the_same_vector_in_the_three_runners(tried: Tried, tmp_path: Path) -> None:
    """Also the one that its words tell in advance."""
    assert len({one.kind for one in tried.submissions.values()}) >= KINDS
    scale = scale_of(read_sides(tried.toy.bundle))
    places = environments(tried.toy)
    for name, folder in tried.folders.items():
        ran = tried.trials[name]
        got = {"harbor": vector(ran.details)}
        for kind, place in places.items():
            got[kind] = vector(grade(tried.toy.bundle, folder, place, tmp_path / f"{name}.{kind}").details)
        assert got["harbor"] == got[BUBBLEWRAP] == got[DOCKER], name
        assert ran.rewards == {"reward": got["harbor"]["reward"]}, name
        if name in tried.submissions:
            assert difference(verdict(tried.submissions[name], scale), ran.details) == "", name


def test_the_half_solution_gets_the_fraction_that_it_implements(tried: Tried) -> None:
    families = {one.family for one in read_sides(tried.toy.bundle).held_out}
    implemented = {name for name in families if "-e" not in name.split()}
    assert implemented != families
    assert tried.trials[HALF].details["fraction"] == pytest.approx(len(implemented) / len(families))


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_reward_is_none(tried: Tried, name: str) -> None:
    ran = tried.trials[name]
    assert ran.rewards == {"reward": 0.0}
    assert (ran.folder / "agent" / "script.txt").read_text().startswith("0\n")
    if name not in GONE:
        assert vector(ran.details) == vector(tried.trials[HALF].details)


def test_the_agents_container_is_gone_before_the_verifiers_is_made(tried: Tried) -> None:
    """Each trial has two, one after the other; none has a network."""
    assert {network for action, _, network in tried.seen if action == "start"} == {"none"}
    for ran in tried.trials.values():
        name = ran.folder.name.lower()
        own = [(action, project) for action, project, _ in tried.seen if project.startswith(name)]
        assert [action for action, _ in own] == ["create", "start", "destroy"] * 2, own
        assert len({project for _, project in own}) == 2


def test_the_submission_alone_crosses_and_another_verifier_grades_it_again(
    harbor: Harbor, tried: Tried, tmp_path: Path
) -> None:
    """The other verifier counts fractions, and tells what it finds in its container."""
    first = {HALF: (tried.folders[HALF], ""), "more": (tried.folders[HALF], FORGERIES["gives_more_artifacts"])}
    trials = harbor.handed_in("first", tried.task, first)
    assert {tuple(ran.artifacts) for ran in trials.values()} == {("/app/submission", "/logs/artifacts")}
    other = Path(shutil.copytree(tried.task, tmp_path / "rot"))
    plan = json.loads((other / "tests/plan.json").read_bytes())
    (other / "tests/plan.json").write_text(json.dumps({**plan, "reward": "fraction"}))
    script = (other / "tests/test.sh").read_text()
    looks = "{ ls /sys/class/net; find /app /logs -mindepth 1 -not -path '/app/submission/*'; } | sort >/tmp/seen\n"
    told = "cp /tmp/seen /logs/verifier/seen\n"
    (other / "tests/test.sh").write_text(script.replace("set -u\n", "set -u\n" + looks).replace("exec ", "") + told)
    again = harbor.regraded("again", "first", other)
    assert again.keys() == first.keys()
    wanted = tried.trials[HALF].details["fraction"]
    own = ["/app/submission", "/logs/artifacts", "/logs/verifier", "/logs/verifier/test-stdout.txt", "lo"]
    for ran in again.values():
        assert ran.rewards == {"reward": pytest.approx(wanted)}
        assert vector(ran.details)["cases"] == vector(tried.trials[HALF].details)["cases"]
        assert (ran.folder / "verifier" / "seen").read_text().split() == own
