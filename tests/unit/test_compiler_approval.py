"""A person accepts a proposal by the command that the build printed; nothing else goes on."""

import json
from pathlib import Path

import pytest

from programsmith.compiler.approval import approvals, approve
from programsmith.compiler.build import build
from programsmith.compiler.compile import Compiler
from programsmith.compiler.paths import Project
from programsmith.compiler.plan import STEPS
from programsmith.errors import Exit, InputError

MIT = (Path(__file__).parents[2] / "specs" / "tally" / "LICENSE").read_text()
UPTO_PICK = tuple(step for step in STEPS if step.block in ("ingest", "matrix", "pick", "gate"))


@pytest.fixture
def project(tmp_path):
    (tmp_path / "specs").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "LICENSE").write_text(MIT)
    for name in ("one", "two"):
        (tmp_path / "src" / f"{name}.py").write_text("#!/usr/bin/env python3\nprint('x')\n")
        (tmp_path / "src" / f"{name}.py").chmod(0o755)
    (tmp_path / "specs" / "t.yaml").write_text(
        "name: t\nsource: {path: src}\ntask: {target_languages: [python], tool: one}\nreview: [pick]\n"
    )
    return tmp_path


def run(project, *words):
    return build(["spec=t", *words], project, workers=1, compiler=Compiler(UPTO_PICK))


def settled(project, block="pick"):
    return json.loads((project / "cache" / "t" / f"{block}.json").read_bytes())


def test_a_build_parks_and_its_printed_command_goes_on(project):
    assert run(project) is Exit.ENDED
    assert settled(project)["outcome"] == "parked"
    assert json.loads((project / "cache" / "t" / "verdict.json").read_bytes())["outcome"] == "parked"
    command = settled(project)["evidence"]["command"]
    assert command == "programsmith build spec=t approve=pick"
    run(project, *command.split()[3:])
    assert settled(project)["outcome"] == "picked"
    assert (project / "cache" / "t" / "candidate.json").is_file()


def test_an_approval_lasts_and_ends_with_another_proposal(project):
    run(project)
    run(project, "approve=pick")
    run(project)
    assert settled(project)["outcome"] == "picked"
    run(project, "approve=pick")
    spec = project / "specs" / "t.yaml"
    spec.write_text(spec.read_text().replace("tool: one", "tool: two"))
    run(project)
    assert settled(project)["outcome"] == "parked"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["approve=pik"], "approve=pik: wanted a block that parks; did you mean `pick`?"),
        (
            ["approve=gate"],
            "approve=gate: wanted a build of `t` that parked at gate, got none; review: [gate] parks it",
        ),
    ],
)
def test_what_has_not_parked_cannot_be_approved(project, capsys, words, line):
    assert run(project, *words) is Exit.USAGE
    assert line in capsys.readouterr().err


def test_an_approval_names_its_spec(project, capsys):
    assert build(["approve=pick"], project, workers=1, compiler=Compiler(UPTO_PICK)) is Exit.USAGE
    assert "approve=pick: wanted spec=NAME beside it, got none" in capsys.readouterr().err


def test_a_broken_file_of_approvals_accepts_nothing(project):
    folder = Project(project).folder("t")
    folder.root.mkdir(parents=True)
    folder.approved.write_bytes(b"[1]")
    assert approvals(folder) == {"pick": None, "gate": None}
    with pytest.raises(InputError, match="parked at pick, got none"):
        approve(folder, STEPS, "pick")
