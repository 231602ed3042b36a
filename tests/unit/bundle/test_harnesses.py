"""Real coding agents, whole trials: from the prompt through the gateway to a graded artifact, in each kind of place."""

from __future__ import annotations

import base64
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from programsmith.agents.base import INSTRUCTION
from programsmith.agents.installed import installed
from programsmith.agents.registry import HARNESSES
from programsmith.errors import InfraError, PrerequisiteError
from programsmith.gateway.record import account
from programsmith.records.trial import Stop
from programsmith.rulebook.load import Rulebook
from tests.samples.conversation import END, Conversation, conversation
from tests.samples.gateways import FLASH, GPT, HAIKU, KEYS, rules
from tests.samples.provider import KEY, Turn, provider
from tests.samples.watched import pieces

pytestmark = pytest.mark.agents
ROWS = Rulebook(None).load("agents")["agents"]
MODELS = {"claude-code": HAIKU, "codex": GPT, "gemini-cli": FLASH, "mini-swe-agent": GPT}
ROT = (Path(__file__).parents[2] / "samples" / "rot" / "python" / "rot.py").read_text().rstrip().replace("`", "'")
BUILD = '(echo "#!/usr/bin/python3"; cat rot.py) >executable && chmod 755 executable'
WRITES = f"cd /app/submission && cat >rot.py <<'END'\n{ROT}\nEND\necho '{BUILD}' >compile.sh && chmod 755 compile.sh"
CHECKS = "cd /app && ./check; echo code $?"
ASK = "/app/reference/rot"
LOOKS = "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; ls -A /home /opt /run"


def available(name: str) -> str:
    try:
        installed(name, ROWS[name])
    except PrerequisiteError as lacks:
        pytest.skip(str(lacks))
    return name


@pytest.fixture(params=sorted(HARNESSES))
def agent(request: pytest.FixtureRequest) -> str:
    return available(request.param)


def entry(agent: str, model: str | None = None, **more: Any) -> dict[str, Any]:
    return {"agent": agent, "model": model or MODELS[agent], "trials": 1, **more}


def before(bench: Any, address: str, **limits: Any) -> Any:
    """The bench with its models' provider at an address."""
    bench.rules, bench.environment = rules(address, **limits), KEYS
    return bench


def counted(bench: Any, far: Conversation, left: Any, commands: int) -> None:
    """The trial, its transcript, the gateway's record and the provider say the same."""
    trial, told = left.trial, left.transcript
    found = account(left.job.calls)
    assert (trial.calls, trial.tokens_in, trial.tokens_out) == (found.calls, found.tokens.taken, found.tokens.output)
    assert (found.calls, trial.usd) == (len(far.asked), float(found.usd))
    assert found.usd > 0
    assert {asked.headers.get("x-api-key", KEY) for asked in far.asked} == {KEY}
    sums = told["final_metrics"]
    assert (sums["total_prompt_tokens"], sums["total_completion_tokens"]) == (trial.tokens_in, trial.tokens_out)
    assert told["extra"]["agrees"], told["extra"]
    ran = [call for step in told["steps"] for call in step.get("tool_calls", ())]
    assert len(ran) == commands
    assert told["agent"]["version"].startswith(ROWS[trial.pair.agent]["version"])


def test_a_whole_trial_from_the_prompt_to_the_grade(agent: str, bench: Any) -> None:
    with conversation(WRITES, CHECKS, LOOKS) as far:
        left = before(bench, far.address).run(entry(agent))
        assert left.trial.stop is Stop.DONE
        assert left.grade().reward == 1
        assert {b"compile.sh", b"rot.py"} <= set(left.files)
        counted(bench, far, left, commands=4 if agent == "mini-swe-agent" else 3)
        checked, looked = far.seen[1:3]
        assert "7 of 7 public cases pass\ncode 0" in checked.replace("\\n", "\n")
        assert "SUBMISSION" in looked or "HOME=" in looked
        for closed in (KEY, "dummy", "8787", "gateway.sock", "BASE_URL="):
            assert closed not in looked, closed
        assert not {name for name in far.tools if "web" in name.lower()}
        assert all("# Re-implement" in str(asked.json) for asked in far.asked)
        kept = [left.job.calls, left.job.outputs["t/transcript.json"], left.job.outputs["t/artifact.tar"]]
        assert all(KEY.encode() not in path.read_bytes() for path in kept)


def test_mini_swe_agent_asks_by_the_protocol_of_its_models_provider(own_bench: Any) -> None:
    available("mini-swe-agent")
    with conversation(WRITES) as far:
        left = before(own_bench, far.address).run(entry("mini-swe-agent", HAIKU))
        assert left.grade().reward == 1
        assert {asked.target for asked in far.asked} == {"/v1/messages"}
        counted(own_bench, far, left, commands=2)


def test_an_agent_that_is_stopped_is_billed_for_what_it_asked_and_its_work_is_graded(own_bench: Any) -> None:
    available("claude-code")
    own_bench.wall = "15s"
    with conversation(WRITES, "true", "tail -f /dev/null") as far:
        left = before(own_bench, far.address).run(entry("claude-code"))
        assert (left.trial.stop, left.trial.calls, len(far.asked)) == (Stop.WALL, 3, 3)
        assert left.trial.usd == float(Decimal(3 * (1000 + 50 * 5)) / 1_000_000)
        assert left.grade().reward == 1
        assert left.transcript["extra"]["stop"] == "wall"


def test_a_tenth_of_a_dollar_covers_one_call_of_claude_code_and_stops_it_there(own_bench: Any) -> None:
    available("claude-code")
    with conversation(WRITES, *["true"] * 50, taken=40_000, given=2000) as far:
        left = before(own_bench, far.address).run(entry("claude-code", usd=0.10))
        assert left.trial.stop is Stop.BUDGET
        assert 1 <= left.trial.calls <= 2
        assert left.trial.usd <= 0.10
        assert left.grade().reward == 1
        assert account(left.job.calls).last == "budget"


@pytest.mark.parametrize(
    ("turn", "name", "again"),
    [
        (Turn(status=401, error={"error": {"message": "no"}}), "auth", False),
        (Turn(status=429, error={"error": {"message": "slow"}}, headers={"retry-after": "40"}), "rate_limit", True),
        (Turn(status=400, error={"error": {"code": "context_length_exceeded"}}), "context_length", False),
        (Turn(status=500, error={"error": {"message": "x"}}), "overload", True),
    ],
    ids=["auth", "rate limit", "context length", "overload"],
)
def test_a_failure_of_the_model_is_no_trial(own_bench: Any, turn: Turn, name: str, again: bool) -> None:
    available("codex")
    own_bench.wall = "30s"
    with provider(turn) as far, pytest.raises(InfraError, match=f"ended in {name}") as fault:
        before(own_bench, far.address).run(entry("codex"))
    assert fault.value.again is again
    assert fault.value.after == (40.0 if name == "rate_limit" else 0.0)
    assert not list(own_bench.folder.rglob("artifact.tar"))


def test_what_is_not_installed_is_named_with_the_command_that_brings_it(own_bench: Any) -> None:
    own_bench.rules = {"agents": {**Rulebook(None).load("agents")}}
    own_bench.rules["agents"]["agents"] = {**ROWS, "codex": {**ROWS["codex"], "version": "0.0.1"}}
    with pytest.raises(PrerequisiteError, match=r"run: programsmith agents install codex@0\.0\.1"):
        own_bench.run(entry("codex"))


def test_what_has_no_key_is_named_before_anything_starts(own_bench: Any) -> None:
    available("codex")
    with pytest.raises(PrerequisiteError, match="OPENAI_API_KEY: no key"):
        own_bench.run(entry("codex"))
    assert account(own_bench.job(entry("codex")).calls).calls == 0


def test_the_command_that_ends_mini_swe_agent_is_its_own() -> None:
    available("mini-swe-agent")
    text = b"".join(
        path.read_bytes() for path in installed("mini-swe-agent", ROWS["mini-swe-agent"]).rglob("mini.yaml")
    )
    assert END.encode() in text


def test_an_instruction_that_no_command_line_takes_is_read_from_its_file(agent: str, own_bench: Any) -> None:
    path = own_bench.toy.bundle / "instruction.md"
    path.write_text(path.read_text() + "and so on\n" * 15_000)
    with conversation(f"wc -c <{INSTRUCTION}") as far:
        left = before(own_bench, far.address).run(entry(agent))
    assert left.trial.stop is Stop.DONE
    assert str(path.stat().st_size) in far.seen[0]
    asked = b"".join(asked.body for asked in far.asked)
    assert INSTRUCTION.encode() in asked
    assert b"and so on" not in asked


@pytest.mark.parametrize("name", ["claude-code", "mini-swe-agent"])
def test_an_agent_asks_the_original_by_its_command(name: str, asking_bench: Any) -> None:
    available(name)
    asking_bench.wall = "300s"  # a cold start of either on a busy machine
    asks = f"echo Hello | {ASK} -n 1; {ASK} --bad; echo code $?"
    files = f"mkdir /tmp/w && cd /tmp/w && echo abc >in && {ASK} -n 2 -o out in && cat out"
    with conversation(asks, files) as far:
        left = before(asking_bench, far.address).run(entry(name))
        counted(asking_bench, far, left, commands=3 if name == "mini-swe-agent" else 2)
        assert "Ifmmp" in far.seen[0]
        assert "code 3" in far.seen[0]
        assert "cde" in far.seen[1]
    *told, total = left.queries
    assert [(row["word"], row["exit_code"]) for row in told] == [("ran", 0), ("ran", 3), ("ran", 0)]
    assert [[base64.b64decode(word) for word in row["argv"]] for row in told[:2]] == [[b"-n", b"1"], [b"--bad"]]
    assert (told[0]["stdin"]["bytes"], told[2]["left"]["entries"], total["queries"]) == (6, 2, 3)
    assert (left.trial.queries, left.trial.asked) == (3, ("--bad", "-n", "-n -o"))


def test_the_key_is_nowhere_while_a_trial_runs_nor_afterwards(bench: Any) -> None:
    """The argument lists, environments, containers and files of a whole trial, at each of its calls."""
    available("claude-code")
    bench.wall = "300s"  # everything is read at each call
    kinds, shown = set[str](), list[str]()

    def watch() -> None:
        for name, content in pieces(bench.folder):
            kinds.add(name.partition(" ")[0] if " of " in name or name.startswith("inspect") else "file")
            if KEY.encode() in content:
                shown.append(name)

    with conversation(WRITES, watch=watch) as far:
        left = before(bench, far.address).run(entry("claude-code"))
        assert left.grade().reward == 1
        assert {asked.headers["x-api-key"] for asked in far.asked} == {KEY}
        watch()
    assert shown == []
    assert kinds >= {"cmdline", "environ", "file"} | ({"inspect"} if bench.kind == "docker" else set())
