"""A task whose agents may ask the original, under a real Harbor: its container answers, and nobody does at grading."""

from __future__ import annotations

import base64
import copy
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from programsmith.blocks import create
from programsmith.bundle.answers import ANSWERING
from programsmith.bundle.solution import solution
from programsmith.bundle.tree import COMPOSE, read_bundle
from programsmith.payload.query.serve import LOGS, QUERIES, SUMS
from programsmith.payload.verifier.tree import write_tree
from programsmith.rulebook.load import Rulebook
from programsmith.sources.tree import read_tar
from programsmith.toolchains.bases import COMPILER, agent_tag, base_tag
from tests.contract.backends import base_image
from tests.samples.exporting import exported
from tests.samples.harbor.runs import HERE as RUNS
from tests.samples.harbor.runs import Harbor, Ran, program, watched
from tests.unit.bundle.conftest import SAMPLES, Toy

pytestmark = pytest.mark.harbor
ASK, MOST = "/app/reference/rot", 5
MARK = next(line for line in (SAMPLES / "rot/python/rot.py").read_bytes().splitlines() if line.startswith(b"def turn"))
ASKED = {
    "bytes": ("-n 1", b"Hello \xff"),
    "fails": ("--bad", b""),
    "file": ("-o out", b"into a file\n"),
}
"""Arguments and standard input by the name of the query; each prints what came back in base64, then its code."""
SCRIPT = f"""cd /tmp && mkdir asks && cd asks || exit 1
say() {{ echo "$1 $(base64 -w0 <said) $2"; }}
{
    "".join(
        f'''echo {base64.b64encode(given).decode()} | base64 -d | {ASK} {words} >said.{name} 2>err; code=$?
mv said.{name} said; say {name} $code; rm -f said err
'''
        for name, (words, given) in ASKED.items()
    )
}
base64 -w0 <out >said; echo "left $(cat said) 0"; rm -f said
{ASK} -n 0 /opt/oracle/lib/rot.py >said 2>err; echo "outside - $?"; cat err; rm -f said err
{ASK} </dev/null >/dev/null; echo "last - $?"
{ASK} </dev/null 2>err; echo "spent - $?"; cat err
{{ echo x >/run/oracle/x; rm -f /run/oracle/ask; mount -o remount,rw /run/oracle; }} 2>/dev/null; ls /run/oracle
grep -rl '{MARK.decode()}' /[!psu]* /run /srv /usr/local 2>/dev/null | grep -v ^/app/submission/
ls -A /opt /sys/class/net /solution /logs/reference 2>&1
"""
ASKS_LATER = f'#!/usr/bin/python3\nimport os, sys\nos.execv("{ASK}", sys.argv)\n'
COPIES = "cp main.py executable\nchmod 755 executable\n"


KILLS = """for p in /proc/[0-9]*; do
tr "\\0" " " <$p/cmdline | grep -q "^python3 -I /reference" && kill -9 ${p#/proc/}; done; true"""


@dataclass(frozen=True, slots=True)
class Composed:
    """The containers of a task that compose itself started, with the bases that this engine has."""

    task: Path
    project: str

    def say(self, *words: str) -> str:
        code, said = self.run(*words)
        assert code == 0, said
        return said

    def run(self, *words: str) -> tuple[int, str]:
        suite = Rulebook(None).load("containers")["suite"]
        bases = {"BASE": agent_tag("c", suite), "COMPILER": base_tag(COMPILER, suite)}
        files = [self.task / COMPOSE, RUNS / "asking.yaml", RUNS / "offline.yaml", RUNS / "alone.yaml"]
        command = ["docker", "compose", "-p", self.project, "--project-directory", self.task / "environment"]
        command += [word for file in files for word in ("-f", file)]
        done = subprocess.run([*map(str, command), *words], env={**os.environ, **bases}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)  # fmt: skip
        return done.returncode, done.stdout

    def agent(self, line: str) -> tuple[int, str]:
        """How a line ends that the agent says, and what it sees."""
        return self.run("exec", "-T", "-u", "agent", "-w", "/tmp", "main", "sh", "-c", line)

    def sums(self) -> Mapping[str, Any]:
        value: Mapping[str, Any] = json.loads(self.say("exec", "-T", "reference", "cat", f"{LOGS}/{SUMS}"))
        return value


@dataclass(frozen=True, slots=True)
class Tried:
    """The trials of one job over one task that may be asked, and what happened to containers meanwhile."""

    toy: Toy
    task: Path
    trials: Mapping[str, Ran]
    seen: list[tuple[str, str, str]]


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Harbor:
    return Harbor(program(), tmp_path_factory.mktemp("harbor"))


@pytest.fixture(scope="module")
def tried(harbor: Harbor, toys: Callable[[str, str], Toy], tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """The solution handed in by an agent that asks, a submission that asks when it is graded, oracle and nop."""
    top = tmp_path_factory.mktemp("asked")
    toy = toys("python", "python").copy(top / "toy")
    limits = copy.deepcopy(Rulebook(None).load("limits"))
    limits["query"]["queries"] = MOST
    toy.spec["task"], toy.rules = {"oracle_access": "query"}, {"limits": limits}
    shutil.rmtree(toy.bundle)
    create.run(toy.job("create"))
    write_tree(str(top / "asks"), solution(toy.bundle))
    (top / "asks_later").mkdir()
    (top / "asks_later/main.py").write_text(ASKS_LATER)
    (top / "asks_later/compile.sh").write_text(COPIES)
    task = exported(toy, top / "dist" / "rot")
    given = {"asks": (top / "asks", SCRIPT), "asks_later": (top / "asks_later", "")}
    with watched() as seen:
        trials = harbor.handed_in("asked", task, given, own=("oracle", "nop"))
    return Tried(toy=toy, task=task, trials=trials, seen=seen)


@pytest.fixture(scope="module")
def said(tried: Tried) -> dict[str, tuple[bytes, int]]:
    """What the agent's script saw of each query, by its name: the bytes and the exit code."""
    lines = (tried.trials["asks"].folder / "agent/script.txt").read_text().splitlines()
    rows = [line.split(" ") for line in lines[1:] if line.count(" ") == len(("bytes", "code"))]
    return {name: (base64.b64decode(text) if text != "-" else b"", int(code)) for name, text, code in rows}


def original(words: str, stdin: bytes, folder: Path) -> tuple[bytes, int]:
    command = [sys.executable, SAMPLES / "rot/python/rot.py", *words.split()]
    done = subprocess.run(command, cwd=folder, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout, done.returncode


def test_the_originals_bytes_come_back(said: Mapping[str, tuple[bytes, int]], tmp_path: Path) -> None:
    for name, (words, stdin) in ASKED.items():
        assert said[name] == original(words, stdin, tmp_path), name
    assert said["left"][0] == (tmp_path / "out").read_bytes()


def test_over_the_meter_and_outside_a_query_is_refused(tried: Tried, said: Mapping[str, tuple[bytes, int]]) -> None:
    assert {name: code for name, (_, code) in said.items() if name not in ASKED} == {
        "left": 0, "outside": 125, "last": 0, "spent": 125,
    }  # fmt: skip
    text = (tried.trials["asks"].folder / "agent/script.txt").read_text()
    assert "reference: refused: outside" in text
    assert f"reference: refused: spent: all {MOST} queries" in text


def test_nothing_of_the_original_is_where_the_agent_is(tried: Tried) -> None:
    text = (tried.trials["asks"].folder / "agent/script.txt").read_text()
    ending = text[text.index(f"all {MOST} queries") :].splitlines()[1:]
    assert ending[0] == "ask"  # and it is still there
    assert not any(line.startswith("/") and "No such file" not in line and not line.endswith(":") for line in ending)
    assert {line for line in ending if line == "lo" or "rot" in line} == {"lo"}


def test_every_query_is_told_and_kept_of_the_trial(tried: Tried) -> None:
    kept = tried.trials["asks"].folder / "artifacts" / LOGS.lstrip("/")
    rows = [json.loads(line) for line in (kept / QUERIES).read_bytes().splitlines()]
    assert [row["word"] for row in rows] == ["ran"] * len(ASKED) + ["outside", "ran"]
    sums: Mapping[str, Any] = json.loads((kept / SUMS).read_bytes())
    assert (sums["queries"], sums["refused"]) == (MOST, {"outside": 1, "spent": 1})
    assert {ran.artifacts[LOGS] for ran in tried.trials.values()} == {"ok"}


def test_the_rewards_are_those_without_queries_and_at_grading_nobody_answers(tried: Tried) -> None:
    rewards = {name: ran.rewards for name, ran in tried.trials.items()}
    assert rewards == {name: {"reward": float(name in {"asks", "oracle"})} for name in tried.trials}
    assert rewards.keys() == {"asks", "asks_later", "oracle", "nop"}
    assert "AC" not in tried.trials["asks_later"].details["cases"]["held_out"].values()


def test_each_trial_has_three_containers_without_a_network_and_two_are_gone_before_the_verifiers(tried: Tried) -> None:
    assert {network for action, _, network in tried.seen if action == "start"} == {"none"}
    for ran in tried.trials.values():
        own = [(action, project) for action, project, _ in tried.seen if project.startswith(ran.folder.name.lower())]
        assert [action for action, _ in own] == [
            *["create"] * 2, *["start"] * 2, *["destroy"] * 2, "create", "start", "destroy",
        ], own  # fmt: skip


@pytest.fixture(scope="module")
def composed(
    harbor: Harbor, asked_toys: Callable[[str, str], Toy], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Composed]:
    """Both containers of a task in C, where Harbor's engine is, without Harbor."""
    base_image("c")
    top = tmp_path_factory.mktemp("c")
    task = exported(asked_toys("c", "c").copy(top / "toy"), top / "dist" / "rot")
    own = Composed(task=task, project=f"asked-{os.getpid()}")
    try:
        own.say("up", "--detach", "--wait", "--build", "--quiet-pull")
        yield own
    finally:
        own.say("down", "--rmi", "local", "--volumes", "--timeout", "1")


def test_a_machine_program_shows_itself_to_no_query(composed: Composed) -> None:
    assert composed.agent(f"printf abc | {ASK} -n 1") == (0, "bcd")
    for place in ("/opt/oracle/bin/rot", "/proc/self/exe", "/proc/self/mem", "../opt/oracle/bin/rot"):
        assert composed.agent(f"{ASK} -n 0 {place} 2>&1") == (3, "rot: cannot read\n"), place


def test_one_that_is_killed_answers_again_and_the_meter_goes_on(composed: Composed) -> None:
    before = composed.sums()["queries"]
    composed.say("exec", "-T", "reference", "sh", "-c", KILLS)
    again = f"for n in $(seq 60); do printf abc | {ASK} -n 2 2>/dev/null && break; sleep 0.5; done"
    assert composed.agent(again) == (0, "cde")
    assert composed.sums()["queries"] == before + 1


def test_lint_finds_nothing_privileged(harbor: Harbor, tried: Tried, tmp_path: Path) -> None:
    """The plugin of this engine's age lacks one option that Harbor asks for; what it tells is the same without."""
    own, real = tmp_path / "docker", shutil.which("docker")
    own.write_text(f'#!/bin/bash\nexec {real} "${{@/--no-env-resolution/--format=json}}"\n')
    own.chmod(0o755)
    found = json.loads(harbor.say("lint", "--json", tried.task, PATH=f"{tmp_path}:{os.environ['PATH']}"))
    assert found == []


def test_the_original_lies_sealed_and_in_one_place(tried: Tried) -> None:
    text = next(e.content for e in read_tar(tried.toy.path("oracle.tar")) if e.path.endswith(b"rot.py"))
    assert MARK in text
    shown = {path: e.content for path, e in read_bundle(tried.task).items()}
    assert not [path for path, content in shown.items() if MARK in content]
    assert set(ANSWERING) <= shown.keys()
