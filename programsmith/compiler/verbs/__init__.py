"""The verbs beside `build`, one file each with `answer(asked, names, compiler)`; `doits` holds doit's own.

READING says of each verb that only looks what it answers, and which words it takes besides `spec=`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

READING: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "plan": ("what a build would run and why, how many trials it would buy, at most how many dollars", ""),
        "status": ("where each spec stands, what is stale, which build runs, what is reserved", ""),
        "explain": ("why each task last ran or would run; of one task also its evidence", "a task: tally:r0:calibrate"),
        "changed": ("the specs that changes since a git commit affect, and by what", "base=COMMIT"),
    }
)
