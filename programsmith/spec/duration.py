"""Durations as a spec writes them: a number of seconds, or digits with s, m or h."""

from __future__ import annotations

import re
from typing import Any

from programsmith.errors import InputError

UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds(value: Any, field: str) -> float:
    """The duration that `field` holds, in seconds. Raises InputError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", str(value))
    if not found:
        raise InputError(f"{field}: wanted digits with s, m or h, got {value!r}")
    return float(found[1]) * UNITS[found[2] or "s"]
