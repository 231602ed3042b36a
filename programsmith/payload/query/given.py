"""What whoever answers queries is given: the original's tree and how it starts, the limits of a case, the meter.

In: that, or its bytes. Out: its bytes, the same for the same; the original laid down and ready to be asked. The trial's
own host and the container beside an agent's are given the same and answer the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from programsmith.payload.query.desk import Meter
from programsmith.payload.query.original import Original, Secret, guarded
from programsmith.payload.verifier.compare import choice
from programsmith.payload.verifier.environment import ORACLE, case_env
from programsmith.payload.verifier.launcher import Launcher, Mount, Request
from programsmith.payload.verifier.model import (
    FileEntry,
    GradedCase,
    Limits,
    b64,
    canonical,
    decode_file,
    decode_graded,
    encode_file,
    encode_graded,
    unb64,
)
from programsmith.payload.verifier.tree import write_tree

RUN_BYTES, DISTINCT_BYTES = 64, 6
"""A run of the original's own text that no answer shows, as the check of a bundle counts them."""
_NOT_WRITTEN = 0o555
_KNOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The original: `program` is its absolute path below /opt/oracle, `tool` the name that it is started by.

    `suffixes` mark files that it reads to run. `shown` are texts that an agent has anyway, `variables` names that a
    query may set. `known` are cases that an agent has anyway: what answers them otherwise is not the original.
    """

    tree: tuple[FileEntry, ...]
    program: str
    tool: str
    suffixes: tuple[str, ...]
    limits: Limits
    meter: Meter
    shown: tuple[bytes, ...]
    variables: tuple[bytes, ...] = ()
    known: tuple[GradedCase, ...] = ()


def encode_given(given: Given) -> bytes:
    """The one byte form."""
    return canonical(
        {
            "tree": [encode_file(entry) for entry in sorted(given.tree)],
            "program": given.program,
            "tool": given.tool,
            "suffixes": list(given.suffixes),
            "limits": asdict(given.limits),
            "meter": asdict(given.meter),
            "shown": [b64(text) for text in given.shown],
            "variables": [b64(name) for name in given.variables],
            "known": [encode_graded(case) for case in given.known],
        }
    )


def decode_given(raw: bytes) -> Given:
    """Back from bytes of ours. Raises ValueError, KeyError, TypeError on others."""
    value: Mapping[str, Any] = json.loads(raw)
    return Given(
        tree=tuple(map(decode_file, value["tree"])),
        program=value["program"],
        tool=value["tool"],
        suffixes=tuple(value["suffixes"]),
        limits=Limits(**value["limits"]),
        meter=Meter(**value["meter"]),
        shown=tuple(map(unb64, value["shown"])),
        variables=tuple(map(unb64, value["variables"])),
        known=tuple(map(decode_graded, value["known"])),
    )


def telling(public: Iterable[GradedCase]) -> tuple[GradedCase, ...]:
    """Of public cases the few smallest that print something and are compared byte by byte."""
    exact = (one for one in public if choice(one.compare)["stdout"] == "bytes" and one.expected.stdout)
    return tuple(sorted(exact, key=lambda one: (len(canonical(encode_graded(one))), one.case.id))[:_KNOWN])


def laid(given: Given, folder: str, launcher: Launcher) -> Original:
    """The original in `folder`, which is new or empty, behind a launcher of its own. Raises OSError."""
    tree, searched = guarded(given.tree, given.suffixes)
    write_tree(folder, tree)
    for entry in tree:
        if entry.kind == "file":
            os.chmod(os.path.join(os.fsencode(folder), entry.path), entry.mode & _NOT_WRITTEN)
    base = Request(
        program=given.program,
        argv=(given.tool.encode(),),
        env=case_env(),
        limits=given.limits,
        mounts=(Mount(source=folder, target=ORACLE),),
    )
    secret = Secret(files=searched, shown=given.shown, size=RUN_BYTES, distinct=DISTINCT_BYTES)
    return Original(launcher, base, secret, given.variables)
