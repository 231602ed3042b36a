"""What holds of a model's answer."""

import pytest

from programsmith.models.answer import answer

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["n"],
    "properties": {"n": {"type": "integer", "maximum": 5}},
}


def fine(_value):
    return ""


@pytest.mark.parametrize("text", ['{"n": 3}', ' \n{"n": 3}\n', '```json\n{"n": 3}\n```', '```\n{"n": 3}\n```\n'])
def test_one_value_of_the_schema_holds(text):
    assert answer(text, SCHEMA, fine) == ({"n": 3}, "")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "not one JSON value"),
        ('Sure! {"n": 3}', "not one JSON value"),
        ('{"n": 3} {"n": 4}', "not one JSON value"),
        ('{"n": 3, "n": 4}', "twice"),
        ('{"n": NaN}', "NaN is no number"),
        ("[" * 100000, "not one JSON value"),
        ('{"n": 6}', "$.n: 6 is greater"),
        ('{"n": "3"}', "$.n: '3' is not of type"),
        ('{"n": true}', "$.n: True is not of type"),
        ('{"n": 3, "expected": "x"}', "'expected' was unexpected"),
        ("{}", "'n' is a required property"),
        ("null", "None is not of type"),
        ("x" * (5 << 20), "more than"),
    ],
)
def test_anything_else_has_a_fault_in_one_line(text, fault):
    value, said = answer(text, SCHEMA, fine)
    assert value is None
    assert fault in said
    assert len(said) <= 400


def test_a_value_that_the_block_refuses_does_not_hold():
    assert answer('{"n": 3}', SCHEMA, lambda value: f"{value['n']} is none of ours") == (None, "3 is none of ours")
