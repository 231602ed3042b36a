"""Models that decide blocks: which names hold, and which cost."""

import pytest
import yaml

from programsmith.errors import InputError
from programsmith.rulebook.load import packaged_rules
from programsmith.spec.load import load_spec

OK = "name: t\nsource: {path: src}\n"


@pytest.fixture
def project(tmp_path):
    for folder in ("specs", "src", "said"):
        (tmp_path / folder).mkdir()
    return tmp_path


def load(project, text):
    path = project / "specs" / "t.yaml"
    path.write_text(OK + text)
    return load_spec(path, project).values


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "models: {pick: anthropic/claude-haiku-4}\nbudget: {usd: 1}\n",
            "wanted a model with a price, got `anthropic/claude-haiku-4`; did you mean `anthropic/claude-haiku-4-5`?",
        ),
        (
            "models: {pick: replay/none}\n",
            "wanted a folder of answers below the project's root, as `replay/FOLDER`, got `replay/none`",
        ),
        (
            "models: {pick: replay/src/../../etc}\n",
            "wanted a model as `provider/name`, got `replay/src/../../etc`",
        ),
    ],
)
def test_a_model_that_nobody_serves_is_one_line(project, text, fault):
    with pytest.raises(InputError) as error:
        load(project, text)
    assert str(error.value) == f"specs/t.yaml:3: models.pick: {fault}"


def test_a_paid_model_asks_for_a_budget(project):
    with pytest.raises(InputError, match=r"budget\.usd: wanted .* and models\.pick names a paid model"):
        load(project, "models: {pick: anthropic/claude-haiku-4-5}\n")
    assert load(project, "models: {pick: anthropic/claude-haiku-4-5}\nbudget: {usd: 1}\n")["budget"]["usd"] == 1


def test_a_replay_costs_nothing_so_no_budget_is_asked_for(project):
    assert load(project, "models: {pick: replay/said}\n")["models"]["pick"] == "replay/said"


def test_a_model_of_ones_own_that_is_free_asks_for_no_budget(project):
    (project / "rules").mkdir()
    rule = yaml.safe_load((packaged_rules() / "models.yaml").read_text())
    row = {"price": {"input": 0, "output": 0}, "output_most": 4096, "source": "our own", "read": "2026-11-30"}
    rule["models"]["vllm/own"] = row
    (project / "rules" / "models.yaml").write_text(yaml.safe_dump(rule))
    assert load(project, "models: {pick: vllm/own}\n")["models"]["pick"] == "vllm/own"
    rule["models"]["vllm/own"]["long"] = {"above": 1000, "input": 1, "output": 0}
    (project / "rules" / "models.yaml").write_text(yaml.safe_dump(rule))
    with pytest.raises(InputError, match=r"budget\.usd"):
        load(project, "models: {pick: vllm/own}\n")
