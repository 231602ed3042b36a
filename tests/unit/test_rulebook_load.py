"""Rule files: packaged, overridden, refused; their digests; their schemas."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from programsmith.errors import InputError
from programsmith.rulebook.load import Rulebook, packaged_rules, packaged_schema

RULES = sorted(path.stem for path in packaged_rules().glob("*.yaml"))


@pytest.fixture
def project(tmp_path):
    (tmp_path / "rules" / "prompts").mkdir(parents=True)
    return tmp_path


def override(project, name, old, new):
    text = (packaged_rules() / name).read_text()
    assert old in text
    (project / "rules" / name).write_text(text.replace(old, new))


def refusal(project, name):
    with pytest.raises(InputError) as error:
        Rulebook(project).load(name)
    return str(error.value)


@pytest.mark.parametrize("name", RULES)
def test_every_packaged_rule_holds_to_its_schema(name):
    assert Rulebook(None).load(name)


@pytest.mark.parametrize("name", [*RULES, "spec"])
def test_every_schema_is_closed_and_describes_each_field(name):
    from jsonschema import Draft202012Validator

    schema = packaged_schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["description"]
    assert list(open_objects(schema, name)) == []


def open_objects(schema, at):
    """Objects with fields that take any other key too, and fields without a description. Conditions are no fields."""
    if isinstance(schema, list):
        for i, inner in enumerate(schema):
            yield from open_objects(inner, f"{at}[{i}]")
    if isinstance(schema, dict):
        yield from faults(schema, at)
        for key in schema.keys() - {"if"}:
            yield from open_objects(schema[key], f"{at}.{key}")


def faults(schema, at):
    fields = schema.get("properties", {})
    if schema.get("type") == "object" and fields and "additionalProperties" not in schema:
        yield f"{at} takes any key"
    yield from (f"{at}.{field} has no description" for field, inner in fields.items() if "description" not in inner)


def test_a_file_of_the_project_overrides_the_packaged_one_and_no_other(project):
    override(project, "acceptance.yaml", "mutation_score: 0.7", "mutation_score: 0.9")
    rules = Rulebook(project)
    assert rules.load("acceptance")["mutation_score"] == 0.9
    assert rules.load("limits") == Rulebook(None).load("limits")
    assert rules.path("acceptance") == project / "rules" / "acceptance.yaml"


def test_a_prompt_is_its_text_and_can_be_overridden(project):
    assert Rulebook(project).load("prompts/instruction.md") == (
        packaged_rules() / "prompts" / "instruction.md"
    ).read_text(encoding="utf-8")
    (project / "rules" / "prompts" / "instruction.md").write_text("Do $tool\n")
    assert Rulebook(project).load("prompts/instruction.md") == "Do $tool\n"


def test_a_json_rule_is_its_value():
    value = Rulebook(None).load("schema/routes.json")
    assert value == json.loads((packaged_rules() / "schema" / "routes.json").read_text())


def test_formatting_leaves_the_digest_and_a_value_changes_it(project):
    plain = Rulebook(None).digest("acceptance")
    override(project, "acceptance.yaml", "mutation_score: 0.7 ", "\n# c\nmutation_score:    0.70 ")
    assert Rulebook(project).digest("acceptance") == plain
    override(project, "acceptance.yaml", "mutation_score: 0.7 ", "mutation_score: 0.71 ")
    assert Rulebook(project).digest("acceptance") != plain


def test_the_digest_of_a_prompt_follows_its_text(project):
    plain = Rulebook(project).digest("prompts/instruction.md")
    (project / "rules" / "prompts" / "instruction.md").write_text("x")
    assert Rulebook(project).digest("prompts/instruction.md") != plain


def test_a_checkout_whose_rules_are_the_packaged_ones_overrides_nothing(project):
    shutil.rmtree(project / "rules")
    (project / "rules").symlink_to(packaged_rules())
    assert Rulebook(project).load("acceptance") == Rulebook(None).load("acceptance")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            "mutation_score:",
            "mutation_scor:",
            (
                "rules/acceptance.yaml:2: mutation_scor: wanted a known field, got an unknown one; "
                "did you mean `mutation_score`?"
            ),
        ),
        (
            "pool_coverage: 0.6",
            "pool_coverage: 60",
            "rules/acceptance.yaml:5: pool_coverage: wanted a number, at least 0, at most 1, got `60`",
        ),
        (
            "mutants_min: 120",
            "mutants_min: .nan",
            "rules/acceptance.yaml:4: wanted a finite number, got `.nan`",
        ),
        (
            "nulls_max: 0.02 ",
            "# ",
            "rules/acceptance.yaml:2: nulls_max: wanted a number, at least 0, at most 1, got nothing",
        ),
    ],
)
def test_a_wrong_rule_is_one_line(project, old, new, line):
    override(project, "acceptance.yaml", old, new)
    assert refusal(project, "acceptance") == line


def test_a_route_that_ends_nowhere_is_one_line(project):
    override(project, "routes.yaml", "drop: {end: drop}", "drop: {end: dorp}")
    line = refusal(project, "routes")
    assert re.match(r"rules/routes.yaml:\d+: gate.drop.end: wanted one of `ship`, `draft`", line)
    assert line.endswith("got `dorp`; did you mean `drop`?")


@pytest.mark.parametrize(
    ("name", "hint"), [("limts.yaml", "did you mean `limits`?"), ("limits.yml", "did you mean `limits`?")]
)
def test_a_file_that_overrides_nothing_is_refused(project, name, hint):
    (project / "rules" / name).write_text("{}\n")
    assert refusal(project, "limits") == (
        f"rules/{name}: wanted the name of a rule, `<rule>.yaml`, got no rule; {hint}"
    )


def test_a_rule_that_does_not_exist_is_refused(project):
    assert refusal(project, "nosuch") == "rules/nosuch.yaml: wanted a rule, got nothing there"


def test_a_prompt_that_is_not_utf8_is_refused(project):
    (project / "rules" / "prompts" / "instruction.md").write_bytes(b"a\xff")
    assert refusal(project, "prompts/instruction.md") == (
        "rules/prompts/instruction.md: wanted UTF-8 text, got the byte 0xff"
    )


def test_a_digest_needs_no_schema_and_a_rulebook_nothing_at_all():
    code = (
        "import sys, programsmith.rulebook.load as r, programsmith.spec.load\n"
        "assert not {'yaml', 'jsonschema'} & set(sys.modules)\n"
        "r.Rulebook(None).digest('acceptance')\n"
        "assert 'jsonschema' not in sys.modules\n"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
