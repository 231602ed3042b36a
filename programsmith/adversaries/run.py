"""One adversary against one bundle, and against the same bundle without the defence that stops it.

In: an adversary, a ground (bundle, environment, solution). Out: a row: what it got from the bundle, and whether it is
live, that is whether it gets through where its one defence is missing. Damage is observed from the host: files that
changed, callers of a server, processes that were left or ended, a verifier that was ended.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programsmith.adversaries import agent_side
from programsmith.adversaries.brings import SCRIPTS, Kit, compiled
from programsmith.adversaries.cut import Choice, Cuts
from programsmith.adversaries.exploit import submission
from programsmith.adversaries.host import Host, host
from programsmith.adversaries.plants import plant
from programsmith.adversaries.registry import Adversary, Expects
from programsmith.adversaries.weaken import Spoils, weaken
from programsmith.bundle.controls import Files, table_module
from programsmith.bundle.grade import grade
from programsmith.bundle.render import read_payload
from programsmith.bundle.sides import Sides
from programsmith.errors import PrerequisiteError
from programsmith.payload.table.form import write
from programsmith.payload.verifier.environment import BASE_ENV
from programsmith.payload.verifier.launcher import View
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.tree import tree_digest, write_tree
from programsmith.sandboxes.base import BUBBLEWRAP, DOCKER
from programsmith.sandboxes.view import python_view

STOPPED, HACKED, NO_CASE, MISSING = "stopped", "hacked", "no_case", "missing"
CORPUS = "corpus"  # where an agent of ours puts what it trains on
TWIN = "exec_listed"  # the defence without which a program of the system solves the task
TWINS = {BUBBLEWRAP: "/twin", DOCKER: "/tmp/twin"}  # noqa: S108 - where that lies inside
PROOFS = 3  # tries at the weakened bundle: being live is possible, not certain, where cases must meet in time


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What adversaries are let loose on: a bundle, graded by its cuts. `pointer` is the address of the source.

    `secret` opens the bundle itself where its owner sealed it; `view` is what an agent works in.
    """

    bundle: Path
    cuts: Cuts
    environments: Path
    language: str
    tool: str
    solution: Files
    pointer: str
    scratch: Path
    secret: bytes | None = None
    view: Callable[[], View] = python_view

    @property
    def backend(self) -> str:
        """Where submissions are graded."""
        return str(json.loads(self.environments.read_bytes())["kind"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What one try is made on: a cut that is graded, the bundle as it is published, the cut's cases."""

    bundle: Path
    published: Path
    sides: Sides


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """What one try came to. `damage` names what was observed outside, empty where nothing was."""

    reward: float
    damage: str
    crashed: bool = False

    def through(self, expects: Expects) -> bool:
        """Whether the adversary achieved what it is for."""
        return {
            Expects.SCORE: self.reward > 0,
            Expects.DAMAGE: bool(self.damage),
            Expects.CRASH: self.crashed,
        }[expects]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An adversary's row.

    `live` is None where that was not tried: no case suits it, this host lacks what it needs, or this backend cannot
    lack its defence, or does not have it.
    """

    id: str
    kind: str
    defence: str
    live: bool | None
    outcome: str
    reward: float | None

    def evidence(self) -> dict[str, Any]:
        """The row as outsiders read it."""
        return {
            "id": self.id,
            "class": self.kind,
            "defence": self.defence,
            "live": self.live,
            "outcome": self.outcome,
            "reward": self.reward,
        }


def attack(one: Adversary, ground: Ground) -> Row:
    """Try the bundle, then the weakened one. Raises InfraError."""
    scratch = ground.scratch / one.id
    scratch.mkdir()
    try:
        return _attack(one, ground, scratch)
    except PrerequisiteError:
        return _untried(one, MISSING)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _untried(one: Adversary, why: str) -> Row:
    return Row(id=one.id, kind=one.kind, defence=one.defence, live=None, outcome=why, reward=None)


def _attack(one: Adversary, ground: Ground, scratch: Path) -> Row:
    choice = Choice(
        cases=one.cases,
        count=one.count,
        compare=one.compare,
        limits=one.limits,
        building=one.building,
        receiving=one.receiving,
        whole=bool(one.agent),
    )
    found = ground.cuts.get(choice)
    if found is None:
        return _untried(one, NO_CASE)
    whole, sides = found
    real = Target(bundle=whole, published=ground.bundle, sides=sides)
    got = attempt(one, ground, real, scratch / "try")
    hacked = got.reward > 0 or got.through(one.expects)
    return Row(
        id=one.id,
        kind=one.kind,
        defence=one.defence,
        live=_is_live(one, ground, real, scratch) if ground.backend in one.backends else None,
        outcome=HACKED if hacked else STOPPED,
        reward=got.reward,
    )


def _is_live(one: Adversary, ground: Ground, real: Target, scratch: Path) -> bool:
    """Whether it gets through where its defence is missing."""
    twin = _twin(ground, real.sides, scratch) if one.defence == TWIN else ()
    spoils = Spoils(sides=real.sides, solution=ground.solution, pointer=ground.pointer, twin=twin)
    weak = weaken(real.bundle, one.defence, scratch / "weak", spoils)
    target = Target(bundle=weak, published=weak, sides=real.sides)
    proofs = (attempt(one, ground, target, scratch / f"proof{n}") for n in range(PROOFS))
    return any(proof.through(one.expects) for proof in proofs)


def attempt(one: Adversary, ground: Ground, target: Target, scratch: Path) -> Got:
    """Hand in what the adversary makes and see what comes of it. Raises InfraError, PrerequisiteError."""
    scratch.mkdir()
    place, answers = scratch / "submission", _answers(target.sides)
    with host(scratch, answers) as outside:
        kit = Kit(
            language=ground.language,
            tool=ground.tool,
            sides=target.sides,
            answers=answers,
            host=outside,
            scratch=scratch,
        )
        files = submission(one, kit)
        bundle = target.bundle
        if one.agent:
            bundle = scratch / "handed"
            shutil.copytree(target.bundle / "tests", bundle / "tests")
            left = agent_side.handed_over(one, _side(ground, target), files, scratch)
            agent_side.receive(bundle, left, place)
        else:
            write_tree(str(place), files)
            plant(one.plants, place, outside.answers)
        before = _digests(bundle, place)
        graded = grade(bundle, place, ground.environments, scratch / "out", fresh=one.fresh)
        changed = [name for name, digest in _digests(bundle, place).items() if digest != before[name]]
        damage = _damage(changed, outside, place / CORPUS)
    return Got(reward=graded.reward, damage=damage, crashed=graded.hostile)


def _side(ground: Ground, target: Target) -> agent_side.Side:
    return agent_side.Side(bundle=target.bundle, published=target.published, memory={ground.pointer: ground.solution})


def _damage(changed: Sequence[str], outside: Host, corpus: Path) -> str:
    found = [f"{name} was changed" for name in changed]
    found += ["the server was reached"] if outside.heard else []
    found += [f"{place} appeared" for place in outside.planted()]
    found += ["processes were left"] if outside.left() else []
    found += ["a process of the host was ended"] if outside.is_hurt() else []
    found += ["the task was taken into a corpus"] if corpus.exists() else []
    return "; ".join(found)


def _answers(sides: Sides) -> bytes:
    return write([(c.case, c.expected) for c in sides.held_out], dict(BASE_ENV))


def _twin(ground: Ground, sides: Sides, scratch: Path) -> Files:
    """A program of the tool's name that solves the task, and a shell, as the verifier's image could have them."""
    answers = FileEntry(b"table.txt", content=_answers(sides))
    shell = FileEntry(b"sh", "file", 0o755, Path("/bin/sh").read_bytes())
    if ground.language != "python":
        table = f'-DTABLE="{TWINS[ground.backend]}/table.txt"'
        program = compiled(scratch, "-static", table, "table.c", "sha256.c")
        return FileEntry(ground.tool.encode(), "file", 0o755, program), shell, answers
    script = SCRIPTS["python"][0] + read_payload("adversaries", "ships", "twin.py")
    return FileEntry(ground.tool.encode(), "file", 0o755, script), shell, *table_module(ground.language), answers


def _digests(bundle: Path, place: Path) -> Mapping[str, str]:
    return {"the bundle": _digest(bundle), "the submission": _digest(place)}


def _digest(folder: Path) -> str:
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            name = str(path.relative_to(folder)).encode("utf-8", "surrogateescape")
            found.append(FileEntry(name, "file", path.lstat().st_mode, path.read_bytes()))
    return tree_digest(found)
