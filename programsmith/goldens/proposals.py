"""Inputs that a model proposes, as cases without any expectation: they are captured and gated like mined ones.

In: an answer of rules/schema/answer_goldens.json, which has no place for an output. Out: cases with the provenance
`model`, and a count of what was refused by word: what is no plain path, names what lies outside of the case's folder,
or holds what no argument can.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from programsmith.goldens.expand import Expansion
from programsmith.payload.verifier.model import Case, FileEntry, canonical
from programsmith.payload.verifier.wire import check_paths
from programsmith.records.golden import Golden, MinedCase, Provenance

MODEL = "model"  # the miner's name of such a case
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,60}(/[A-Za-z0-9_][A-Za-z0-9._-]{0,60}){0,3}")
OUTSIDE = re.compile(r"(?:^|[=:,@]|^-\w+)(?:/|~)|(?:^|[/=:,@]|^-\w+)\.\.(?:/|$)")
"""What in a word names a place outside of the case's folder."""
SHOWN_INPUTS = 60
SHOWN_CHARACTERS = 300


def proposals(told: Mapping[str, Any], model: str, licence: str, known: Sequence[Case]) -> Expansion:
    """The cases of an answer; those that are `known` are none."""
    made, seen = Expansion(), {case.id for case in known}
    for number, row in enumerate(told["cases"], 1):
        case = _case(row)
        if isinstance(case, str):
            made.tried[case] += 1
        elif case.id in seen:
            made.tried["known"] += 1
        else:
            seen.add(case.id)
            made.cases.append(_mined(case, f"{number} of {model}", licence))
    return made


def _case(row: Mapping[str, Any]) -> Case | str:
    """The case of a row, or the word for why it is none."""
    files = row.get("files", [])
    if any(OUTSIDE.search(word) for word in row["argv"]):
        return "outside"
    if not all(NAME.fullmatch(file["path"]) for file in files):
        return "path"
    try:
        argv = tuple(word.encode() for word in row["argv"])
        entries = tuple(sorted(FileEntry(f["path"].encode(), content=f["content"].encode()) for f in files))
        stdin = row.get("stdin", "").encode()
        check_paths(entries)
    except ValueError:  # text that is no Unicode, a file below a file
        return "path" if files else "text"
    if any(b"\0" in word for word in argv) or len({e.path for e in entries}) != len(entries):
        return "text"
    return Case(argv=argv, stdin=stdin, files=entries)


def _mined(case: Case, made: str, licence: str) -> MinedCase:
    fixture = hashlib.sha256(canonical([[e.path.decode(), e.content.decode()] for e in case.files])).hexdigest()
    return MinedCase(
        case=case,
        provenance=Provenance(
            miner=MODEL, path=b"", line=0, blob=hashlib.sha256(case.id.encode()).hexdigest(), licence=licence, made=made
        ),
        group=f"{MODEL} {fixture if case.files else case.id}",
    )


def inputs(goldens: Sequence[Golden], public: Sequence[str]) -> str:
    """Inputs that there are, of the public side alone, and how many of each family."""
    shown = {case: g for g in goldens for case in (g.id,) if case in set(public)}
    rows = [
        {
            "argv": [word.decode("utf-8", "backslashreplace") for word in g.case.argv],
            "stdin": g.case.stdin[:SHOWN_CHARACTERS].decode("utf-8", "backslashreplace"),
            "files": [e.path.decode("utf-8", "backslashreplace") for e in g.case.files],
        }
        for g in list(shown.values())[:SHOWN_INPUTS]
    ]
    return json.dumps({"families": Counter(g.family for g in goldens), "inputs": rows}, indent=1)
