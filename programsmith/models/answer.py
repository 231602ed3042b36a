"""What holds of an answer: it is one JSON value of the schema, and the block's own checks find no fault with it.

In: text, a schema, a check. Out: the value, or the fault in one line. The text is strict JSON, in one fence at most.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from programsmith.gateway.strict import once

Check = Callable[[Any], str]
"""The fault of a value that keeps to the schema, empty where there is none."""
FENCE = re.compile(r"\A\s*```[a-z]*\n(.*?)\n```\s*\Z", re.DOTALL)
MOST_BYTES = 4 << 20
SAID = 400  # characters of a fault


def answer(text: str, schema: Mapping[str, Any], check: Check) -> tuple[Any, str]:
    """The value and an empty fault, or None and the fault."""
    from jsonschema import Draft202012Validator  # heavy
    from jsonschema.exceptions import best_match

    value, fault = _json(text)
    if fault:
        return None, fault
    wrong = best_match(Draft202012Validator(schema).iter_errors(value))
    if wrong is not None:
        return None, f"{wrong.json_path}: {wrong.message}"[:SAID]
    fault = check(value)
    return (None, fault[:SAID]) if fault else (value, "")


def _json(text: str) -> tuple[Any, str]:
    if len(text) > MOST_BYTES:
        return None, f"the answer has more than {MOST_BYTES} characters"
    fenced = FENCE.match(text)
    try:
        return json.loads(fenced.group(1) if fenced else text, object_pairs_hook=once, parse_constant=_never), ""
    except (ValueError, RecursionError) as fault:
        return None, f"the answer is not one JSON value: {fault}"[:SAID]


def _never(word: str) -> Any:
    raise ValueError(f"{word} is no number of JSON")
