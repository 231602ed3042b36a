"""trial: one agent tries the task once, in a sandbox that shows the agent's side of the bundle and nothing else.

In: bundle, manifest, which trial, the spec's budget; for a ceiling trial the locked source too. Out: the submission as
it lay there when every process had ended, whatever the stop cause, and the transcript; the trial is the evidence.
A fault that the agent cannot have caused (no room on the disk, a sandbox that fails, a missing program) leaves no
trial.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programsmith.agents import place
from programsmith.agents.base import HOME, AgentResult, AgentTask, Made
from programsmith.agents.keys import Attempt, Surface, trial_key
from programsmith.agents.registry import agent
from programsmith.agents.transcript import encode, trajectory
from programsmith.bundle import images
from programsmith.bundle.manifest import Manifest
from programsmith.bundle.solution import solution
from programsmith.bundle.tree import APP, NO_TASK, read_bundle
from programsmith.errors import InfraError
from programsmith.job import Job
from programsmith.payload.verifier.launcher import View
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.payload.verifier.plan import ReceiptRule, decode_policy
from programsmith.records import codec
from programsmith.records.lock import Lock
from programsmith.records.outcome import Outcome, Word
from programsmith.records.trial import Assignment, Stop, Trial
from programsmith.sandboxes import docker_seccomp, open_sandbox
from programsmith.sandboxes.base import BUBBLEWRAP, DOCKER, Image
from programsmith.sandboxes.shared import shared_root
from programsmith.sources.tree import read_tar, tree_digest, write_tar
from programsmith.spec.duration import seconds
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.model import Toolchain
from programsmith.toolchains.views import agent_view

NUMBER = 3
"""Raised when an attempt comes to mean something else by a change of code: then every trial is bought anew."""
INSTRUCTION = "instruction.md"
OWN_FIELDS = (
    "agent",
    "model",
    "script",
    "folder",
    "trials",
    "usd",
)  # of an entry: what the key names otherwise, or not at all
ROOM = 256 << 20  # bytes that stay free beside what a trial may write


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One trial's ingredients."""

    job: Job
    which: Assignment
    made: Made
    manifest: Manifest
    target: Toolchain
    limits: Limits
    places: Mapping[str, Any]
    suite: str
    profile: str

    @property
    def bundle(self) -> Path:
        """The bundle's folder."""
        return self.made.bundle


def run(job: Job) -> Outcome:
    """Run the trial and keep what it left. Raises InfraError, PrerequisiteError, InputError: no trial then."""
    scene = _scene(job)
    who = agent(scene.which.agent)
    version = who.version(scene.made)
    begun = time.monotonic()
    result, found = _attempt(scene)
    spent = round(time.monotonic() - begun, 3)
    trial = Trial(
        key=key(job),
        pair=scene.which.pair,
        index=scene.which.index,
        ceiling=scene.which.ceiling,
        stop=result.stop,
        artifact=tree_digest(found.entries),
        calls=result.calls,
        tokens_in=result.tokens_in,
        tokens_out=result.tokens_out,
        usd=result.usd,
        seconds=spent,
        left_out=found.left_out,
    )
    write_tar(job.outputs["t/artifact.tar"], found.entries)
    told = trajectory(scene.which.pair, version, _instruction(scene), result)
    job.outputs["t/transcript.json"].write_bytes(encode(told))
    reason = f"{result.stop.value} with {len(found.entries)} entries in the submission"
    return Outcome(word=Word.DONE, reason=reason, evidence=codec.encode(trial))


def bound(job: Job) -> float:
    """Dollars that the trial takes at most: the price that its entry states."""
    return float(job.trial.entry.get("usd") or 0.0) if job.trial else 0.0


def key(job: Job) -> str:
    """The trial's key: equal for an attempt that need not be made again, on whatever machine. Raises InputError."""
    scene = _scene(job)
    entry, which = scene.which.entry, scene.which
    ours = {
        path: digest for path, digest in scene.manifest.files.items() if path.startswith(APP) and path not in NO_TASK
    }
    surface = Surface(
        instruction=scene.manifest.files[INSTRUCTION],
        app=ours,
        toolchains=scene.places["toolchains"],
        limits=scene.limits,
    )
    attempt = Attempt(
        agent=which.agent,
        version=agent(which.agent).version(scene.made),
        model=which.model,
        parameters={name: value for name, value in entry.items() if name not in OWN_FIELDS and value is not None},
        oracle_access=_access(scene),
        backend=scene.places["kind"],
        index=which.index,
        generation=job.spec("generation", int),
    )
    return trial_key(surface, attempt)


def _scene(job: Job) -> Scene:
    if job.trial is None:
        raise RuntimeError("trial: the engine said not which trial; a step of a single trial has an assignment")
    manifest = codec.load(job.inputs["r/manifest.json"], Manifest)
    return Scene(
        job=job,
        which=job.trial,
        made=Made(entry=job.trial.entry, project=job.project, bundle=job.inputs["r/bundle/"]),
        manifest=manifest,
        target=toolchains(job.rules("toolchains"))[manifest.target_language],
        limits=_limits(job),
        places=codec.load(job.inputs["r/places.json"], dict),
        suite=job.rules("containers")["suite"],
        profile=docker_seccomp.text(job.rules("seccomp")),
    )


def _limits(job: Job) -> Limits:
    """What the exported task states, and what keeps a host alive: the spec's wall time, the rule's other figures."""
    rule = job.rules("limits")
    wall, task = seconds(job.spec("budget.agent_wall", object), "budget.agent_wall"), rule["task"]
    return Limits(
        cpu_seconds=wall * task["cpus"],
        wall_seconds=wall,
        memory_bytes=task["memory_mb"] << 20,
        **rule["trial"],
    )


def _access(scene: Scene) -> str:
    """What of the original the agent has: nothing, queries, or for a ceiling trial the source, by its tree."""
    if not scene.which.ceiling:
        return scene.job.spec("task.oracle_access", str)
    return f"source {codec.load(scene.job.inputs['lock.json'], Lock).tree}"


def _attempt(scene: Scene) -> tuple[AgentResult, place.Collected]:
    """Open the sandbox, let the agent run, end all of it, collect."""
    job, who = scene.job, agent(scene.which.agent)
    view = ROOTS[scene.places["kind"]](scene)
    app = place.lay(job.scratch / "app", _app(scene), _source(scene))
    sandbox = open_sandbox(place.plan(view, app, who.mounts(scene.made), scene.which.index, scene.which.model or ""))
    try:
        _require_room(scene.limits.work_bytes)
        instruction = _instruction(scene)
        sandbox.put([FileEntry(INSTRUCTION.encode(), content=instruction.encode())], HOME)
        result = who.run(
            AgentTask(
                sandbox=sandbox,
                instruction=instruction,
                seed=scene.which.index,
                limits=scene.limits,
                entry=scene.which.entry,
                solution=lambda: solution(scene.bundle, job.owner_secret),
            )
        )
        if result.stop is not Stop.LIMIT:
            _require_room(0)
        return result, place.collect(sandbox, _receipt(scene))
    finally:
        sandbox.close()


def _view(scene: Scene) -> View:
    return agent_view(scene.target, scene.manifest.build_packages)


def _image(scene: Scene) -> Image:
    """The agent's image, built again where the engine has lost it. Raises PrerequisiteError, InfraError."""
    base = images.require_base(scene.target, scene.suite)
    more = bool(scene.manifest.build_packages)
    built = images.bundle_image(scene.bundle, images.Side.AGENT, base, more_packages=more)
    return Image(id=built, profile=scene.profile)


ROOTS: Mapping[str, Callable[[Scene], View | Image]] = {BUBBLEWRAP: _view, DOCKER: _image}
"""What an agent's sandbox is made of, by the kind of the places that the block images proved."""


def _require_room(wanted: int) -> None:
    """Refuse a disk that an agent's own writing would not fill, but is full. Raises InfraError."""
    free = shutil.disk_usage(shared_root()).free
    if free < wanted + ROOM:
        needed = (wanted + ROOM) >> 20
        raise InfraError(f"{shared_root()}: {free >> 20} MiB are free, a trial wants {needed}; make room and run again")


def _app(scene: Scene) -> list[FileEntry]:
    files = read_bundle(scene.bundle).items()
    return [FileEntry(p[len(APP) :].encode(), e.kind, e.mode, e.content) for p, e in files if p.startswith(APP)]


def _source(scene: Scene) -> list[FileEntry]:
    return read_tar(scene.job.inputs["source.tar"]) if scene.which.ceiling else []


def _instruction(scene: Scene) -> str:
    return (scene.bundle / INSTRUCTION).read_text(encoding="utf-8")


def _receipt(scene: Scene) -> ReceiptRule:
    return decode_policy((scene.bundle / "tests" / "policy.json").read_bytes()).submission
