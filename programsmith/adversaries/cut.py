"""A bundle with a few of its held-out cases: the same agent's side, verifier and policy, cheap to grade.

In: a bundle, which cases, limits to replace. Out: a bundle in a new folder, sealed inline and rewarded all or nothing:
a submission that fails here fails the whole. Cases are taken by id, so that the choice is the same every time.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from programsmith.bundle.seal import seal
from programsmith.bundle.sides import Sides, read_sides
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.plan import Policy, encode_cases, encode_plan, encode_policy
from programsmith.payload.verifier.unseal import Purpose, decode_seal

SLOTS = 2
MOST = 8  # cases of a live proof
GRADED = frozenset({"tests", "task.toml"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which cases a cut keeps, how their output is compared, and which limits it replaces.

    With `ids` it keeps those and no others. Limits are those of a case, of the build, of what is received. A cut that
    is not `whole` has no agent's side.
    """

    cases: str = "any"
    count: int = 2
    ids: tuple[str, ...] = ()
    compare: str = ""
    limits: Mapping[str, Any] = field(default_factory=dict)
    building: Mapping[str, Any] = field(default_factory=dict)
    receiving: Mapping[str, Any] = field(default_factory=dict)
    whole: bool = True


def _any(_case: GradedCase) -> bool:
    return True


def _plain(case: GradedCase) -> bool:
    wanted = case.expected
    return wanted.exit_code == 0 and bool(wanted.stdout) and wanted.stderr_empty and wanted.files is None


def _files(case: GradedCase) -> bool:
    return any(e.kind == "file" and e.mode & 0o200 for e in case.case.files)


KINDS: Mapping[str, Callable[[GradedCase], bool]] = {"any": _any, "plain": _plain, "files": _files}
GOLDENS: Mapping[str, bytes] = {"json_canonical": b"[]\n"}
"""Output that a comparator takes apart, in place of that of a case that is compared by it."""


def cut(sides: Sides, bundle: Path, choice: Choice, out: Path) -> Sides | None:
    """Make the cut of `bundle`, whose sides are `sides`, in `out`; the cut's sides, None where no case suits."""
    asked = choice.ids or sides.plan.held_out
    suited = [c for c in sides.held_out if KINDS[choice.cases](c) and c.case.id in asked]
    kept = tuple(_compared(c, choice.compare) for c in suited[: min(choice.count, MOST)])
    if not kept:
        return None
    limited = dataclasses.replace(sides, policy=_limited(sides.policy, choice), public=(), held_out=kept)
    return relaid(limited, bundle, out, slots=SLOTS, whole=choice.whole)


def relaid(sides: Sides, bundle: Path, out: Path, *, slots: int = 0, whole: bool = False) -> Sides:
    """Write `bundle` to `out` with these cases, sealed inline and rewarded all or nothing; its sides.

    `slots` are those of its own plan where 0; without `whole` it has no agent's side.
    """
    public, held_out = (tuple(c.case.id for c in side) for side in (sides.public, sides.held_out))
    longer = max(1.0, len(public + held_out) / max(1, len(sides.plan.public + sides.plan.held_out)))
    plan = dataclasses.replace(
        sides.plan,
        public=public,
        held_out=held_out,
        reward="binary",
        slots=slots or sides.plan.slots,
        timeout_seconds=sides.plan.timeout_seconds * longer,
    )
    shutil.copytree(bundle, out, ignore=None if whole else _only_graded(bundle))
    tests = out / "tests"
    facts = decode_seal((tests / "seal.json").read_bytes())
    sealed = seal(encode_cases(sides.held_out), identity=facts.identity, purpose=Purpose.HELD_OUT)
    made = {
        "policy.json": encode_policy(sides.policy),
        "plan.json": encode_plan(plan),
        "public.jsonl": encode_cases(sides.public),
        "held_out.sealed": sealed.content,
        "seal.json": sealed.seal,
    }
    for name, content in made.items():
        (tests / name).write_bytes(content)
    return dataclasses.replace(sides, plan=plan)


def _limited(policy: Policy, choice: Choice) -> Policy:
    return dataclasses.replace(
        policy,
        case=dataclasses.replace(policy.case, **choice.limits),
        build=dataclasses.replace(policy.build, **choice.building),
        submission=dataclasses.replace(policy.submission, **choice.receiving),
    )


def _compared(graded: GradedCase, kind: str) -> GradedCase:
    if not kind:
        return graded
    expected = dataclasses.replace(graded.expected, stdout=GOLDENS[kind])
    return dataclasses.replace(graded, expected=expected, compare=(("stdout", kind),))


def _only_graded(bundle: Path) -> Callable[[str, list[str]], set[str]]:
    """What a copy leaves out that nobody but an agent looks at."""
    return lambda folder, names: set(names) - GRADED if Path(folder) == bundle else set()


class Cuts:
    """The cuts of one bundle, each made once however many threads ask."""

    def __init__(self, bundle: Path, folder: Path, owner_secret: bytes | None) -> None:
        self._bundle, self._folder = bundle, folder
        self._sides = read_sides(bundle, owner_secret)
        self._made: dict[str, tuple[Path, Sides] | None] = {}
        self._lock = threading.Lock()

    def get(self, choice: Choice) -> tuple[Path, Sides] | None:
        """A cut's folder, which nobody may change, and its sides; None where no case suits. Raises InfraError."""
        key = json.dumps(dataclasses.asdict(choice), sort_keys=True)
        with self._lock:
            if key not in self._made:
                place = self._folder / f"cut{len(self._made)}"
                sides = cut(self._sides, self._bundle, choice, place)
                self._made[key] = (place, sides) if sides else None
            return self._made[key]
