"""What may cost is asked for, bounded, and told: the mill whose trials have a price."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from programsmith.errors import InfraError
from tests.samples.killed import bought
from tests.samples.millplace import SAMPLES, SPEC, Mill

BUYING = SAMPLES / "buying.py"
PRICED = {
    **SPEC,
    "rollouts": [{"agent": "command", "command": "x", "trials": 6, "usd": 0.5}],
    "revisions": {"max": 0},
    "budget": {"usd": 4, "agent_wall": "10m"},
}
QUESTION = "mill may spend up to 4.00 usd: 9 trials are bought at most, budget.usd is 4"


@pytest.fixture
def mill(tmp_path: Path) -> Mill:
    made = Mill(tmp_path).make()
    made.spec(**PRICED)
    return made


def answered(mill: Mill, answer: bytes, *words: str) -> tuple[int, bytes]:
    """A build on a terminal whose user types `answer`, or interrupts it where that is nothing."""
    ours, theirs = pty.openpty()
    pipes: dict[str, Any] = {"stdin": theirs, "stdout": subprocess.PIPE, "stderr": theirs}
    running = subprocess.Popen(mill.command("build", *words), cwd=mill.root, **pipes)
    os.close(theirs)
    shown, asked = b"", False
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
        if not asked and b"[y/N] " in shown:
            asked = True
            if answer:
                os.write(ours, answer)
            else:
                running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    os.close(ours)
    return running.returncode, shown.replace(b"\r", b"")


def test_without_a_terminal_nothing_is_spent_unless_somebody_says_so(mill: Mill) -> None:
    code, out, err = mill.run("build", "spec=mill")
    assert (code, out) == (3, "")
    assert err == f"error: {QUESTION}; add --yes, or look first: programsmith plan spec=mill\n"
    assert mill.worked() == 0
    plan = mill.json("plan")
    assert plan["usd"] == {"at_most": 4.0, "models": {}, "budget": 4, "spent": 0.0, "held": 0.0}
    assert plan["total"]["usd_at_most"] == 4.0
    mill.spec(**PRICED | {"budget": {"usd": 100, "agent_wall": "10m"}})
    assert mill.json("plan")["usd"]["at_most"] == 4.5


def test_on_a_terminal_it_asks_and_a_no_builds_nothing(mill: Mill) -> None:
    code, shown = answered(mill, b"n\n")
    assert code == 3
    assert f"{QUESTION}. Build? [y/N] ".encode() in shown
    assert b"error: nothing was built" in shown
    code, shown = answered(mill, b"")
    assert (code, b"interrupted" in shown) == (130, True)
    assert mill.worked() == 0
    assert not mill.cache.exists()


def test_a_yes_builds_and_what_is_bought_is_asked_for_no_more(mill: Mill) -> None:
    mill.spec(**PRICED | {"budget": {"usd": 5, "agent_wall": "10m"}})
    code, shown = answered(mill, b"y\n")
    assert code == 0, shown
    assert b"r0:sell" in shown
    assert mill.json("status")["spent"] == 4.5
    assert mill.json("plan")["usd"]["at_most"] == 0.0
    mill.spec(**PRICED | {"budget": {"usd": 100, "agent_wall": "10m"}, "generation": 2})
    plan = mill.json("plan")
    assert (plan["usd"]["at_most"], plan["usd"]["spent"]) == (4.5, 4.5)
    assert plan["trials"] == {"reused": 9, "bought": 0, "bought_at_most": 9}


def test_a_spent_budget_is_told_as_one_and_more_money_goes_on_from_there(mill: Mill) -> None:
    mill.spec(**PRICED | {"budget": {"usd": 1.2, "agent_wall": "10m"}})
    code, out, err = mill.run("build", "spec=mill", "--yes")
    assert code == 3
    assert out == f"mill  budget  {mill.cache}/ledger.jsonl\n"
    assert "budget    mill:r0:b0:trial:command:x:" in err
    assert "of budget.usd 1.2. " in err
    assert "What was bought stays: raise budget.usd to at least 1.5 and build again" in err
    status = mill.json("status")
    assert (status["spent"], status["held"]) == (1.0, [])
    bought = list(mill.cache.glob("r0/trials/*/*/trial.json"))
    assert len(bought) == 2
    assert mill.json("plan")["usd"]["at_most"] == pytest.approx(0.2)
    mill.spec(**PRICED | {"budget": {"usd": 4.5, "agent_wall": "10m"}})
    assert mill.run("build", "spec=mill", "--yes")[0] == 0
    journal = (mill.root / "journal").read_text().splitlines()
    assert len([line for line in journal if line.startswith("begin trial:")]) == 9


def killed(mill: Mill, when: str) -> None:
    """Start a build that dies while it buys its first trial."""
    command = [sys.executable, str(BUYING), when, str(mill.root), "spec=mill"]
    done = subprocess.run(command, cwd=mill.root, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2, done.stderr
    assert "its process ended without an answer (signal 9)" in done.stderr
    assert len(mill.json("status")["held"]) == 1


def begun(mill: Mill) -> int:
    lines = (mill.root / "journal").read_text().splitlines()
    return len([line for line in lines if line.startswith("begin trial:")])


def test_what_a_killed_run_had_published_is_closed_by_the_next_and_bought_once(mill: Mill) -> None:
    mill.spec(**PRICED | {"budget": {"usd": 4.5, "agent_wall": "10m"}})
    killed(mill, "after")
    assert mill.json("status")["spent"] == 0.0
    assert mill.run("build", "spec=mill", "--yes")[0] == 0
    status = mill.json("status")
    assert (status["spent"], status["held"], begun(mill)) == (4.5, [], 9)
    bills = bought(mill.cache)
    assert (len(bills), set(bills.values())) == (9, {1})


def test_what_a_killed_run_had_not_published_stays_reserved_whoever_buys_the_same(mill: Mill) -> None:
    mill.spec(**PRICED | {"budget": {"usd": 5, "agent_wall": "10m"}})
    killed(mill, "before")
    for _ in range(2):
        assert mill.run("build", "spec=mill", "--yes")[0] == 0
        status = mill.json("status")
        assert (status["spent"], [event["usd"] for event in status["held"]]) == (4.5, [0.5])
    assert begun(mill) == 10


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_costs_nothing_is_never_left_reserved(mill: Mill, when: str) -> None:
    mill.spec()
    killed(mill, when)
    assert mill.run("build", "spec=mill")[0] == 0
    assert mill.json("status")["held"] == []
    assert set(bought(mill.cache).values()) == {1}


def test_what_nobody_saw_end_is_held_and_shown(mill: Mill) -> None:
    mill.cache.mkdir(parents=True)
    line = '{"at":1.0,"id":"i1","key":"k","kind":"reserve","task":"mill:r0:b0:trial:command:x:0","usd":0.5}\n{"at":1'
    (mill.cache / "ledger.jsonl").write_text(line)
    assert "1 reservations held, 0.5 usd" in mill.text("status")
    out = mill.text("status", "spec=mill")
    assert "held 0.5 usd for mill:r0:b0:trial:command:x:0, id i1; close it: programsmith settle" in out
    assert mill.json("plan")["usd"] == {"at_most": 3.5, "models": {}, "budget": 4, "spent": 0.0, "held": 0.5}
    assert mill.json("report")["spend"]["held"] == [{"id": "i1", "task": "mill:r0:b0:trial:command:x:0", "usd": 0.5}]
    assert (mill.cache / "ledger.jsonl").read_text() == line
    (mill.cache / "ledger.jsonl").write_text("rubbish\n")
    with pytest.raises(InfraError, match="damaged"):
        mill.text("plan")
    assert "the ledger is damaged" in mill.text("status")
