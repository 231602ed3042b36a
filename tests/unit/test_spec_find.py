"""Words of the command line to spec files."""

import pytest

from programsmith.errors import InputError
from programsmith.spec.find import find_project, find_specs

OK = "name: {}\nsource: {{path: src}}\n"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "specs" / "inner").mkdir(parents=True)
    for name in ("tally", "talon", "jq"):
        (tmp_path / "specs" / f"{name}.yaml").write_text(OK.format(name))
    return tmp_path


def names(paths):
    return [path.stem for path in paths]


def refusal(project, word, start=None):
    with pytest.raises(InputError) as error:
        find_specs(project, word, start)
    return str(error.value)


def test_the_project_is_the_nearest_folder_with_specs_or_a_dodo_file(project):
    assert find_project(project / "specs" / "inner") == project
    (project / "specs" / "dodo.py").write_text("")
    assert find_project(project / "specs" / "inner") == project / "specs"


def test_a_folder_outside_of_any_project_is_refused(tmp_path):
    with pytest.raises(InputError) as error:
        find_project(tmp_path)
    assert str(error.value) == f"{tmp_path}: wanted a folder with specs/ or dodo.py at or above it, got none"


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("tally", ["tally"]),
        ("tally.yaml", ["tally"]),
        ("specs/tally.yaml", ["tally"]),
        ("tally,jq", ["tally", "jq"]),
        ("tally, specs/tally.yaml", ["tally"]),
        ("ta*", ["tally", "talon"]),
        ("specs/*.yaml", ["jq", "tally", "talon"]),
        ("[j]q", ["jq"]),
        (None, ["jq", "tally", "talon"]),
    ],
)
def test_a_word_names_specs(project, word, found):
    assert names(find_specs(project, word)) == found


def test_a_path_is_tried_from_the_current_folder_too(project):
    assert names(find_specs(project, "../tally.yaml", project / "specs" / "inner")) == ["tally"]


def test_a_nameless_file_that_others_extend_is_no_spec_of_its_own(project):
    (project / "specs" / "base.yaml").write_text("goldens: {held_out: 9}\n")
    (project / "specs" / "lost.yaml").write_text("goldens: {held_out: 9}\n")
    (project / "specs" / "jq.yaml").write_text(OK.format("jq") + "extends: base.yaml\n")
    assert names(find_specs(project)) == ["jq", "lost", "tally", "talon"]


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("taly", "spec=taly: wanted the name or the file of a spec, got nothing there; did you mean `tally`?"),
        ("x", "spec=x: wanted the name or the file of a spec, got nothing there; the specs are: jq, tally, talon"),
        ("x*", "spec=x*: wanted the name or the file of a spec, got nothing there; the specs are: jq, tally, talon"),
        ("", "spec=: wanted the name or the file of a spec, got nothing"),
        ("jq,,tally", "spec=: wanted the name or the file of a spec, got nothing"),
        ("specs", "spec=specs: wanted a file, got the directory specs"),
        ("a\0b", "spec=: wanted the name or the file of a spec, got `a\\x00b`"),
    ],
)
def test_a_word_that_names_none_is_refused(project, word, line):
    assert refusal(project, word) == line


def test_two_specs_of_one_name_are_refused(project):
    (project / "jq.yaml").write_text(OK.format("jq"))
    assert refusal(project, "specs/jq.yaml,./jq.yaml") == (
        "spec=jq: wanted one spec of each name, got specs/jq.yaml and jq.yaml; rename one of them"
    )


def test_a_project_without_specs_is_refused(tmp_path):
    (tmp_path / "specs").mkdir()
    assert refusal(tmp_path, None) == "specs: wanted a spec, specs/<name>.yaml, got none"
    assert (
        refusal(tmp_path, "x")
        == "spec=x: wanted the name or the file of a spec, got nothing there; there is none in specs/"
    )
