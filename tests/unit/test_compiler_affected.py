"""Which specs the changes of a checkout affect, and by what: on the small pipeline, with a repository of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from programsmith.compiler.loader import asked_specs
from programsmith.compiler.verbs import changed
from programsmith.errors import InputError
from tests.samples import toyread

SAMPLES = Path(__file__).parents[1] / "samples"
RULES = {"soap": "kind: mild", "weights": "least: 3", "nose": "name: dog"}
SPEC = "version: 1\nname: {0}\nsource: {{path: {1}}}\n"


class Checkout:
    """A project under git: specs alpha (mine/, from base.yaml) and beta (../pit beside the project's folder)."""

    def __init__(self, top: Path) -> None:
        self.top, self.root = top, top / "project"
        shutil.copytree(SAMPLES / "toyforge", self.root / "toyforge", ignore=shutil.ignore_patterns("__pycache__"))
        for name, text in RULES.items():
            self.write(f"rules/{name}.yaml", text + "\n")
        self.write("specs/base.yaml", "version: 1\nsource: {path: mine}\ndescription: ''\n")
        self.write("specs/alpha.yaml", "name: alpha\nextends: base.yaml\n")
        self.write("specs/beta.yaml", SPEC.format("beta", "../pit"))
        self.write("mine/ore", "gold dirt silver ")
        self.write("../pit/ore", "coal ")
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit()

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *words: str) -> str:
        identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *identity, *words], cwd=self.top, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "state")
        return self.git("rev-parse", "HEAD")

    def changed(self, *words: str, base: str = "HEAD") -> dict[str, Any]:
        asked = asked_specs([*words, f"base={base}"], self.root, changed.WORDS)
        return dict(changed.answer(asked, (), toyread.compiler("toy", self.root)).value)

    def causes(self, base: str = "HEAD") -> dict[str, list[tuple[str, str, list[str]]]]:
        found = self.changed(base=base)["specs"]
        return {s["name"]: [(c["cause"], c["path"], c["blocks"]) for c in s["causes"]] for s in found}


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_nothing_changed_affects_nothing(checkout: Checkout) -> None:
    assert checkout.changed() == {"base": checkout.git("rev-parse", "HEAD"), "removed": [], "specs": []}


def test_what_yaml_says_counts_and_not_how(checkout: Checkout) -> None:
    checkout.write("specs/beta.yaml", "# beta\nsource:\n  path: '../pit'\nname: beta\nversion: 1\n")
    checkout.write("specs/base.yaml", "source: {path: mine}\nversion: 1\ndescription: ''\ngeneration: 1\n")
    assert checkout.causes() == {}
    checkout.write("specs/beta.yaml", SPEC.format("beta", "../pit") + "generation: 7\nbudget: {agent_wall: 1h}\n")
    assert checkout.causes() == {
        "beta": [("spec.budget.agent_wall", "specs/beta.yaml", []), ("spec.generation", "specs/beta.yaml", ["dig"])]
    }


def test_a_base_affects_what_extends_it(checkout: Checkout) -> None:
    checkout.write("specs/base.yaml", "version: 1\nsource: {path: mine}\ndescription: 'new'\n")
    assert checkout.causes() == {"alpha": [("spec.description", "specs/base.yaml", ["wash"])]}
    checkout.write("specs/alpha.yaml", "name: alpha\nextends: base.yaml\ndescription: ''\n")
    assert checkout.causes() == {}


def test_a_rule_affects_the_blocks_that_use_it(checkout: Checkout) -> None:
    checkout.write("rules/nose.yaml", "name: cat\n")
    checkout.write("rules/unused.yaml", "a: 1\n")
    row = ("rules/nose", "rules/nose.yaml", ["smell"])
    assert checkout.causes() == {"alpha": [row], "beta": [row]}


def test_code_and_payload_affect_the_blocks_that_are_made_of_them(checkout: Checkout) -> None:
    checkout.write("toyforge/assay.py", (checkout.root / "toyforge" / "assay.py").read_text() + "# finer\n")
    checkout.write("toyforge/payload/cart/wheel.txt", "square")
    rows = [("code", "toyforge/assay.py", ["wash"]), ("payload/cart", "toyforge/payload/cart/wheel.txt", ["wash"])]
    assert checkout.causes() == {"alpha": rows, "beta": rows}


def test_sources_count_wherever_in_the_repository_they_lie(checkout: Checkout) -> None:
    checkout.write("../pit/deep/new", "never committed")
    checkout.write("../elsewhere", "of no spec")
    assert checkout.causes() == {"beta": [("source.path", "pit/deep/new", ["dig"])]}
    base = checkout.git("rev-parse", "HEAD")
    checkout.commit()
    assert checkout.causes() == {}
    assert checkout.causes(base) == {"beta": [("source.path", "pit/deep/new", ["dig"])]}
    (checkout.root / "mine" / "ore").unlink()
    assert "alpha" in checkout.causes()


def test_agents_affect_the_specs_that_name_them(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    agents = (
        "rollouts: [{agent: scripted, script: agents/solve.py}]\nceiling: {agent: command, command: x, folder: own}\n"
    )
    for name in ("agents/solve.py", "agents/beside.py", "own/run", "others/solve.py"):
        checkout.write(name, "")
    checkout.write("specs/mill.yaml", SPEC.format("mill", "mine") + agents)
    checkout.write("rules/batches.yaml", "{first: 6, further: 3}\n")
    shutil.copytree(SAMPLES / "millforge", checkout.root / "millforge")
    checkout.commit()
    for name in ("agents/beside.py", "own/run", "others/solve.py"):
        checkout.write(name, "pass\n")
    asked = asked_specs(["spec=mill", "base=HEAD"], checkout.root, changed.WORDS)
    (row,) = changed.answer(asked, (), toyread.compiler("mill", checkout.root)).value["specs"]
    assert [(c["cause"], c["path"], c["blocks"]) for c in row["causes"]] == [
        ("agent folder", "own/run", ["trial", "grade"]),
        ("agent script", "agents/beside.py", ["trial", "grade"]),
    ]


def test_specs_come_go_and_change_their_names(checkout: Checkout) -> None:
    checkout.write("specs/gamma.yaml", SPEC.format("gamma", "mine") + "description: a spec of its own\n")
    (checkout.root / "specs" / "beta.yaml").rename(checkout.root / "specs" / "delta.yaml")
    checkout.write("specs/delta.yaml", SPEC.format("delta", "../pit"))
    checkout.git("add", "--all")
    found = checkout.changed()
    assert found["removed"] == ["beta"]
    assert [(s["name"], s["change"], s["was"]) for s in found["specs"]] == [
        ("delta", "renamed", "beta"),
        ("gamma", "added", None),
    ]
    assert checkout.changed("spec=alpha") == {**found, "removed": [], "specs": []}


def test_a_broken_spec_is_told_and_hides_no_other(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    checkout.write("specs/beta.yaml", SPEC.format("beta", "../pit") + "colour: red\n")
    checkout.write("specs/base.yaml", "version: 1\nsource: {path: mine}\ngeneration: 5\n")
    found = {row["name"]: row for row in checkout.changed()["specs"]}
    assert sorted(found) == ["alpha", "beta"]
    assert "colour" in found["beta"]["error"]
    assert "beta: error: specs/beta.yaml:4: colour" in capsys.readouterr().err
    with pytest.raises(InputError, match="colour"):
        checkout.changed("spec=beta")


def test_a_spec_that_was_broken_is_affected_as_a_whole(checkout: Checkout) -> None:
    checkout.write("specs/beta.yaml", "name: beta\ncolour: red\n")
    checkout.commit()
    checkout.write("specs/beta.yaml", SPEC.format("beta", "../pit"))
    assert [cause for cause, _, _ in checkout.causes()["beta"]] == ["spec"]


def test_a_path_may_hold_any_byte(checkout: Checkout) -> None:
    name = os.fsencode(checkout.root / "mine") + b"/\xff\n new"
    with open(name, "wb") as out:
        out.write(b"x")
    assert json.dumps(checkout.changed()["specs"])
    assert [cause for cause, _, _ in checkout.causes()["alpha"]] == ["source.path"]


def test_what_is_no_commit_or_no_checkout_is_one_line(
    checkout: Checkout, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with pytest.raises(
        InputError, match=r"^base=nope: wanted a commit, tag or branch that this repository has, got none"
    ):
        checkout.changed(base="nope")
    first = checkout.git("rev-parse", "HEAD")
    checkout.commit()
    shallow = tmp_path_factory.mktemp("shallow")
    subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{checkout.top}", str(shallow)], check=True)
    asked = asked_specs([f"base={first}"], shallow / "project", changed.WORDS)
    with pytest.raises(InputError, match="this clone is shallow: git fetch --depth=1 origin"):
        changed.answer(asked, (), toyread.compiler("toy", shallow / "project"))
    plain = tmp_path_factory.mktemp("plain")
    shutil.copytree(checkout.root, plain / "project")
    asked = asked_specs(["base=HEAD"], plain / "project", changed.WORDS)
    with pytest.raises(InputError, match="wanted a git checkout, got none"):
        changed.answer(asked, (), toyread.compiler("toy", plain / "project"))
    with pytest.raises(InputError, match="wanted base=COMMIT"):
        changed.answer(asked_specs([], checkout.root, changed.WORDS), (), toyread.compiler("toy", checkout.root))
