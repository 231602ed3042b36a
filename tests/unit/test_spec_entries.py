from __future__ import annotations

from pathlib import Path

import pytest

from programsmith.errors import InputError
from programsmith.miners import MINERS
from programsmith.spec.load import load_spec

OK = "name: t\nsource: {path: src}\nbudget: {usd: 1}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in ("specs", "src/inner", "agents", "more", "cache/t", "dist"):
        (tmp_path / folder).mkdir(parents=True)
    for file in (
        "agents/solve.py",
        "agents/other.py",
        "more/solve.py",
        "src/inner/solve.py",
        "cache/t/solve.py",
        "solve.py",
    ):
        (tmp_path / file).touch()
    return tmp_path


def load(project: Path, asks: str) -> dict[str, object]:
    path = project / "specs" / "t.yaml"
    path.write_text(f"{OK}{asks}\n")
    return load_spec(path, project).values


REFUSED = {
    "a cross product with an agent that asks no model": (
        "sweep: {agents: [nop], models: [a/b]}",
        (
            "sweep.agents[0]: wanted one of command, claude-code, codex, gemini-cli, mini-swe-agent, got `nop`; "
            "write the sweep as a list of pairs for any other"
        ),
    ),
    "a cross product with a command that is not said": (
        "sweep: {agents: [command], models: [a/b]}",
        "sweep.command: wanted what `command` runs, got nothing",
    ),
    "a command line for no agent of a cross product": (
        "sweep: {agents: [codex], models: [a/b], command: sh x}",
        "sweep.command: wanted none, for no agent of the sweep is `command`, got `sh x`",
    ),
    "an adversary that there is not": (
        "probe: {adversaries: [reward_from_build, reward_from_rum]}",
        "probe.adversaries[1]: wanted the id of an adversary, got `reward_from_rum`; did you mean `reward_from_run`?",
    ),
    "a miner that there is not": (
        "goldens: {miners: [tables, mosaic]}",
        f"goldens.miners[1]: wanted one of {', '.join(f'`{name}`' for name in MINERS)}, got `mosaic`",
    ),
    "a scripted agent without a script": (
        "rollouts: [{agent: scripted}]",
        "rollouts[0].script: wanted what `scripted` runs, got nothing",
    ),
    "a command without a command line": (
        "ceiling: {agent: command}",
        "ceiling.command: wanted what `command` runs, got nothing",
    ),
    "a script for another agent": (
        "rollouts: [{agent: nop, script: agents/solve.py}]",
        "rollouts[0].script: wanted none, for `nop` has no use for it, got `agents/solve.py`",
    ),
    "a folder for a script": (
        "rollouts: [{agent: scripted, script: agents/solve.py, folder: agents}]",
        "rollouts[0].folder: wanted none, for `scripted` has no use for it, got `agents`",
    ),
    "a price for an agent that has none": (
        "rollouts: [{agent: nop, usd: 0.5}]",
        "rollouts[0].usd: wanted none, for `nop` has no use for it, got `0.5`",
    ),
    "a script that is not there": (
        "rollouts: [{agent: scripted, script: agents/none.py}]",
        "rollouts[0].script: wanted a file below the project's root, got `agents/none.py`, where no such thing is",
    ),
    "a folder that is a file": (
        "rollouts: [{agent: command, command: x, folder: agents/solve.py}]",
        "rollouts[0].folder: wanted a folder below the project's root, got `agents/solve.py`, where no such thing is",
    ),
    "a script beside the specs' state": (
        "rollouts: [{agent: scripted, script: solve.py}]",
        (
            "rollouts[0].script: wanted a folder of its own, since all of it is shown to the agent, "
            "got `solve.py`, through which it sees cache"
        ),
    ),
    "a script in the cache": (
        "rollouts: [{agent: scripted, script: cache/t/solve.py}]",
        (
            "rollouts[0].script: wanted a folder of its own, since all of it is shown to the agent, "
            "got `cache/t/solve.py`, through which it sees cache"
        ),
    ),
    "a script in the source": (
        "rollouts: [{agent: scripted, script: src/inner/solve.py}]",
        (
            "rollouts[0].script: wanted a folder of its own, since all of it is shown to the agent, "
            "got `src/inner/solve.py`, through which it sees src"
        ),
    ),
    "one pair twice": (
        "rollouts: [{agent: nop, trials: 2}, {agent: nop, trials: 3}]",
        (
            "rollouts[1]: wanted a pair of its own, got `nop-none`, which rollouts[0] is too; "
            "one entry holds all trials of a pair"
        ),
    ),
    "a pair of the sweep that runs something else than its namesake": (
        (
            "rollouts: [{agent: command, command: sh x, model: a/b, usd: 0}]\n"
            "sweep: [{agent: command, command: sh y, model: a/b, usd: 0}]"
        ),
        (
            "sweep[0].command: wanted the command of rollouts[0], whose trials a pair of the same name shares, "
            "got `sh y`; a model of its own names it apart"
        ),
    ),
    "a script of the sweep with the stem of another": (
        "rollouts: [{agent: scripted, script: agents/solve.py}]\nsweep: [{agent: scripted, script: more/solve.py}]",
        (
            "sweep[0].script: wanted the script of rollouts[0], whose trials a pair of the same name shares, "
            "got `more/solve.py`; a model of its own names it apart"
        ),
    ),
    "a model without its price": (
        "rollouts: [{agent: command, command: sh x, model: a/b}]",
        "rollouts[0].usd: wanted the dollars that a trial costs at most, 0 where its model is free, got nothing",
    ),
    "models of a cross product without their price": (
        "sweep: {agents: [command], models: [a/b], command: sh x}",
        "sweep.usd: wanted the dollars that a trial costs at most, 0 where its model is free, got nothing",
    ),
    "a band on nobody": (
        "rollouts: [{agent: nop}]\ndifficulty: [{basis: {agent: oracle}, pass_rate: {max: 1}}]",
        "difficulty[0].basis: wanted a pair of rollouts, got `oracle-none`, of which there are none",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_entry_that_cannot_run_is_one_line(project: Path, case: str) -> None:
    asks, line = REFUSED[case]
    with pytest.raises(InputError) as error:
        load(project, asks)
    assert str(error.value).partition(": ")[2] == line


def test_a_pair_of_rollouts_may_be_swept_too(project: Path) -> None:
    pair = "{agent: scripted, script: agents/solve.py}"
    assert load(project, f"rollouts: [{pair}]\nsweep: [{pair}]")["sweep"]


def test_entries_that_can_run_are_read(project: Path) -> None:
    values = load(
        project,
        "rollouts: [{agent: scripted, script: agents/solve.py}, {agent: command, command: sh x, folder: agents}]\n"
        "ceiling: {agent: scripted, script: agents/other.py}\n"
        "difficulty: [{basis: {agent: scripted, script: agents/solve.py}, pass_rate: {max: 1}}]",
    )
    assert [entry["trials"] for entry in values["rollouts"]] == [6, 6]  # type: ignore[attr-defined]


def test_a_link_does_not_lead_around_the_check(project: Path) -> None:
    (project / "linked").symlink_to(project / "cache" / "t")
    with pytest.raises(InputError, match="through which it sees cache"):
        load(project, "rollouts: [{agent: scripted, script: linked/solve.py}]")


PRICED = "rollouts: [{agent: command, command: sh x, model: a/b, usd: %s}]\n"
SWEPT = "sweep: {agents: [command], models: [a/b], command: sh x, usd: %s}\n"
BAND = "difficulty: [{basis: {agent: command, command: sh x, model: a/b}, pass_rate: {max: 1}}]\n"


@pytest.mark.parametrize("asks", [PRICED, SWEPT, PRICED + BAND])
def test_a_model_wants_a_budget_unless_it_is_said_to_be_free(project: Path, asks: str) -> None:
    path = project / "specs" / "t.yaml"
    path.write_text("name: t\nsource: {path: src}\n" + asks % "0")
    load_spec(path, project)
    path.write_text("name: t\nsource: {path: src}\n" + asks % "0.01")
    with pytest.raises(InputError, match=r"budget\.usd: wanted a number of dollars above 0, got none, and .* names a"):
        load_spec(path, project)
