"""The command line as a user starts it, in a small project and in the checkout."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from programsmith.cli import VERBS
from programsmith.cli import run as cli_run
from programsmith.compiler.verbs import READING

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
MISSING = "wanted the name or the file of a spec, got nothing there; the specs are: hello"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose source ingest rejects: no licence."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "hello.yaml").write_text("version: 1\nname: hello\nsource: {path: hello}\n")
    (tmp_path / "hello").mkdir()
    (tmp_path / "hello" / "hello.py").write_text("print(1)\n")
    return tmp_path


def run(where: Path, *words: str) -> tuple[int, str, str]:
    command = [str(BIN / words[0]), *words[1:]]
    environment = {"PATH": f"{BIN}:{os.defpath}", "HOME": str(where)}
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, timeout=120, env=environment)
    assert "Traceback" not in done.stderr + done.stdout
    return done.returncode, done.stdout, done.stderr


def test_without_words_it_explains_itself(project: Path) -> None:
    code, out, err = run(project, "programsmith")
    assert (code, err) == (0, "")
    assert "exit codes: 0 ship" in out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["build", "spec=hello", "spec=hallo"],
            "error: spec=hallo: wanted each word once, got a second spec=; several are spec=NAME,NAME",
        ),
        (["buld"], "error: buld: wanted a verb; did you mean `build`?"),
        (["build", "--fast"], "error: unrecognized arguments: --fast; `programsmith --help` shows what it takes"),
        (["build", "spec=nope"], f"error: spec=nope: {MISSING}"),
        (["info", "nope"], f"error: spec=nope: {MISSING}"),
        (["info"], "error: info: wanted one task such as tally:ingest, got 0"),
        (["info", "hello:ingst"], "error: hello:ingst: wanted a task, got no such one; did you mean `hello:ingest`?"),
        (["list", "sepc=x"], "error: sepc=x: wanted a known word, got 'sepc'; did you mean `spec`?"),
    ],
)
def test_wrong_words_are_one_line_and_three(project: Path, words: list[str], line: str) -> None:
    assert run(project, "programsmith", *words) == (3, "", line + "\n")


def test_outside_a_project_it_says_so(tmp_path: Path) -> None:
    code, _, err = run(tmp_path, "programsmith", "list")
    assert code == 3
    assert "a folder with specs/ or dodo.py at or above it" in err


def test_list_and_info_show_what_would_run(project: Path) -> None:
    assert run(project, "programsmith", "list") == (0, "hello   hello.yaml: never built\n", "")
    code, out, _ = run(project, "programsmith", "list", "--all", "-s")
    assert code == 0
    assert "R hello:ingest" in out
    assert "R hello:r0:create" in out
    code, out, _ = run(project, "programsmith", "info", "hello:ingest")
    assert code == 0
    assert "never built" in out


@pytest.mark.parametrize("start", [["programsmith", "build"], ["doit", "build", "spec=hello"]])
def test_a_no_is_built_shown_forgotten_and_cleaned(project: Path, start: list[str]) -> None:
    code, out, err = run(project, *start)
    assert code == 1, err
    assert out.startswith("hello  reject  ")
    assert run(project, *start)[2] == "hello  nothing to do: 2 blocks are up to date\n"
    assert run(project, "programsmith", "list")[1] == "hello   hello.yaml: reject\n"

    shown = json.loads(run(project, "programsmith", "list", "--json")[1])
    assert shown["version"] == 1
    assert [(spec["outcome"], spec["current"]) for spec in shown["specs"]] == [("reject", True)]
    assert [task["task"] for task in shown["specs"][0]["tasks"]] == ["hello:ingest", "hello:r0:gate"]
    assert {task["status"] for task in shown["specs"][0]["tasks"]} == {"up_to_date"}
    one = json.loads(run(project, "programsmith", "info", "hello:ingest", "--json")[1])
    assert one["record"]["outcome"] == "reject"

    assert run(project, "programsmith", "forget", "hello:ingest")[0] == 0
    assert "never built" in run(project, *start)[2]
    code, out, err = run(project, "programsmith", "clean", "spec=hello")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "hello:r0:gate  removed cache/hello/r0/gate.json, cache/hello/verdict.json",
        "hello:ingest  removed cache/hello/ingest.json",
    ]
    assert run(project, "programsmith", "clean", "spec=hello") == (0, "", "")
    assert not (project / "cache" / "hello" / "ingest.json").exists()
    assert not (project / "cache" / "hello" / "verdict.json").exists()
    assert "altered" in run(project, *start)[2]


def test_formatting_of_a_spec_reruns_nothing_and_a_source_edit_does(project: Path) -> None:
    assert run(project, "programsmith", "build")[0] == 1
    (project / "specs" / "hello.yaml").write_text("# hello\nsource:\n    path: hello\nname: 'hello'\nversion: 1\n")
    assert "nothing to do" in run(project, "programsmith", "build")[2]
    assert run(project, "programsmith", "list")[1] == "hello   hello.yaml: reject\n"
    (project / "hello" / "other.py").write_text("")
    assert run(project, "programsmith", "list")[1] == "hello   hello.yaml: stale\n"
    (spec,) = json.loads(run(project, "programsmith", "list", "--json")[1])["specs"]
    assert (spec["outcome"], spec["current"]) == ("reject", False)
    assert run(project, "programsmith", "status")[1].split()[:2] == ["hello", "stale"]
    assert "source.path changed" in run(project, "programsmith", "build")[2]


def test_a_broken_spec_does_not_hide_others(project: Path) -> None:
    (project / "specs" / "bad.yaml").write_text("name: bad\n")
    code, out, _ = run(project, "programsmith", "list")
    assert code == 0
    assert "bad     error: specs/bad.yaml" in out
    assert "hello   hello.yaml: never built" in out
    assert run(project, "programsmith", "list", "spec=bad")[0] == 3


@pytest.fixture
def checkout(project: Path) -> Path:
    for name in ("dodo.py", "pyproject.toml"):
        shutil.copy(ROOT / name, project)
    return project


def test_bare_doit_lists_and_builds_nothing(checkout: Path) -> None:
    code, out, _ = run(checkout, "doit")
    assert code == 0
    assert "hello   hello.yaml: never built" in out
    assert not (checkout / "cache" / "hello").exists()


def test_doits_own_verbs_work_in_a_checkout(checkout: Path) -> None:
    code, out, _ = run(checkout, "doit", "list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["check", "docs", "hello", "standing", "test"]
    assert run(checkout, "doit", "build", "spec=hello")[0] == 1
    assert "U hello:ingest" in run(checkout, "doit", "list", "--all", "-s", "spec=hello")[1]
    assert "up-to-date" in run(checkout, "doit", "info", "hello:ingest")[1]
    assert run(checkout, "doit", "forget", "spec=hello")[0] == 0
    assert "R hello:ingest" in run(checkout, "doit", "list", "--all", "-s", "spec=hello")[1]
    code, out, _ = run(checkout, "doit", "clean", "-n", "spec=hello")
    assert (code, out.splitlines()[-1]) == (0, "hello:ingest  would remove cache/hello/ingest.json")
    assert (checkout / "cache" / "hello" / "ingest.json").exists()
    assert run(checkout, "doit", "clean", "spec=hello")[0] == 0
    assert not (checkout / "cache" / "hello" / "ingest.json").exists()


def test_plain_doit_runs_no_block_and_names_the_verb(checkout: Path) -> None:
    code, out, err = run(checkout, "doit", "hello:ingest")
    assert code == 1
    assert "doit build spec=hello" in out + err
    assert not (checkout / "cache" / "hello").exists()


def test_wrong_words_in_a_checkout_are_one_line_and_three(checkout: Path) -> None:
    code, _, err = run(checkout, "doit", "list", "spec=nope")
    assert code == 3
    assert err == f"ERROR: spec=nope: {MISSING}\n"


def test_the_page_of_verbs_names_every_verb() -> None:
    page = (ROOT / "docs" / "verbs.md").read_text(encoding="utf-8")
    named = {name for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for name in re.findall(r"`(\w+)", row)}
    assert named | {"version", "help"} == set(VERBS)


@pytest.mark.parametrize("verb", READING)
def test_each_verb_that_looks_explains_itself_and_is_one_of_doit(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli_run([verb, "--help"])
    assert end.value.code == 0
    out = capsys.readouterr().out
    assert READING[verb].what[:40] in out
    assert f"  programsmith {READING[verb].examples[0]}" in out
    plugins = {point.name: point for point in entry_points(group="doit.COMMAND") if point.dist.name == "programsmith"}
    assert plugins[verb].load().name == verb


def test_every_verb_is_one_of_doit() -> None:
    plugins = {point.name: point for point in entry_points(group="doit.COMMAND") if point.dist.name == "programsmith"}
    doits_own = {"list", "info", "clean", "forget", "help", "version"}
    assert set(VERBS) - doits_own == plugins.keys()
    assert [name for name, point in plugins.items() if point.load().name != name] == []


def test_options_may_follow_the_words_of_a_verb(checkout: Path) -> None:
    code, out, err = run(checkout, "doit", "explain", "hello:ingest", "--json")
    assert (code, err, json.loads(out)["version"]) == (0, "", 1)
    code, out, _ = run(checkout, "doit", "gc", "--days", "100")
    assert (code, json.loads(out)["entries"]) == (0, 0)


def test_what_doit_says_of_a_verb_is_what_programsmith_says(checkout: Path) -> None:
    plain = run(checkout, "programsmith", "explain", "hello:ingest")
    assert plain == (0, "hello:ingest would run: never built\nit has no record\n", "")
    assert run(checkout, "doit", "explain", "hello:ingest") == plain
    shown = json.loads(run(checkout, "doit", "plan", "--json", "spec=hello")[1])
    assert [spec["name"] for spec in shown["specs"]] == ["hello"]
    assert not (checkout / "cache").exists()


def test_an_unknown_task_is_one_line_under_doits_own_verbs(checkout: Path) -> None:
    for verb in ("info", "list", "clean", "forget"):
        code, out, err = run(checkout, "doit", verb, "nope")
        assert (code, out) == (3, ""), verb
        assert "nope" in err.splitlines()[0]
        assert err.startswith("ERROR: ")
    assert run(checkout, "doit", "info", "hello:ingest")[1].startswith("\nhello:ingest\n")


@pytest.mark.parametrize(
    "words", [("doit", "list", "--all"), ("programsmith", "list", "--all"), ("doit", "info", "hello")]
)
def test_a_reader_that_has_had_enough_is_no_error(checkout: Path, words: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as nobody:
        done = subprocess.run([str(BIN / words[0]), *words[1:]], cwd=checkout, stdout=nobody, stderr=-1, timeout=120)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")
