from __future__ import annotations

import fcntl
import os
import resource
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from programsmith.compiler.paths import Project
from programsmith.compiler.storing import reservations
from programsmith.errors import BudgetError, Exit, InfraError, InputError
from programsmith.store.budget import Budget
from programsmith.store.ledger import Ledger, account_of


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "deep" / "ledger.jsonl")


def buy(budget: Budget, bound: float, took: float) -> None:
    with budget.reserved("toy:trial:0", "k", bound) as spent:
        spent.append(took)


def test_what_a_call_took_replaces_its_reservation(ledger: Ledger) -> None:
    buy(Budget(ledger=ledger, usd=1.0), 0.5, 0.1)
    account = ledger.account()
    assert (account.spent, account.reserved) == (Decimal("0.1"), 0)
    assert len(ledger.path.read_bytes().splitlines()) == 2


def test_cents_add_up_exactly(ledger: Ledger) -> None:
    budget = Budget(ledger=ledger, usd=0.3)
    for _ in range(3):
        buy(budget, 0.1, 0.1)
    assert ledger.account().spent == Decimal("0.3")
    with pytest.raises(BudgetError):
        budget.reserve("toy:trial:1", "k", 0.000001)


def test_a_call_that_could_pass_the_budget_is_not_made(ledger: Ledger) -> None:
    budget = Budget(ledger=ledger, usd=1.0)
    budget.reserve("toy:trial:0", "k", 0.7)
    with pytest.raises(BudgetError, match=r"toy:trial:0 may cost 0\.4 usd; 0 are spent and 0\.7 reserved") as fault:
        buy(budget, 0.4, 0.1)
    assert fault.value.exit is Exit.USAGE
    assert len(ledger.path.read_bytes().splitlines()) == 1


def test_without_a_budget_only_free_calls_are_made(ledger: Ledger) -> None:
    budget = Budget(ledger=ledger, usd=None)
    buy(budget, 0.0, 0.0)
    with pytest.raises(BudgetError):
        buy(budget, 0.01, 0.0)


def test_a_call_whose_end_nobody_saw_keeps_its_reservation_until_it_is_settled(ledger: Ledger) -> None:
    budget = Budget(ledger=ledger, usd=1.0)
    with pytest.raises(InfraError), budget.reserved("toy:trial:0", "k", 0.6):
        raise InfraError("the line went dead")
    (held,) = ledger.account().held
    with pytest.raises(BudgetError):
        budget.reserve("toy:trial:0", "k", 0.6)
    ledger.settle(held.id, 0.2, 1.0)
    assert (ledger.account().spent, ledger.account().held) == (Decimal("0.2"), ())
    budget.reserve("toy:trial:0", "k", 0.6)
    with pytest.raises(InputError, match=r"no reservation '\w+' is held"):
        ledger.settle(held.id, 0.2, 1.0)


def test_a_free_call_that_broke_holds_nothing(ledger: Ledger) -> None:
    with pytest.raises(InfraError), Budget(ledger=ledger, usd=None).reserved("toy:trial:0", "k", 0.0):
        raise InfraError("no room")
    assert ledger.account().held == ()


def test_a_process_killed_in_the_call_leaves_the_reservation(ledger: Ledger) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from programsmith.store.budget import Budget; from programsmith.store.ledger import Ledger\n"
        "with Budget(ledger=Ledger(Path(sys.argv[1])), usd=1.0).reserved('t', 'k', 0.4):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code, str(ledger.path)], env=env).returncode == -signal.SIGKILL
    assert ledger.account().reserved == Decimal("0.4")


def test_processes_that_reserve_at_once_never_pass_the_budget(ledger: Ledger) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from programsmith.errors import BudgetError\n"
        "from programsmith.store.budget import Budget; from programsmith.store.ledger import Ledger\n"
        "b, n = Budget(ledger=Ledger(Path(sys.argv[1])), usd=1.0), 0\n"
        "try:\n"
        "    while True: b.reserve('t', 'k', 0.1); n += 1\n"
        "except BudgetError: print(n)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, str(ledger.path)]
    running = [subprocess.Popen(command, stdout=-1, text=True, env=env) for _ in range(3)]
    assert sum(int(process.communicate(timeout=60)[0]) for process in running) == 10
    assert ledger.account().reserved == 1


def test_a_line_that_a_crash_cut_off_never_counted(ledger: Ledger) -> None:
    budget = Budget(ledger=ledger, usd=1.0)
    buy(budget, 0.5, 0.1)
    with ledger.path.open("ab") as out:
        out.write(b'{"kind":"reserve","usd":9')
    buy(budget, 0.5, 0.1)
    assert ledger.account().spent == Decimal("0.2")
    assert len(ledger.path.read_bytes().splitlines()) == 4


@pytest.mark.parametrize("line", [b"no JSON\n", b"{}\n", b"[1]\n", b"\n"])
def test_any_other_damage_is_refused_by_line(ledger: Ledger, line: bytes) -> None:
    budget = Budget(ledger=ledger, usd=1.0)
    buy(budget, 0.5, 0.1)
    ledger.path.write_bytes(line + ledger.path.read_bytes())
    with pytest.raises(InfraError, match=r"ledger\.jsonl:1: the ledger is damaged"):
        buy(budget, 0.1, 0.1)


def test_a_full_disk_reserves_nothing_and_keeps_the_ledger_whole(ledger: Ledger) -> None:
    budget = Budget(ledger=ledger, usd=1.0)
    buy(budget, 0.5, 0.1)
    whole = ledger.path.read_bytes()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 20, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            budget.reserve("toy:trial:1", "k", 0.1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert ledger.path.read_bytes() == whole


def test_who_only_looks_at_a_ledger_changes_no_byte_of_it(ledger: Ledger) -> None:
    assert ledger.look() == []
    assert not ledger.path.parent.exists()
    Budget(ledger=ledger, usd=1.0).reserve("toy:trial:0", "k", 0.5)
    torn = ledger.path.read_bytes() + b'{"at": 1'
    ledger.path.write_bytes(torn)
    assert account_of(ledger.look()).reserved == Decimal("0.5")
    assert ledger.path.read_bytes() == torn
    with ledger.path.open("ab") as out:
        out.write(b"\n")
    with pytest.raises(InfraError, match=":2: the ledger is damaged"):
        ledger.look()


def test_who_only_looks_at_reservations_waits_for_nobody_and_mends_nothing(tmp_path: Path) -> None:
    project = Project(tmp_path)
    path = project.folder("toy").ledger
    Budget(ledger=Ledger(path), usd=1.0).reserve("toy:trial:0", "k", 0.25)
    with path.open("ab") as out:
        out.write(b'{"cut o')
    before = path.read_bytes()
    with Ledger(path).path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        found = reservations(project, [tmp_path / "specs" / "toy.yaml"])
    assert [event["usd"] for event in found["toy"]["held"]] == [0.25]
    assert path.read_bytes() == before
