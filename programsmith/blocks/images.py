"""images: the places in which the bundle is tried, built and run, proven by a program that is built and started there.

In: bundle and manifest, toolchains, the rules of containers. Out: r/environments.json, what a verifier is started with
(a launcher configuration per stage, or the verifier's image); r/places.json, what each place is, by digest. Embedded,
these are two list-built views of the host; with an engine, the images of the bundle's two Dockerfiles.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from programsmith.bundle import images
from programsmith.bundle.container import tests_digest
from programsmith.bundle.controls import program
from programsmith.bundle.grade import grade
from programsmith.bundle.images import Base, Side
from programsmith.bundle.manifest import Manifest
from programsmith.bundle.twin import without_public
from programsmith.errors import InfraError, PrerequisiteError
from programsmith.job import Job
from programsmith.payload.verifier.build_step import Built, build
from programsmith.payload.verifier.environment import BASE_ENV, EXECUTABLE, SUBMISSION, case_env
from programsmith.payload.verifier.launcher import LauncherError, Mount, Request, Result
from programsmith.payload.verifier.launchers import Launchers, opened
from programsmith.payload.verifier.limits import build_limits
from programsmith.payload.verifier.model import Limits, canonical
from programsmith.payload.verifier.plan import Policy, decode_policy
from programsmith.payload.verifier.tree import write_tree
from programsmith.payload.verifier.views import encode_view
from programsmith.payload.verifier.words import BuildWord, CaseWord
from programsmith.records import codec
from programsmith.records.outcome import Outcome, Word
from programsmith.sandboxes import docker_seccomp, launcher_config, open_sandbox
from programsmith.sandboxes.base import BUBBLEWRAP, DOCKER, Image, SandboxPlan
from programsmith.sandboxes.docker_used import reap_images
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.model import Toolchain
from programsmith.toolchains.versions import dotted
from programsmith.toolchains.views import agent_toolchains, build_view, original_view, run_view, version_commands

GREETING = b"hello from the run stage\n"
ASKED = Limits(
    cpu_seconds=10,
    wall_seconds=60,
    memory_bytes=1 << 29,
    pids=16,
    output_bytes=1 << 16,
    work_bytes=1 << 20,
    work_files=64,
)
"""What a program may use that is asked for its version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What a backend made: its environment file, its record, and how to see that a program is built and run there."""

    environment: Mapping[str, Any]
    record: Mapping[str, Any]
    fault: Callable[[Job, bytes, Manifest], str | None]
    told: str


def run(job: Job) -> Outcome:
    """Make the places, then build and run a program in them. Raises InfraError, PrerequisiteError."""
    manifest = codec.load(job.inputs["r/manifest.json"], Manifest)
    target = toolchains(job.rules("toolchains"))[manifest.target_language]
    base = _base(job, target)
    profile = docker_seccomp.text(job.rules("seccomp"))
    made = _contained(job, target, base, profile) if base else _embedded(job, target, manifest)
    raw = json.dumps(made.environment, indent=1, sort_keys=True).encode("ascii") + b"\n"
    fault = made.fault(job, raw, manifest)
    if fault is not None:
        return Outcome(word=Word.UNBUILDABLE, reason=fault, evidence=dict(made.record))
    job.outputs["r/environments.json"].write_bytes(raw)
    codec.dump(job.outputs["r/places.json"], dict(made.record))
    return Outcome(
        word=Word.PASS,
        reason=f"{manifest.target_language} builds and runs in {made.told}",
        evidence=dict(made.record),
    )


def _base(job: Job, target: Toolchain) -> Base | None:
    """The base of containers; None for the embedded backend. Raises PrerequisiteError where Docker was asked for.

    Left to choose, only a base that somebody made for this takes Docker: a public one would want the network.
    """
    wanted, suite = job.spec("sandbox", str), job.rules("containers")["suite"]
    if wanted == "bubblewrap":
        return None
    if wanted == "docker":
        return images.require_base(target, suite)
    try:
        found = images.find_base(target, suite)
    except PrerequisiteError as fault:
        job.say(f"sandbox: auto takes the embedded backend: {fault}")
        return None
    return found if found and found.whole else None


def _embedded(job: Job, target: Toolchain, manifest: Manifest) -> Places:
    """Views of this host."""
    packages = manifest.build_packages
    views = {
        "build": build_view(target, packages=packages),
        "run": run_view(target, manifest.exec_allowed, packages),
    }
    stages = {stage: launcher_config(view) for stage, view in views.items()}
    if manifest.source_language != manifest.target_language:
        source = toolchains(job.rules("toolchains"))[manifest.source_language]
        views["original"] = original_view(source, target, manifest.exec_allowed)
        stages["original"] = encode_view(views["original"])
    prints = {stage: view.fingerprint for stage, view in views.items()}
    found = {"kind": BUBBLEWRAP, "fingerprint": _digest(prints)}
    return Places(
        environment={**found, **stages},
        record={**found, "views": prints, "toolchains": agent_toolchains(target)},
        fault=_fault_in_views,
        told=f"views of this host ({BUBBLEWRAP})",
    )


def _contained(job: Job, target: Toolchain, base: Base, profile: str) -> Places:
    """Images of an engine. The verifier's alone decides a grade, so it alone is the fingerprint."""
    rule, bundle = job.rules("containers"), job.inputs["r/bundle/"]
    manifest = codec.load(job.inputs["r/manifest.json"], Manifest)
    found: dict[Side, Image] = {}
    for side in Side:
        built = images.bundle_image(bundle, side, base, more_packages=manifest.more_packages)
        found[side] = images.examined(bundle, side, built, rule, profile)
        job.say(f"{side}: {built}, content {found[side].digest}")
    facts = {"kind": DOCKER, "fingerprint": images.fingerprint(found[Side.VERIFIER].digest, profile)}
    record = {
        **facts,
        "base": base.tag,
        "images": {str(side): image.digest for side, image in found.items()},
        "toolchains": _versions(target, found[Side.AGENT]),
    }
    job.say(f"{reap_images(rule['unused_days'])} images removed that nobody used for {rule['unused_days']} days")
    task = tomllib.loads((bundle / "task.toml").read_text("utf-8"))["verifier"]["environment"]
    inside: Mapping[str, Any] = json.loads((bundle / "tests" / "environment.json").read_bytes())
    limits = {"pids": rule["verifier"]["pids"], **{name: task[name] for name in ("cpus", "memory_mb")}}
    verifier = {"image": codec.encode(found[Side.VERIFIER]), "tests": tests_digest(bundle)}
    return Places(
        environment={**inside, **facts, **limits, **verifier},
        record=record,
        fault=_fault_in_container,
        told=f"images on {base.tag} ({DOCKER})",
    )


def _versions(target: Toolchain, image: Image) -> dict[str, str]:
    """Versions of what an agent builds and works with, as its image has them. Raises InfraError."""
    commands = version_commands(target)
    sandbox = open_sandbox(SandboxPlan(view=image, env=BASE_ENV))
    try:
        said = {
            name: sandbox.run(tuple(w.encode() for w in words), cwd="/", limits=ASKED)
            for name, words in commands.items()
        }
    finally:
        sandbox.close()
    return {name: dotted(result.stdout + result.stderr) for name, result in said.items()}


def _digest(value: Any) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def _fault_in_container(job: Job, environment: bytes, manifest: Manifest) -> str | None:
    """Why a program of the target's language does not build or run in the verifier's container, by the real path."""
    file, submission = job.scratch / "environment.json", job.scratch / "hello"
    file.write_bytes(environment)
    write_tree(str(submission), program(manifest.target_language, "probes", "hello"))
    twin = without_public(job.inputs["r/bundle/"], job.scratch / "twin")
    got = grade(twin, submission, file, job.scratch / "out", job.owner_secret)
    if got.word in list(BuildWord):
        return f"a program does not build: {got.word}: {got.reason}"
    if set(got.details["cases"]["held_out"].values()) == {CaseWord.NOT_RUN}:
        return "a built program does not run"
    return None


def _fault_in_views(job: Job, environment: bytes, manifest: Manifest) -> str | None:
    """Why a program of the target's language does not build or run there; None where it does."""
    policy = decode_policy((job.inputs["r/bundle/"] / "tests" / "policy.json").read_bytes())
    try:
        with opened(environment) as launchers:
            done = build(program(manifest.target_language, "probes", "hello"), policy, launchers.build)
            if done.fault is not None:
                raise InfraError(f"images: the build stage could not be started: {done.fault}")
            if done.word is not None:
                return f"a program does not build: {done.reason}: {done.log[-400:].decode('utf-8', 'replace')}"
            return _wrong(_ran(job, launchers, policy, done))
    except LauncherError as fault:
        raise InfraError(f"images: {fault}") from fault


def _ran(job: Job, launchers: Launchers, policy: Policy, done: Built) -> Result:
    folder = job.scratch / "hello"
    write_tree(str(folder), done.tree)
    return launchers.run.run(
        Request(
            program=f"{SUBMISSION}/{EXECUTABLE}",
            argv=(policy.tool.encode(),),
            env=case_env(),
            limits=build_limits(policy.build),
            mounts=(Mount(source=str(folder), target=SUBMISSION),),
        )
    )


def _wrong(result: Result) -> str | None:
    if result.fault is not None:
        raise InfraError(f"images: the run stage could not be started: {result.fault}")
    if result.exit_code != 0 or result.stdout != GREETING:
        said = result.stderr[-400:].decode("utf-8", "replace")
        return f"a built program does not run: exit {result.exit_code}, errno {result.start_error}: {said}"
    return None
