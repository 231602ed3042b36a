"""oracle: build the original at the locked commit, wrap it as an executable tree, collect its documentation.

In: lock, source, candidate, spec.build. Out: facts.json, oracle.tar (shown at /opt/oracle), docs.tar. Says
unbuildable or toolchain_too_old, with the end of the log or both versions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from programsmith.job import Job
from programsmith.payload.verifier.environment import ORACLE, case_env
from programsmith.payload.verifier.launcher import Launcher, Mount, Request, Result, View
from programsmith.payload.verifier.model import Limits
from programsmith.payload.verifier.tree import write_tree
from programsmith.records import codec
from programsmith.records.lock import Candidate, Lock, OracleFacts
from programsmith.records.outcome import Outcome, Word
from programsmith.sandboxes import open_launcher
from programsmith.sources.tree import SourceTree, tree_digest, write_tar
from programsmith.toolchains import docs
from programsmith.toolchains.build import Built, build_source
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.recipe import BuildRefusedError, BuildRequest
from programsmith.toolchains.redact import redacted
from programsmith.toolchains.views import run_view, toolchain_version

NO_START = 127  # exit code of a loader that misses a library, of a starter that misses an interpreter
SAID = 200  # bytes of the last words that a reason tells
# The last words of an interpreter that misses a part of the program, which a loader would have said before it starts.
MISSES = re.compile(
    rb"^(ModuleNotFoundError: No module named|ImportError: \S+: cannot open shared object file"
    rb"|Error: Cannot find (module|package)|Error \[ERR_MODULE_NOT_FOUND\]"
    rb"|(Caused by: |Exception in thread \"main\" )?java\.lang\.(NoClassDefFoundError|ClassNotFoundException)\b).*",
    re.MULTILINE,
)


def run(job: Job) -> Outcome:
    """Build, try, document. Raises InfraError, InputError, PrerequisiteError."""
    lock = codec.load(job.inputs["lock.json"], Lock)
    candidate = codec.load(job.inputs["candidate.json"], Candidate)
    source = SourceTree.open(job.inputs["source.tar"])
    request = _request(job, lock, candidate)
    rule = job.rules("toolchains")["docs"]
    try:
        with ExitStack() as open_things:
            built = build_source(source, request)
            job.say(f"built {candidate.tool}: {len(built.install)} files")
            oracle = _open(job, request, built, open_things)
            pages = docs.manuals((*source.files(), *built.manuals), candidate.tool, rule)
            said = docs.said(oracle.call, rule, pages)
    except BuildRefusedError as no:
        return Outcome(word=no.word, reason=no.reason, evidence=no.evidence)
    texts = [*docs.written(source, rule), *docs.generated(built.manuals, pages), *said.files]
    shown = [replace(e, content=redacted(e.content, lock, candidate.tool, rule["marker"])) for e in texts]
    shown += docs.licences(source, lock, built.vendor)
    facts = _facts(candidate, built, said, oracle)
    codec.dump(job.outputs["facts.json"], facts)
    write_tar(job.outputs["oracle.tar"], built.install)
    write_tar(job.outputs["docs.tar"], {e.path: e for e in shown}.values())
    return _outcome(request, built, facts, len(shown))


@dataclass(frozen=True, slots=True)
class _Oracle:
    """The built oracle in the capture environment, ready to be called."""

    launcher: Launcher
    view: View
    request: Request
    exec_allowed: tuple[str, ...]

    def call(self, words: Sequence[bytes]) -> Result:
        return self.launcher.run(replace(self.request, argv=(self.request.argv[0], *words)))


def _request(job: Job, lock: Lock, candidate: Candidate) -> BuildRequest:
    return BuildRequest(
        toolchain=toolchains(job.rules("toolchains"))[lock.language],
        lock=lock,
        entry=candidate.entry,
        spec_build=job.spec("build", dict),
        limits=_limits(job.rules("limits")["build"]),
    )


def _limits(section: Mapping[str, Any]) -> Limits:
    return Limits(**{name: section[name] for name in Limits.__dataclass_fields__})


def _open(job: Job, request: BuildRequest, built: Built, open_things: ExitStack) -> _Oracle:
    """Show the built tree to a launcher. Raises BuildRefusedError where the program does not start."""
    tree = job.scratch / "oracle"
    write_tree(os.fspath(tree), built.install)
    exec_allowed = tuple(request.spec_build.get("exec") or ())
    view = run_view(request.toolchain, exec_allowed)
    launcher = open_launcher(view)
    open_things.callback(launcher.close)
    call = Request(
        program=built.program,
        argv=(request.entry.tool.encode(),),
        env=case_env(),
        limits=_limits(job.rules("limits")["capture"]),
        mounts=(Mount(source=str(tree), target=ORACLE),),
    )
    oracle = _Oracle(launcher, view, call, exec_allowed)
    result = oracle.call([b"--version"])
    if not result.fault and (not result.started or result.exit_code == NO_START):
        raise BuildRefusedError(
            Word.UNBUILDABLE,
            f"{built.program} does not start where cases run: errno {result.start_error}, exit code {result.exit_code}",
            _last(result),
        )
    missed = MISSES.search(result.stderr) if result.exit_code else None
    if missed and b"--version" not in missed[0]:  # one that takes any word for the name of something misses nothing
        said = missed[0][:SAID].decode("ascii", "backslashreplace")
        why = f"{built.program} misses a part of it: {said}; name what it needs in build.fetch"
        raise BuildRefusedError(Word.UNBUILDABLE, why, _last(result))
    return oracle


def _last(result: Result) -> dict[str, str]:
    return {"stderr": result.stderr[-2000:].decode("ascii", "backslashreplace")}


def _facts(candidate: Candidate, built: Built, said: docs.Said, oracle: _Oracle) -> OracleFacts:
    return OracleFacts(
        tool=candidate.tool,
        program=built.program,
        language=candidate.source_language,
        exec_allowed=oracle.exec_allowed,
        recipe=built.recipe,
        subcommands=said.subcommands,
        options=said.options,
        version=said.version,
        fingerprint=oracle.view.fingerprint,
    )


def _outcome(request: BuildRequest, built: Built, facts: OracleFacts, documents: int) -> Outcome:
    evidence = {
        "program": facts.program,
        "version": facts.version,
        "toolchain": f"{request.toolchain.language} {toolchain_version(request.toolchain)}",
        "tree": tree_digest(built.install),
        "files": len(built.install),
        "bytes": sum(len(e.content) for e in built.install),
        "documents": documents,
        "options": len(facts.options),
        "subcommands": list(facts.subcommands),
        "recipe": list(built.recipe),
    }
    reason = f"{facts.tool} {facts.version or '(no version)'}: {len(built.install)} files, {documents} documents"
    return Outcome(word=Word.PASS, reason=reason, evidence=evidence)
