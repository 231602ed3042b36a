"""trial: one agent tries the task once, in a sandbox that shows the agent's side of the bundle and nothing else.

In: bundle, manifest, which trial, the spec's budget; for a ceiling trial the locked source too. An adversary is told to
score without solving, and is given the task's instruction as data. A harness asks its
model through a gateway of the trial's own, whose record is what the trial used. Out: the submission as it lay there
when every process had ended, whatever the stop cause, and the transcript; the trial is the evidence. A fault that the
agent cannot have caused (no room on the disk, a sandbox that fails, a missing program) leaves no trial.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from programsmith.agents import attack, place
from programsmith.agents.base import HOME, Agent, AgentResult, AgentTask, Made, Step
from programsmith.agents.bridge import open_pair
from programsmith.agents.keys import Attempt, Surface, trial_key
from programsmith.agents.queries import Queried, answering
from programsmith.agents.registry import HARNESSES, agent
from programsmith.agents.serving import asks, begun, fate, most, served
from programsmith.agents.transcript import encode, trajectory
from programsmith.bundle import images
from programsmith.bundle.answers import given
from programsmith.bundle.manifest import Manifest
from programsmith.bundle.sides import documents, read_public
from programsmith.bundle.solution import solution
from programsmith.bundle.tree import APP, NO_TASK, read_bundle
from programsmith.errors import InfraError
from programsmith.goldens.families import asked_families
from programsmith.job import Job
from programsmith.payload.verifier.launcher import Mount, View
from programsmith.payload.verifier.model import FileEntry, Limits, canonical
from programsmith.payload.verifier.plan import ReceiptRule, decode_policy
from programsmith.records import codec
from programsmith.records.lock import Lock, OracleFacts
from programsmith.records.outcome import Outcome, Word
from programsmith.records.trial import Assignment, Stop, Trial
from programsmith.sandboxes import docker_seccomp, open_sandbox
from programsmith.sandboxes.base import BUBBLEWRAP, DOCKER, Image, Sandbox, SandboxPlan
from programsmith.sandboxes.shared import shared_root
from programsmith.sources.tree import read_tar, tree_digest, write_tar
from programsmith.spec.duration import seconds
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.model import Toolchain
from programsmith.toolchains.views import agent_view, run_view

NUMBER = 5
"""Raised when an attempt comes to mean something else by a change of code: then every trial is bought anew."""
INSTRUCTION = "instruction.md"
UNASKED, QUERY = "none", "query"
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
    with _queries(scene) as queried:
        result, found = (_served if scene.which.agent in HARNESSES else _attempt)(scene, queried.live)
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
        queries=queried.settle(),
        asked=_asked(job),
    )
    write_tar(job.outputs["t/artifact.tar"], found.entries)
    told = trajectory(scene.which.pair, version, _instruction(scene), result)
    job.outputs["t/transcript.json"].write_bytes(encode(told))
    reason = f"{result.stop.value} with {len(found.entries)} entries in the submission"
    return Outcome(word=Word.DONE, reason=reason, evidence=codec.encode(trial))


def bound(job: Job) -> float:
    """Dollars that the trial takes at most: the price that its entry states, or what its harness may spend."""
    if job.trial is None:
        return 0.0
    if job.trial.agent in HARNESSES:
        return most(job.trial.entry, job.rules("agents"))
    return float(job.trial.entry.get("usd") or 0.0)


def key(job: Job) -> str:
    """The trial's key: equal for an attempt that need not be made again, on whatever machine. Raises InputError."""
    scene = _scene(job)
    entry, which = scene.which.entry, scene.which
    ours = {
        path: digest for path, digest in scene.manifest.files.items() if path.startswith(APP) and path not in NO_TASK
    }
    surface = Surface(
        instruction=_told_digest(scene),
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
        made=Made(
            entry=job.trial.entry,
            project=job.project,
            bundle=job.inputs["r/bundle/"],
            harness=job.rules("agents")["agents"].get(job.trial.agent, {}),
        ),
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
    """What of the original the agent has: nothing, queries by what answers them, for a ceiling trial the source too."""
    own = scene.job.spec("task.oracle_access", str)
    if own != UNASKED:
        rule = scene.job.rules("limits")
        oracle = tree_digest(read_tar(scene.job.inputs["oracle.tar"]))
        own = f"{QUERY} {oracle} {canonical([rule['query'], rule['capture']]).decode('ascii')}"
    if not scene.which.ceiling:
        return own
    source = f"source {codec.load(scene.job.inputs['lock.json'], Lock).tree}"
    return source if own == UNASKED else f"{source}, {own}"


@contextmanager
def _queries(scene: Scene) -> Iterator[Queried]:
    """The original, ready to be asked where the spec says so; nothing of it is in a sandbox of the agent's."""
    job = scene.job
    if job.spec("task.oracle_access", str) == UNASKED:
        yield Queried()
        return
    facts = codec.load(job.inputs["facts.json"], OracleFacts)
    view = run_view(toolchains(job.rules("toolchains"))[facts.language], facts.exec_allowed)
    own = given(job, read_public(scene.bundle), documents(scene.bundle))
    with answering(own, view, job.scratch / "oracle", job.outputs["t/queries.jsonl"]) as queried:
        yield queried


def _asked(job: Job) -> tuple[str, ...]:
    """Families of which the original told, by what is told of the queries."""
    if job.spec("task.oracle_access", str) == UNASKED:
        return ()
    told = job.outputs["t/queries.jsonl"].read_bytes().splitlines()
    return asked_families(map(json.loads, told), codec.load(job.inputs["facts.json"], OracleFacts))


def _attempt(scene: Scene, live: tuple[Mount, ...]) -> tuple[AgentResult, place.Collected]:
    """Open the sandbox, let the agent run, end all of it, collect."""
    who = agent(scene.which.agent)
    sandbox = open_sandbox(_plan(scene, who.mounts(scene.made), live))
    try:
        return _tried(scene, who, sandbox, _task(scene, sandbox))
    finally:
        sandbox.close()


def _served(scene: Scene, live: tuple[Mount, ...]) -> tuple[AgentResult, place.Collected]:
    """The same for a harness, beside its gateway and in a sandbox of its own; the gateway says what it used.

    Raises InfraError where its last call says that there was no trial.
    """
    job, who, model = scene.job, HARNESSES[scene.which.agent], scene.which.model
    record = begun(job.calls or job.scratch / "calls.jsonl")
    rules = {"models": job.rules("models"), "gateway": job.rules("gateway"), "failures": job.rules("failures")}
    asked, tree = asks(scene.made.harness, rules["models"], model), who.tree(scene.made)
    plan, usd, own = _plan(scene, (), live), bound(job), job.rules("limits")["harness"]
    with (
        served(model, usd, rules, job.environment, record) as running,
        open_pair(plan, tree=tree, gateway=running.socket, withheld=who.withheld) as pair,
    ):
        task = replace(_task(scene, pair.task), environment=plan.env, pair=pair, own=own, tree=tree, asks=asked)
        result, found = _tried(scene, who, pair.task, task)
    account = running.account()
    used = replace(
        result,
        stop=fate(account, rules["failures"], result.stop, _last_words(result), result.unreached),
        calls=account.calls,
        tokens_in=account.tokens.taken,
        tokens_out=account.tokens.output,
        usd=float(account.usd),
    )
    return used, found


def _last_words(result: AgentResult) -> bytes:
    last = result.steps[-1]
    return last.seen if isinstance(last, Step) else last.message.encode("utf-8", "surrogatepass")


def _plan(scene: Scene, mounts: tuple[Mount, ...], live: tuple[Mount, ...]) -> SandboxPlan:
    view = ROOTS[scene.places["kind"]](scene)
    app = place.lay(scene.job.scratch / "app", _app(scene), _source(scene))
    made = place.plan(view, app, mounts, scene.which.index, scene.which.model or "")
    return replace(made, live=live)


def _task(scene: Scene, sandbox: Sandbox) -> AgentTask:
    return AgentTask(
        sandbox=sandbox,
        instruction=_instruction(scene),
        seed=scene.which.index,
        limits=scene.limits,
        entry=scene.which.entry,
        solution=lambda: solution(scene.bundle, scene.job.owner_secret),
    )


def _tried(scene: Scene, who: Agent, sandbox: Sandbox, task: AgentTask) -> tuple[AgentResult, place.Collected]:
    """Let the agent run in an open sandbox, end all of it, collect."""
    _require_room(scene.limits.work_bytes)
    sandbox.put([FileEntry(INSTRUCTION.encode(), content=task.instruction.encode())], HOME)
    result = who.run(task)
    if result.stop is not Stop.LIMIT:
        _require_room(0)
    return result, place.collect(sandbox, _receipt(scene))


def _view(scene: Scene) -> View:
    return agent_view(scene.target, scene.manifest.build_packages)


def _image(scene: Scene) -> Image:
    """The agent's image, built again where the engine has lost it. Raises PrerequisiteError, InfraError."""
    base = images.require_base(scene.target, scene.suite)
    more = scene.manifest.more_packages
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
    own = (scene.bundle / INSTRUCTION).read_text(encoding="utf-8")
    return attack.told(scene.job.rules(attack.PROMPT), own) if scene.which.adversary else own


def _told_digest(scene: Scene) -> str:
    """SHA-256 of what the agent is told."""
    if scene.which.adversary:
        return hashlib.sha256(_instruction(scene).encode()).hexdigest()
    return scene.manifest.files[INSTRUCTION]


def _receipt(scene: Scene) -> ReceiptRule:
    return decode_policy((scene.bundle / "tests" / "policy.json").read_bytes()).submission
