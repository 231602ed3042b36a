"""What an agent did, in ATIF 1.8: the instruction as the user's step, then one step per action or answer of a model.

In: who tried, steps, usage. Out: the JSON of a trajectory that keeps to rules/schema/transcript.json. What programs
wrote is shown as text, other bytes escaped, and cut in the middle where it is long: a transcript is read by people and
judges, and nothing is graded by it. The sums are the gateway's; what a harness tells of itself stands beside them, and
whether both agree.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from programsmith.agents.base import AgentResult, Said, Step
from programsmith.records.trial import Pair
from programsmith.rulebook.load import packaged_schema

VERSION = "ATIF-v1.8"
SHOWN_BYTES = 32 << 10  # of each end of what an action wrote
ID_LENGTH = 200


def trajectory(pair: Pair, version: str, instruction: str, result: AgentResult) -> dict[str, Any]:
    """The trajectory of one attempt."""
    steps = [
        {"step_id": 1, "source": "user", "message": instruction},
        *(
            _said(number, step, pair.model) if isinstance(step, Said) else _step(number, step)
            for number, step in enumerate(result.steps, 2)
        ),
    ]
    return {
        "schema_version": VERSION,
        "agent": {"name": pair.agent, "version": version, "model_name": pair.model},
        "steps": steps,
        "final_metrics": {
            "total_prompt_tokens": result.tokens_in,
            "total_completion_tokens": result.tokens_out,
            "total_cost_usd": result.usd,
            "total_steps": len(steps),
        },
        "extra": {"stop": result.stop.value, "calls": result.calls, **_told(result)},
    }


def encode(value: dict[str, Any]) -> bytes:
    """The bytes of a trajectory. Raises jsonschema.ValidationError where it is none: a bug of ours."""
    from jsonschema import Draft202012Validator

    Draft202012Validator(packaged_schema("transcript")).validate(value)
    return json.dumps(value, indent=1, sort_keys=True, allow_nan=False).encode("ascii") + b"\n"


def _step(number: int, step: Step) -> dict[str, Any]:
    call = f"call-{number}"
    return {
        "step_id": number,
        "source": "agent",
        "message": "",
        "tool_calls": [{"tool_call_id": call, "function_name": "run", "arguments": {"words": list(step.words)}}],
        "observation": {"results": [{"source_call_id": call, "content": shown(step.seen)}]},
        "llm_call_count": 0,
    }


def _said(number: int, step: Said, model: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "step_id": number,
        "source": "agent",
        "message": cut(step.message),
        "model_name": model,
        "llm_call_count": 1,
    }
    if step.thought:
        made["reasoning_content"] = cut(step.thought)
    if step.uses:
        named = [(f"{number}-{n}-{use.id}"[:ID_LENGTH], use) for n, use in enumerate(step.uses)]
        made["tool_calls"] = [
            {"tool_call_id": name, "function_name": use.name or "unnamed", "arguments": _arguments(use.arguments)}
            for name, use in named
        ]
        seen = [{"source_call_id": name, "content": shown(use.seen)} for name, use in named if use.seen is not None]
        made["observation"] = {"results": seen}
    return made


def _arguments(found: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a tool; the text of what is long, or no JSON."""
    try:
        said = json.dumps(found, allow_nan=False)
    except (ValueError, RecursionError):
        return {"unreadable": True}
    return dict(found) if len(said) <= 2 * SHOWN_BYTES else {"cut": shown(said.encode())}


def _told(result: AgentResult) -> dict[str, Any]:
    """What the harness says that it used, and whether that is what the gateway counted."""
    if result.told is None:
        return {}
    told = {"prompt_tokens": result.told.tokens_in, "completion_tokens": result.told.tokens_out}
    agrees = (result.told.tokens_in, result.told.tokens_out) == (result.tokens_in, result.tokens_out)
    return {"told": told, "agrees": agrees}


def cut(text: str) -> str:
    """Text that is shown as what a program wrote is."""
    return shown(text.encode("utf-8", "surrogatepass"))


def shown(raw: bytes) -> str:
    """Bytes as text, both ends of what is long."""
    left_out = len(raw) - 2 * SHOWN_BYTES
    if left_out > 0:
        raw = raw[:SHOWN_BYTES] + b"\n[%d bytes left out]\n" % left_out + raw[-SHOWN_BYTES:]
    return raw.decode("utf-8", "backslashreplace")
