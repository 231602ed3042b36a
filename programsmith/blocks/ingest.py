"""Pins the source: where it comes from, its tree, licence, language and commands.

In: spec.source. Out: lock.json, source.tar. Refused (reject): what cannot be taken whole, must not be passed on, is
part of a known benchmark, or is no program.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from programsmith.errors import InputError
from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.lock import Lock
from programsmith.records.outcome import Outcome, Word
from programsmith.sources.archive import read_archive
from programsmith.sources.export import settle
from programsmith.sources.forge import public
from programsmith.sources.git import read_git
from programsmith.sources.licences import is_licence_name, judge
from programsmith.sources.manifests import project_names
from programsmith.sources.modules import settle_modules
from programsmith.sources.origin import Caps, Origin, RefusedError
from programsmith.sources.overlap import namesakes, overlaps
from programsmith.sources.path import read_path
from programsmith.sources.tree import SourceTree, tree_digest, write_tar
from programsmith.toolchains.detect import detect
from programsmith.toolchains.source_git import tag_notes


def run(job: Job) -> Outcome:
    """Lock the source, or say by name why not. Raises InputError, InfraError."""
    try:
        lock, tree = _lock(job)
    except RefusedError as no:
        return Outcome(word=Word.REJECT, reason=f"{no.rule}: {no.reason}", evidence={"rule": no.rule, **no.evidence})
    write_tar(job.outputs["source.tar"], tree)
    codec.dump(job.outputs["lock.json"], lock)
    tools = ", ".join(e.tool for e in lock.entry_points)
    return Outcome(
        word=Word.PASS,
        reason=f"{lock.language} ({lock.build_system}), {lock.code_lines} lines, {lock.licence}: {tools}",
        evidence={"tree": lock.tree, "commit": lock.commit, "files": lock.files, "notes": list(lock.notes)},
    )


def _lock(job: Job) -> tuple[Lock, SourceTree]:
    source = job.spec("source", dict)
    origin = _origin(job, source)
    names = [e.path.rpartition(b"/")[2] for e in origin.entries]
    subdir, leave = source.get("subdir") or "", source.get("leave") or ()
    entries, notes = settle(origin.entries, filter(is_licence_name, names), subdir, leave)
    tree = SourceTree(entries)
    called = (*origin.names, *project_names({e.path: e for e in tree.files() if b"/" not in e.path}))
    overlap = _overlap(origin, called, job.rules("overlap"), allowed=bool(source.get("allow_overlap")))
    ruling = judge(tree, job.rules("licenses"))
    detected = detect(tree, job.rules("toolchains"))
    same = [f"namesake: {n}" for n in namesakes(origin.owner, job.rules("overlap"))]
    digest = tree_digest(tree)
    lock = Lock(
        name=called[-1],
        origin=origin.label,
        commit=origin.commit or digest,
        tree=digest,
        files=len(entries),
        licence=ruling.expression,
        licences=ruling.facts,
        language=detected.language,
        build_system=detected.build_system,
        code_lines=detected.code_lines,
        entry_points=detected.entry_points,
        overlap=overlap,
        notes=(*origin.notes, *notes, *same, *detected.notes, *tag_notes(origin.tag, detected.notes)),
    )
    return lock, tree


def _origin(job: Job, source: Mapping[str, Any]) -> Origin:
    """The source as found, its submodules settled."""
    caps = Caps(**job.rules("limits")["ingest"])
    if source.get("path"):
        label = str(source["path"])
        return read_path(label, job.project / label, caps, (job.project / "cache", job.dist, job.store))
    if source.get("archive"):
        label = str(source["archive"])
        return read_archive(label, job.project / label, str(source.get("sha256") or ""), caps)
    if not source.get("git"):
        raise InputError("source: wanted one of git, path or archive, got none; name where the program comes from")
    count = iter(range(caps.files))

    def fetch(url: str, ref: str | None) -> Origin:
        return read_git(url, ref, _fresh(job.scratch, next(count)), caps)

    origin = fetch(_git_url(str(source["git"]), job.project), source.get("ref"))
    whole = settle_modules(origin, source.get("submodules"), fetch, _fresh(job.scratch, next(count)))
    return dataclasses.replace(whole, label=public(str(source["git"])))


def _git_url(url: str, project: Path) -> str:
    """A path inside the project becomes absolute; a URL stays as it is."""
    local = project / url
    return str(local) if local.exists() else url


def _fresh(scratch: Path, number: int) -> Path:
    folder = scratch / f"git-{number}"
    folder.mkdir(parents=True)
    return folder


def _overlap(origin: Origin, called: tuple[str, ...], rule: Mapping[str, Any], *, allowed: bool) -> tuple[str, ...]:
    found = overlaps(origin.owner, called, rule)
    if found and not allowed:
        raise RefusedError(
            "overlap", f"already in {', '.join(found)}; source.allow_overlap takes it all the same", overlap=list(found)
        )
    return found
