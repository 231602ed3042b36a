"""What a spec takes from the file that it extends, and where mistakes in either are reported."""

import pytest

from programsmith.errors import InputError
from programsmith.spec.load import load_spec

OK = "name: t\nsource: {path: src}\n"


@pytest.fixture
def project(tmp_path):
    for folder in ("specs", "src"):
        (tmp_path / folder).mkdir()
    return tmp_path


def refusal(project, text):
    path = project / "specs" / "t.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        load_spec(path, project)
    return str(error.value)


def test_a_cycle_of_files_names_its_chain(project):
    (project / "specs" / "a.yaml").write_text("extends: b.yaml\n")
    (project / "specs" / "b.yaml").write_text("extends: a.yaml\n")
    line = refusal(project, OK + "extends: a.yaml\n")
    assert line == (
        "specs/b.yaml:1: extends: wanted a chain that ends, got a cycle: "
        "specs/t.yaml extends specs/a.yaml extends specs/b.yaml extends specs/a.yaml"
    )


def test_a_mistake_in_a_base_names_the_base(project):
    (project / "specs" / "base.yaml").write_text("goldens:\n  held_out: many\n")
    line = refusal(project, OK + "extends: base.yaml\n")
    assert line == (
        "specs/base.yaml:2: goldens.held_out: wanted a whole number, at least 1, at most 100000, got `many`"
    )


def test_mappings_merge_and_lists_replace(project):
    (project / "specs" / "base.yaml").write_text(
        "task: {target_languages: [c, python], tool: u}\ngoldens: {held_out: 9, min_kept: 7}\n"
    )
    path = project / "specs" / "t.yaml"
    path.write_text(OK + "extends: base.yaml\ntask: {target_languages: [c]}\ngoldens: {held_out: 8}\n")
    spec = load_spec(path, project)
    assert spec.values["task"] == {"target_languages": ["c"], "tool": "u", "oracle_access": "none"}
    assert spec.values["goldens"]["held_out"] == 8
    assert spec.values["goldens"]["min_kept"] == 7
    assert spec.values["extends"] == "base.yaml"
    assert spec.files == (path, project / "specs" / "base.yaml")


def test_a_value_that_replaces_a_list_is_placed_where_it_stands(project):
    (project / "specs" / "base.yaml").write_text("task:\n  target_languages: [c, pyton]\n")
    line = refusal(project, OK + "extends: base.yaml\ntask: {target_languages: [rusty]}\n")
    assert line.startswith("specs/t.yaml:4: task.target_languages[0]: wanted a language with a toolchain")


def test_a_chain_has_an_end_somewhere(project):
    for n in range(12):
        (project / "specs" / f"b{n}.yaml").write_text(f"extends: b{n + 1}.yaml\n")
    line = refusal(project, OK + "extends: b0.yaml\n")
    assert line == "specs/b8.yaml:1: extends: wanted a chain of at most 10 files, got a longer one"


def test_a_grandparent_counts_too(project):
    (project / "specs" / "a.yaml").write_text("extends: b.yaml\ngoldens: {min_kept: 5}\n")
    (project / "specs" / "b.yaml").write_text("goldens: {min_kept: 4, held_out: 6}\n")
    path = project / "specs" / "t.yaml"
    path.write_text(OK + "extends: a.yaml\n")
    spec = load_spec(path, project)
    assert (spec.values["goldens"]["min_kept"], spec.values["goldens"]["held_out"]) == (5, 6)
    assert [f.stem for f in spec.files] == ["t", "a", "b"]
