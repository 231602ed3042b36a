"""What the format has and no block runs is refused by its line; everything else of a full spec is read."""

import pytest

from programsmith.agents.registry import AGENTS as STARTED
from programsmith.bundle.controls import targets
from programsmith.errors import InputError
from programsmith.rulebook.load import packaged_schema
from programsmith.rulebook.schema import filled
from programsmith.spec import unavailable
from programsmith.spec.docs import spec_page
from programsmith.spec.load import load_spec, read_spec
from programsmith.spec.unavailable import RUNS, TARGETS, offering

OK = "name: t\nsource: {path: src}\nbudget: {usd: 1}\n"
ASKS = {
    "runner": "runner: harbor",
    "executor": "executor: ray",
}


@pytest.fixture
def project(tmp_path):
    for folder in ("specs", "src"):
        (tmp_path / folder).mkdir()
    return tmp_path


@pytest.mark.parametrize("field", [field for field, _ in RUNS])
def test_each_row_refuses_what_no_block_runs(project, field):
    path = project / "specs" / "t.yaml"
    path.write_text(OK + ASKS[field] + "\n")
    read_spec(path, project)
    with pytest.raises(InputError) as error:
        load_spec(path, project)
    assert str(error.value).startswith(f"specs/t.yaml:4: {field}: wanted ")
    assert str(error.value).endswith("; this version has no block that runs it; leave the field out")


def test_a_task_for_every_toolchain_is_refused(project):
    path = project / "specs" / "t.yaml"
    path.write_text(OK + "task: {target_languages: any}\n")
    read_spec(path, project)
    with pytest.raises(InputError) as error:
        load_spec(path, project)
    assert str(error.value) == (
        "specs/t.yaml:4: task.target_languages: wanted a list of languages, such as `[python]`, got `any`; "
        "this version has no block that runs it"
    )


def test_a_task_can_be_in_what_has_programs_to_try_it_with():
    assert set(TARGETS) == set(targets())


def test_a_language_with_a_toolchain_that_no_task_can_be_in_is_refused_by_its_line(project, monkeypatch):
    monkeypatch.setattr(unavailable, "TARGETS", ("c", "python"))
    path = project / "specs" / "t.yaml"
    path.write_text(OK + "task:\n  target_languages:\n    - c\n    - go\n")
    read_spec(path, project)
    with pytest.raises(InputError) as error:
        load_spec(path, project)
    assert str(error.value) == (
        "specs/t.yaml:7: task.target_languages[1]: wanted one of `c`, `python`, got `go`; "
        "this version has no programs in it to try a task with"
    )


def test_every_agent_of_the_format_can_be_started():
    entry = packaged_schema("spec")["properties"]["rollouts"]["items"]["properties"]["agent"]
    assert set(entry["enum"]) == set(STARTED)


def test_no_message_and_no_page_offers_what_is_refused_next():
    schema, page = packaged_schema("spec"), spec_page(packaged_schema("spec"))
    told = offering(schema)
    assert filled(told, {"name": "t", "source": {"path": "src"}}) == filled(
        schema, {"name": "t", "source": {"path": "src"}}
    )
    assert told["properties"]["runner"]["title"] == "`local`"
    assert "title" not in schema["properties"]["runner"]
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    for field, _ in RUNS:
        assert any(row.startswith(f"| `{field}` |") and "alone is run" in row for row in rows), field
    assert any("`any` is not run" in row for row in rows)


def test_every_default_runs():
    values = filled(packaged_schema("spec"), {"name": "t", "source": {"path": "src"}})
    for field, runs in RUNS:
        value = values
        for key in field.split("."):
            value = value[key]
        assert value in runs


def test_a_spec_asks_for_all_that_the_design_shows(project):
    path = project / "specs" / "tally.yaml"
    path.write_text(FULL)
    values = read_spec(path, project).values
    assert values["sweep"]["agents"] == ["claude-code", "codex"]
    assert values["sweep"]["except"] == []
    assert [band["basis"] for band in values["difficulty"]] == ["rollouts", "sweep"]


FULL = """\
version: 1
name: tally
source: {git: https://github.com/o/tally, ref: v1.4.0}
description: optional text that steers scope
task: {target_languages: [python, c], tool: tally, oracle_access: query}
build: {recipe: auto}
goldens: {public: 0.5, held_out: 140, min_kept: 66, miners: auto, expand: coverage,
  compare: {stdout: bytes, exit_code: exact, files: tree, stderr: emptiness}}
sandbox: auto
models: {matrix: null, pick: null, goldens: null, create: null, judge: null, synthesize: null}
rollouts: [{agent: mini-swe-agent, model: anthropic/claude-haiku-4-5, trials: 6}]
ceiling: {agent: claude-code, model: anthropic/claude-opus-4-8, trials: 2}
sweep: {agents: [claude-code, codex], models: [anthropic/claude-opus-4-8, openai/gpt-5.5], trials: 6, except: []}
difficulty:
  - {basis: rollouts, pass_rate: {max: 0.9}, confidence: 0.8, trials_max: 12}
  - {basis: sweep, pass_rate: {max: 0.4}, confidence: 0.8, trials_max: 30}
probe: {adversaries: all, model: null}
reward: binary
seal: inline
horizon: {min_lines: 1500}
revisions: {max: 3}
budget: {usd: 40, agent_wall: 5h}
runner: local
executor: local
review: []
generation: 1
"""
