"""What an agent did, in ATIF 1.8: the instruction as the user's step, then one step per action with what it saw.

In: who tried, steps, usage. Out: the JSON of a trajectory that keeps to rules/schema/transcript.json. What programs
wrote is shown as text, other bytes escaped, and cut in the middle where it is long: a transcript is read by people and
judges, and nothing is graded by it.
"""

from __future__ import annotations

import json
from typing import Any

from programsmith.agents.base import AgentResult, Step
from programsmith.records.trial import Pair
from programsmith.rulebook.load import packaged_schema

VERSION = "ATIF-v1.8"
SHOWN_BYTES = 32 << 10  # of each end of what an action wrote


def trajectory(pair: Pair, version: str, instruction: str, result: AgentResult) -> dict[str, Any]:
    """The trajectory of one attempt."""
    steps = [
        {"step_id": 1, "source": "user", "message": instruction},
        *(_step(number, step) for number, step in enumerate(result.steps, 2)),
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
        "extra": {"stop": result.stop.value, "calls": result.calls},
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


def shown(raw: bytes) -> str:
    """Bytes as text, both ends of what is long."""
    left_out = len(raw) - 2 * SHOWN_BYTES
    if left_out > 0:
        raw = raw[:SHOWN_BYTES] + b"\n[%d bytes left out]\n" % left_out + raw[-SHOWN_BYTES:]
    return raw.decode("utf-8", "backslashreplace")
