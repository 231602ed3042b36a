from __future__ import annotations

import copy
import json
import os
import tomllib
from pathlib import Path

import pytest

from programsmith.bundle.cases import in_words
from programsmith.bundle.harbor import TaskFacts, dump_toml, read_task, task_digest, task_toml, with_metadata
from programsmith.bundle.instruction import Subject, instruction
from programsmith.bundle.sides import read_sides
from programsmith.errors import InputError
from programsmith.rulebook.load import Rulebook, packaged_schema

SCHEMA = packaged_schema("harbor_task")
ROOT = Path(__file__).parents[3]
HARBOR = Path(os.environ.get("PROGRAMSMITH_HARBOR_SCHEMAS", ROOT.parent / "shared" / "harbor-schemas"))
METADATA = {
    "format": 1, "tool": "rot", "target_language": "c", "source_language": "c", "licence": "MIT", "seal": "owner",
    "reward": "binary", "threshold": 1.0, "public": 1, "held_out": 1, "families": 1, "solution": "source",
}  # fmt: skip


@pytest.fixture(scope="module")
def toml(toys):
    return (toys("python", "python").bundle / "task.toml").read_bytes()


def altered(toml, *path, value=None):
    task = tomllib.loads(toml.decode())
    at = task
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = value
    return dump_toml(task)


def test_what_create_writes_is_valid(toml):
    task = read_task(toml, SCHEMA)
    assert task["verifier"]["environment_mode"] == "separate"
    assert [a["source"] for a in task["artifacts"]] == ["/app/submission", "/logs/artifacts"]
    assert {task["environment"]["network_mode"], task["verifier"]["environment"]["network_mode"]} == {"no-network"}
    assert task["agent"] == {"timeout_sec": 7200.0, "user": "agent"}


@pytest.mark.skipif(
    not (HARBOR / "task.schema.json").exists(),
    reason=f"Harbor's schemas are not in {HARBOR}; set PROGRAMSMITH_HARBOR_SCHEMAS to a folder of `harbor task schema`",
)
def test_harbors_own_schema_accepts_it_and_knows_every_key(toml):
    from jsonschema import Draft202012Validator

    schema = json.loads((HARBOR / "task.schema.json").read_bytes())
    for found in (schema, *schema["$defs"].values()):
        if "properties" in found and found.get("title") != "Metadata":
            found["additionalProperties"] = False  # Harbor itself drops unknown keys without a word
    Draft202012Validator(schema).validate(tomllib.loads(toml.decode()))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("enviroment",), {}),
        (("verifier", "enviroment_mode"), "separate"),
        (("verifier", "environment_mode"), "shared"),
        (("environment", "network_mode"), "public"),
        (("verifier", "environment", "network_mode"), "public"),
        (("artifacts",), ["/app/submission"]),
        (("agent", "user"), "root"),
        (("agent", "timeout_sec"), 0),
        (("schema_version",), "1.3"),
        (("task", "name"), "no-organisation"),
        (("metadata", "programsmith", "verdict"), "maybe"),
        (("metadata", "programsmith", "misspelt"), 1),
        (("metadata", "other"), {}),
    ],
)
def test_every_other_key_or_value_is_refused_by_its_place(toml, path, value):
    with pytest.raises(InputError, match=r"task\.toml: "):
        read_task(altered(toml, *path, value=value), SCHEMA)


@pytest.mark.parametrize("owner_sealed", [False, True])
def test_the_owners_secret_goes_to_the_verifier_and_to_the_solution_alone(owner_sealed):
    facts = TaskFacts(
        name="rot", description="", keywords=(), agent_seconds=1.0, verifier_seconds=1.0, build_seconds=1.0, cpus=1,
        memory_mb=1, owner_sealed=owner_sealed, metadata=METADATA,
    )  # fmt: skip
    task = read_task(task_toml(facts), SCHEMA)
    named = {name for name, section in task.items() if "PROGRAMSMITH_SECRET" in json.dumps(section)}
    assert named == ({"verifier", "solution"} if owner_sealed else set())
    if owner_sealed:
        assert task["verifier"]["env"] == task["solution"]["env"] == {"PROGRAMSMITH_SECRET": "${PROGRAMSMITH_SECRET}"}


def test_no_section_may_be_missing(toml):
    for name in ("agent", "verifier", "environment", "task", "metadata", "artifacts", "schema_version"):
        task = tomllib.loads(toml.decode())
        del task[name]
        with pytest.raises(InputError):
            read_task(dump_toml(task), SCHEMA)


def test_what_is_no_toml_is_refused():
    for raw in (b"a = \n", b"\xff = 1"):
        with pytest.raises(InputError, match="not TOML"):
            read_task(raw, SCHEMA)


def test_toml_comes_back_as_it_went_in():
    value = {
        "text": 'quote " back \\ tab \t del \x7f nul \x00 é',
        "n": 3, "x": 0.5, "yes": True, "list": [1, 2], "rows": [{"a": "b", "c": ["*"]}],
        "table": {"empty": {}, "inner": {"odd key.": 1}},
    }  # fmt: skip
    assert tomllib.loads(dump_toml(copy.deepcopy(value)).decode()) == value


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), b"bytes"])
def test_what_toml_cannot_say_is_refused(value):
    with pytest.raises(ValueError, match="TOML"):
        dump_toml({"a": value})


def test_metadata_is_put_on_top(toml):
    task = read_task(with_metadata(toml, {"verdict": "draft", "b": 1}), SCHEMA)
    assert task["metadata"]["programsmith"]["verdict"] == "draft"
    assert task["metadata"]["programsmith"]["tool"] == "rot"


def test_the_digest_counts_the_tasks_files_and_nothing_else():
    files = {"task.toml": b"1", "tests/a": b"2"}
    assert task_digest(files) == task_digest({**files, "provenance.json": b"x", "licences/L": b"y"})
    assert task_digest(files) != task_digest({**files, "tests/b": b""})
    assert task_digest({"tests/a": b"2", "task.toml": b"1"}) == task_digest(files)


def test_the_instruction_says_contract_policy_and_families(toys):
    toy = toys("python", "python")
    text = (toy.bundle / "instruction.md").read_text()
    assert "/app/submission/compile.sh" in text
    assert "/app/submission/executable" in text
    assert (toy.bundle / "tests" / "policy.json").read_text() in text
    assert "> rot turns letters." in text
    for family, row in toy.manifest.families.items():
        assert f"| `{family}` | {row['public']} | {row['held_out']} |" in text
    assert "$" not in text.replace("`$", "")


def test_a_template_with_an_unknown_name_is_refused(toys):
    with pytest.raises(InputError, match="unknown name 'nobody'"):
        instruction("$tool $nobody", _subject(toys("python", "python")))


def _subject(toy):
    sides = read_sides(toy.bundle)
    return Subject(description="", policy=sides.policy, plan=sides.plan, compare=in_words(sides.all), exec_allowed=())


def test_the_packaged_template_uses_known_names_only(toys):
    assert instruction(Rulebook(None).load("prompts/instruction.md"), _subject(toys("python", "python")))
