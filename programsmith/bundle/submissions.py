"""Expected-verdict submissions in a bundle: their archive, the verdict that each must get, what a grade lacks of it.

In: submissions with the word of every case that does not pass. Out: a tar that holds `submissions.yaml` and each file
once, below `files/` by its digest; it is sealed under the solution's key. The verdict (reward, fraction, families)
follows from the words, for the whole bundle and for any part of its cases.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from programsmith.bundle.seal import Sealed, seal, unseal
from programsmith.bundle.sides import Sides
from programsmith.errors import InfraError, boundary
from programsmith.payload.verifier.model import FileEntry, GradedCase
from programsmith.payload.verifier.unseal import Purpose, decode_seal
from programsmith.payload.verifier.words import BuildWord, CaseWord

SEALED = "solution/submissions.sealed"
NOTE = "solution/seal.json"
INDEX = "submissions.yaml"
SOUND, SICK = "sound", "sick"
NOWHERE = "/nowhere/at/all"
VERSION = 1
SIDES = ("held_out", "public")


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A submission whose verdict is known.

    `words` maps a case that does not pass to its word; `built` is the word of a build after which no case runs. `place`
    is SOUND, or SICK for one that must get no grade, since the run stage cannot start anything.
    """

    id: str
    kind: str
    files: tuple[FileEntry, ...]
    words: Mapping[str, str] = field(default_factory=dict)
    built: str = ""
    place: str = SOUND


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What a verdict is measured on: the cases of both sides, the reward's mode and threshold."""

    cases: Mapping[str, Sequence[GradedCase]]
    reward: str
    threshold: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a submission must get: by side (passed, total) of each family, and the word of each case that fails.

    `reward` is None where there must be no grade.
    """

    word: str
    reward: float | None
    fraction: float
    families: Mapping[str, Mapping[str, tuple[int, int]]]
    words: Mapping[str, Mapping[str, str]]


def scale_of(sides: Sides) -> Scale:
    """The scale of a bundle, or of a cut of one."""
    cases = {"held_out": sides.held_out, "public": sides.public}
    return Scale(cases=cases, reward=sides.plan.reward, threshold=sides.plan.threshold)


def verdict(one: Submission, scale: Scale) -> Verdict:
    """What the submission must get on these cases."""
    words = {side: _words(one, cases) for side, cases in scale.cases.items()}
    families = {side: _families(cases, words[side]) for side, cases in scale.cases.items()}
    shares = [passed / total for passed, total in families["held_out"].values()]
    failing = sorted(words["held_out"].items())
    fraction = sum(shares) / len(shares)
    rewards = {"binary": float(not failing), "fraction": fraction, "threshold": float(fraction >= scale.threshold)}
    return Verdict(
        word=one.built or (failing[0][1] if failing else CaseWord.AC.value),
        reward=None if one.place == SICK else 0.0 if one.built else rewards[scale.reward],
        fraction=fraction,
        families=families,
        words=words,
    )


def difference(wanted: Verdict, details: Mapping[str, Any] | None) -> str:
    """What a grade's details have otherwise than the verdict, empty where nothing. None: there was no grade."""
    if details is None or wanted.reward is None:
        return "" if details is None and wanted.reward is None else f"reward {_reward(details)}, wanted {wanted.reward}"
    pairs: dict[str, tuple[object, object]] = {
        "word": (details["word"], wanted.word),
        "reward": (details["reward"], wanted.reward),
        "fraction": (details["fraction"], wanted.fraction),
    }
    for side in SIDES:
        got = {case: word for case, word in details["cases"][side].items() if word != CaseWord.AC}
        pairs |= {f"{side} {i}": (got.get(i), wanted.words[side].get(i)) for i in sorted({*got, *wanted.words[side]})}
        seen = {name: (row["passed"], row["total"]) for name, row in details["families"][side].items()}
        pairs[f"families of {side}"] = (seen, dict(wanted.families[side]))
    return next((f"{what}: {got}, wanted {want}" for what, (got, want) in pairs.items() if got != want), "")


def sick(environment: bytes) -> bytes:
    """An environment file whose run stage cannot start anything: its view names a place that is not there."""
    value = json.loads(environment)
    value["run"]["view"]["mounts"].append([NOWHERE, NOWHERE])
    return json.dumps(value).encode("ascii")


def archive(submissions: Iterable[Submission], scale: Scale, pack: Callable[[Iterable[FileEntry]], bytes]) -> bytes:
    """The tar of all of them, the same for the same submissions. `pack` makes a tar."""
    files: dict[bytes, FileEntry] = {}
    rows = []
    for one in submissions:
        named = {}
        for entry in sorted(one.files):
            path = f"files/{hashlib.sha256(entry.content).hexdigest()[:32]}"
            files[path.encode()] = FileEntry(path.encode(), content=entry.content)
            named[entry.path.decode("ascii")] = {"file": path, "mode": f"{entry.mode:o}"}
        rows.append({**_row(one, verdict(one, scale)), "files": named})
    index = json.dumps({"version": VERSION, "submissions": rows}, indent=1, sort_keys=True).encode("ascii") + b"\n"
    return pack([FileEntry(INDEX.encode(), content=index), *files.values()])


def sealed_beside(solution: Sealed, clear: bytes, owner_secret: bytes | None) -> bytes:
    """The archive under the key of the solution, whose note beside it opens both."""
    facts = decode_seal(solution.seal)
    secret = facts.secret if facts.secret is not None else owner_secret
    return seal(clear, identity=facts.identity, purpose=Purpose.SOLUTION, owner_secret=secret).content


def archive_clear(bundle: Path, owner_secret: bytes | None = None) -> bytes:
    """The archive of a bundle in clear. Raises InfraError where it does not open."""
    with boundary(InfraError, f"{bundle}: no submissions", OSError):
        sealed = Sealed(content=(bundle / SEALED).read_bytes(), seal=(bundle / NOTE).read_bytes())
    return unseal(sealed, owner_secret)


def read_submissions(bundle: Path, owner_secret: bytes | None = None) -> tuple[Submission, ...]:
    """The submissions of a bundle. Raises InfraError where they do not open or are not whole."""
    with (
        boundary(InfraError, f"{bundle / SEALED}: not whole; run the block create again", ValueError, KeyError),
        tarfile.open(fileobj=io.BytesIO(archive_clear(bundle, owner_secret))) as tar,
    ):
        held = {m.name: body.read() for m in tar if m.isfile() and (body := tar.extractfile(m))}
        return tuple(_submission(row, held) for row in json.loads(held[INDEX])["submissions"])


def _words(one: Submission, cases: Iterable[GradedCase]) -> dict[str, str]:
    if one.built:
        return {c.case.id: CaseWord.NOT_RUN.value for c in cases}
    return {c.case.id: one.words[c.case.id] for c in cases if c.case.id in one.words}


def _families(cases: Iterable[GradedCase], failing: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for one in cases:
        passed, total = counts.get(one.family, (0, 0))
        counts[one.family] = (passed + (one.case.id not in failing), total + 1)
    return dict(sorted(counts.items()))


def _reward(details: Mapping[str, Any] | None) -> object:
    return None if details is None else details["reward"]


def _row(one: Submission, must: Verdict) -> dict[str, Any]:
    by_word: dict[str, list[str]] = {}
    for case, word in sorted(one.words.items()):
        by_word.setdefault(word, []).append(case)
    return {
        "id": one.id,
        "kind": one.kind,
        "place": one.place,
        "built": one.built,
        "words": by_word,
        "must": {
            "word": must.word,
            "reward": must.reward,
            "fraction": must.fraction,
            "families": {side: {n: list(row) for n, row in found.items()} for side, found in must.families.items()},
        },
    }


def _submission(row: Mapping[str, Any], held: Mapping[str, bytes]) -> Submission:
    return Submission(
        id=row["id"],
        kind=row["kind"],
        files=tuple(
            FileEntry(path.encode(), "file", int(named["mode"], 8), held[named["file"]])
            for path, named in row["files"].items()
        ),
        words={case: CaseWord(word).value for word, cases in row["words"].items() for case in cases},
        built=BuildWord(row["built"]).value if row["built"] else "",
        place=row["place"],
    )
