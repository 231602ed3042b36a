"""The agent's side holds no bytes of the oracle and no held-out answer.

Searched are its files as they are and through known encodings. A run of the oracle's files counts unless the
documentation has it or a public case shows that the oracle prints it; the public runner and the command that asks count
where they are not this installation's, for two programs may begin with the same imports. A held-out expected side
counts unless a public case or the documentation has the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from programsmith.bundle.render import reference, variables
from programsmith.bundle.tree import CASES, CHECK, DOCS, PUBLIC
from programsmith.bundle.zipapp import ask_pyz, check_pyz
from programsmith.checks.base import Row, Scene, first
from programsmith.payload.query.search import RunIndex
from programsmith.payload.verifier.model import GradedCase

SEPARATOR = b"\0\xff\0"


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:
    """Search for runs of `run_bytes` and answers of `answer_bytes`."""
    docs = [e.content for path, e in scene.agent.items() if path.startswith(DOCS)]
    shown = SEPARATOR.join([*docs, *(side for c in scene.sides.public for side in expected_sides(c))])
    oracle = sorted(_oracle_runs(scene, shown, parameters))
    answers = sorted(_answers(scene, shown, parameters["answer_bytes"]))
    found = [*(f"{path} holds bytes of the oracle" for path in oracle), *answers]
    return Row(
        passed=not found,
        reason=first(found, "no byte of the oracle, no held-out answer", "leak"),
        evidence={
            "files": len(scene.agent),
            "oracle_files": len(scene.oracle),
            "oracle_leaks": oracle,
            "answer_leaks": answers,
            **parameters,
        },
    )


def expected_sides(case: GradedCase) -> Iterator[bytes]:
    """What a case wants: its standard output, and each file that it leaves."""
    yield case.expected.stdout
    yield from (f.content for f in case.expected.files or () if f.kind == "file")


def input_sides(case: GradedCase) -> Iterator[bytes]:
    """What a case brings: standard input and files."""
    yield case.case.stdin
    yield from (f.content for f in case.case.files if f.kind == "file")


def _oracle_runs(scene: Scene, shown: bytes, parameters: Mapping[str, Any]) -> set[str]:
    size = parameters["run_bytes"]
    ours = {CHECK: check_pyz(), reference(scene.manifest.tool): ask_pyz(variables(scene.sides.public))}
    index = RunIndex((e.content for e in scene.oracle if e.kind == "file"), size, parameters["distinct_bytes"])
    return {
        path
        for path in scene.agent
        if not path.startswith(DOCS) and not (path in ours and scene.content(path) == ours[path])
        for reading in scene.texts(path)
        for found in index.runs(reading)
        if not _is_shown(found.content, shown, size)
    }


def _is_shown(run_: bytes, shown: bytes, size: int) -> bool:
    """Whether every window of the run stands in what is shown anyway."""
    return run_ in shown or all(run_[at : at + size] in shown for at in range(len(run_) - size + 1))


def _answers(scene: Scene, shown: bytes, size: int) -> set[str]:
    secret = set(_secrets(scene.sides.held_out, size))
    unseen = {answer: case for answer, case in secret if answer not in shown}
    given = {side for c in scene.sides.public for side in input_sides(c)}
    found = {f"a public case brings the answer of {unseen[answer]} as input" for answer in unseen.keys() & given}
    own = (DOCS, *(f"{CASES}{case}/" for case in scene.manifest.public))
    for path in scene.agent:
        if path.startswith(own) or path == PUBLIC:
            continue
        texts = scene.texts(path)
        found |= {f"{path} holds the answer of {case}" for answer, case in unseen.items() if _in_any(answer, texts)}
    return found


def _secrets(cases: Iterable[GradedCase], size: int) -> Iterator[tuple[bytes, str]]:
    """Answers that are long enough and that their case does not bring along itself."""
    for case in cases:
        own = set(input_sides(case))
        yield from ((side, case.case.id) for side in expected_sides(case) if len(side) >= size and side not in own)


def _in_any(answer: bytes, texts: Iterable[bytes]) -> bool:
    return any(answer in text for text in texts)
