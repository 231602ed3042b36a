"""The page about specs says what the schema says."""

from pathlib import Path

from programsmith.rulebook.load import packaged_schema
from programsmith.rulebook.schema import leaf_names
from programsmith.spec.docs import spec_page

ROOT = Path(__file__).parents[2]


def test_the_page_is_up_to_date():
    assert (ROOT / "docs" / "spec.md").read_text(encoding="utf-8") == spec_page(packaged_schema("spec"))


def test_every_field_has_a_row_with_its_default():
    page = spec_page(packaged_schema("spec"))
    missing = [name for name in leaf_names(packaged_schema("spec")) if f"| `{name}` |" not in page]
    assert missing == []
    assert "| `goldens.held_out` | a whole number, at least 1, at most 100000 | `140` |" in page
    assert "| `rollouts[].trials` | a whole number, at least 1, at most 1000 | `6` |" in page
