"""What a case can do, told by the verifier's own words: the program `tries` passes exactly where its try succeeds.

In: a scene, names of tries. Out: a word for each; a row. One case of each submission tries nothing and must pass, or
nothing is known: where the host was too slow for it, that is an InfraError.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from programsmith.adversaries.cut import Choice
from programsmith.bundle.controls import Files, table_module
from programsmith.checks.base import Row, Scene, first
from programsmith.checks.stages import distinct, graded, probe
from programsmith.errors import InfraError
from programsmith.payload.table.form import write
from programsmith.payload.verifier.environment import BASE_ENV
from programsmith.payload.verifier.model import Expected, FileEntry, GradedCase
from programsmith.payload.verifier.words import CaseWord

NOTHING, STREAM = "nothing", "stream"
FAILED = 1  # exit code of a try that does not succeed
LARGEST = 1 << 20  # bytes of a case
SLOW = (CaseWord.TLE_WALL, CaseWord.TLE_CPU)
NO_LIMITS: Mapping[str, float] = MappingProxyType({})
TURNS = 2  # times that a control may be too slow


def attempts(scene: Scene, names: Sequence[str], limits: Mapping[str, float] = NO_LIMITS) -> dict[str, str]:
    """The word of each try, and the worst of the controls under `nothing`; empty where no case tells.

    Raises InfraError where the host is too slow for a control.
    """
    cases = _cases(scene)
    words: dict[str, str] = {NOTHING: SLOW[0]} if cases else {}
    for turn in range(TURNS):
        if words.get(NOTHING) in SLOW:
            words = _graded(at(scene, f"turn{turn}"), cases, list(_rounds(names, len(cases))), limits)
    if words.get(NOTHING) in SLOW:
        raise InfraError(f"a case that only answers ended with {words[NOTHING]}: this host is too busy; go on again")
    return words


def alone(scene: Scene, name: str, limits: Mapping[str, float]) -> dict[str, str]:
    """The word of one try by itself: for a limit that a control might overrun too."""
    cases = _cases(scene)[:1]
    return _graded(at(scene, name), cases, [(name,)], limits) if cases else {}


def judged(words: Mapping[str, str], meanings: Mapping[str, str], good: str, bad: str) -> Row:
    """A row that is red where any try succeeds, or where nothing is known."""
    found = [
        f"tests/verify.pyz: wanted no case that {means}, got one"
        for name, means in meanings.items()
        if words.get(name) == CaseWord.AC
    ]
    if words.get(NOTHING) != CaseWord.AC:
        got = words.get(NOTHING, f"no held-out case of at most {LARGEST} bytes that wants more than exit code {FAILED}")
        found.append(f"tests/verify.pyz: wanted AC for a case that tries nothing, got {got}")
    return Row(passed=not found, reason=first(found, good, bad), evidence={"faults": found, "words": dict(words)})


def at(scene: Scene, name: str) -> Scene:
    """The same scene with a scratch folder of its own."""
    place = scene.scratch / name
    place.mkdir()
    return dataclasses.replace(scene, scratch=place)


def _cases(scene: Scene) -> tuple[GradedCase, ...]:
    """Cases that a try which fails does not pass and that fit into small limits; the quickest first."""
    told = [c for c in scene.sides.held_out if _tells(c.expected) and _size(c) <= LARGEST]
    return distinct(sorted(told, key=lambda c: (c.cpu_seconds, c.case.id)))


def _tells(wanted: Expected) -> bool:
    """Whether ending with FAILED, without a word, is wrong."""
    return wanted.exit_code is not None and (wanted.exit_code != FAILED or bool(wanted.stdout or wanted.files))


def _size(case: GradedCase) -> int:
    """Bytes that come in and go out."""
    files = (*case.case.files, *(case.expected.files or ()))
    return len(case.case.stdin) + len(case.expected.stdout) + sum(len(f.content) for f in files)


def _graded(
    scene: Scene, cases: Sequence[GradedCase], rounds: Sequence[tuple[str, ...]], limits: Mapping[str, float]
) -> dict[str, str]:
    submissions = {f"round{n}": trying(scene, cases, r) for n, r in enumerate(rounds)}
    got = graded(scene, submissions, cases, Choice(limits=limits))
    words: dict[str, str] = {}
    for number, chosen in enumerate(rounds):
        said = got[f"round{number}"].words
        for name, case in zip(chosen, cases, strict=True):
            if name != NOTHING or words.get(NOTHING, CaseWord.AC) == CaseWord.AC:
                words[name] = said.get(case.case.id, str(CaseWord.NOT_RUN))
    return words


def _rounds(names: Sequence[str], room: int) -> Iterator[tuple[str, ...]]:
    """Names of tries, as many as there are cases; what is left over tries nothing, and so does one case at least."""
    size = max(1, room - 1)
    rounds = [names[at : at + size] for at in range(0, len(names), size)]
    for chosen in [*rounds, ()] if room == 1 else rounds:
        yield (*chosen, *[NOTHING] * (room - len(chosen)))


def trying(scene: Scene, cases: Sequence[GradedCase], chosen: Sequence[str]) -> Files:
    """A submission that makes the try of `chosen` at each of the cases."""
    answers = write([(c.case, c.expected) for c in cases], dict(BASE_ENV))
    return (
        *probe(scene, "tries"),
        *table_module(scene.manifest.target_language),
        FileEntry(b"table.txt", content=answers),
        FileEntry(b"tries.txt", content="\n".join(chosen).encode() + b"\n"),
    )
