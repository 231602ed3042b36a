"""images: the places in which the bundle is built and run, proven by a program that is compiled and started there.

In: bundle and manifest, toolchains. Out: r/environments.json with a launcher configuration per stage and a fingerprint
over everything that they show. Embedded, these are two list-built views of the host.
"""

from __future__ import annotations

import hashlib
import json

from programsmith.bundle.controls import program
from programsmith.bundle.manifest import Manifest
from programsmith.errors import InfraError, PrerequisiteError
from programsmith.job import Job
from programsmith.payload.verifier.build_step import Built, build
from programsmith.payload.verifier.environment import EXECUTABLE, SUBMISSION, case_env
from programsmith.payload.verifier.launcher import LauncherError, Mount, Request, Result
from programsmith.payload.verifier.launchers import Launchers, opened
from programsmith.payload.verifier.limits import build_limits
from programsmith.payload.verifier.model import canonical
from programsmith.payload.verifier.plan import Policy, decode_policy
from programsmith.payload.verifier.tree import write_tree
from programsmith.records import codec
from programsmith.records.outcome import Outcome, Word
from programsmith.sandboxes import launcher_config
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.views import build_view, run_view

GREETING = b"hello from the run stage\n"
KIND = "bubblewrap"


def run(job: Job) -> Outcome:
    """Make both views, then build and run a program in them."""
    if job.spec("sandbox", str) == "docker":
        raise PrerequisiteError("sandbox: docker: no engine backend is installed; use sandbox: bubblewrap or auto")
    manifest = codec.load(job.inputs["r/manifest.json"], Manifest)
    target = toolchains(job.rules("toolchains"))[manifest.target_language]
    packages = manifest.build_packages
    views = {
        "build": build_view(target, packages=packages),
        "run": run_view(target, manifest.exec_allowed, packages),
    }
    prints = {stage: view.fingerprint for stage, view in views.items()}
    environment = {
        "kind": KIND,
        "fingerprint": hashlib.sha256(canonical(prints)).hexdigest(),
        **{stage: launcher_config(view) for stage, view in views.items()},
    }
    raw = json.dumps(environment, indent=1, sort_keys=True).encode("ascii") + b"\n"
    evidence = {"kind": KIND, "fingerprint": environment["fingerprint"], "views": prints}
    fault = _fault(job, raw, manifest)
    if fault is not None:
        return Outcome(word=Word.UNBUILDABLE, reason=fault, evidence=evidence)
    job.outputs["r/environments.json"].write_bytes(raw)
    return Outcome(
        word=Word.PASS,
        reason=f"{manifest.target_language} builds and runs in views of this host ({KIND})",
        evidence=evidence,
    )


def _fault(job: Job, environment: bytes, manifest: Manifest) -> str | None:
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
