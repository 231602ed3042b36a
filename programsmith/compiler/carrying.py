"""`export --with-base`: an exported task with the root file systems that its images are made on.

In: what a build left in dist/, bases that the engine has. Out: the same task whose Dockerfiles start from nothing and
the archives beside them, so that whoever has no registry builds its images offline; signed anew. The bundle in it is
the one that was judged. Refuses what would want a network all the same.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from programsmith.bundle.harbor import task_digest
from programsmith.bundle.images import Base, arguments_of, require_base
from programsmith.bundle.label import PROOF, belongs
from programsmith.bundle.present import CAPS, Present
from programsmith.bundle.provided import FOLDERS, PROVIDED, ROOT, Provided, as_judged, provide, provided, public_base
from programsmith.bundle.signature import MANIFEST, SIGNATURE, manifest, read_manifest, signature
from programsmith.compiler.paths import Project
from programsmith.compiler.storage import signing_key
from programsmith.errors import InputError, PrerequisiteError
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import decode_policy
from programsmith.records import codec
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes.docker_roots import packed_root
from programsmith.sandboxes.scratch import scratch
from programsmith.toolchains.bases import command
from programsmith.toolchains.load import toolchains

Arguments = Mapping[str, Mapping[str, str]]
BASE, COMPILER = "base", "compiler"


def carried(project: Project, found: Present) -> dict[str, FileEntry]:
    """The files of the export with root file systems. Raises InputError, PrerequisiteError, InfraError."""
    proof = json.loads(found.files[PROOF].content)
    own = as_judged({path: e for path, e in found.files.items() if belongs(path)}, provided(proof))
    rules = Rulebook(project.root).load
    rule = rules("containers")
    base = _base(proof, own, rules("toolchains"), rule)
    arguments = arguments_of(own, base)
    given = _given(public_base(own), arguments)
    files = provide(own, given, _roots(given, arguments, rule["machine"]))
    size = sum(len(e.content) for e in files.values())
    if size > CAPS.bytes:
        raise InputError(f"export: --with-base: {size} bytes, and nobody reads a task of more than {CAPS.bytes}")
    return _signed(found, {**proof, PROVIDED: codec.encode(given)}, files)


def _base(
    proof: Mapping[str, Any], own: Mapping[str, FileEntry], known: Mapping[str, Any], rule: Mapping[str, Any]
) -> Base:
    """The base that holds all packages of the task. Raises PrerequisiteError, InputError."""
    (language,) = decode_policy(own["tests/policy.json"].content).languages
    target, source = (toolchains(known)[name] for name in (language, proof["source"]["language"]))
    base = require_base(target, rule["suite"])
    if not base.whole:
        raise PrerequisiteError(
            f"export: --with-base: {base.tag} lacks packages of the task, which would come by a network; "
            f"run: {command(language)}"
        )
    added = {*source.run_packages} - {*target.packages, *rule["packages"]["verifier"]}  # that the original runs on
    if proof["build_packages"] or added:
        packages = ", ".join(sorted({*proof["build_packages"], *added}))
        raise InputError(f"export: --with-base: no base holds {packages}, which would come by a network")
    return base


def _given(public: str, arguments: Arguments) -> Provided:
    """Which archive stands for which argument: one where two are the same image."""
    bases = {
        side: {name: BASE if tag == row["BASE"] else COMPILER for name, tag in row.items()}
        for side, row in arguments.items()
    }
    return Provided(public=public, bases=bases)


def _roots(given: Provided, arguments: Arguments, leave: list[str]) -> dict[str, bytes]:
    """The archives by their path in the export."""
    wanted = {
        ROOT.format(folder=FOLDERS[side], stage=given.bases[side][name]): tag
        for side, row in arguments.items()
        for name, tag in row.items()
    }
    with scratch("roots") as folder:
        made = {tag: packed_root(tag, leave, folder / "root.tar") for tag in sorted(set(wanted.values()))}
    return {path: made[tag] for path, tag in wanted.items()}


def _signed(found: Present, proof: Mapping[str, Any], files: Mapping[str, FileEntry]) -> dict[str, FileEntry]:
    """The whole export: bundle, what lies beside it, provenance, manifest and signature of all that."""
    task, _ = read_manifest(found.files[MANIFEST].content)
    said = {**proof, "bundle": {**proof["bundle"], "task": task_digest({p: e.content for p, e in files.items()})}}
    beside = {p: e for p, e in found.files.items() if not belongs(p) and p not in {PROOF, MANIFEST, SIGNATURE}}
    text = json.dumps(said, indent=1, sort_keys=True, allow_nan=False).encode("ascii") + b"\n"
    made = {**files, **beside, PROOF: dataclasses.replace(found.files[PROOF], content=text)}
    raw, seed = manifest(task, made.values()), signing_key()
    made[MANIFEST] = FileEntry(MANIFEST.encode(), "file", 0o644, raw)
    if seed is not None:
        made[SIGNATURE] = FileEntry(SIGNATURE.encode(), "file", 0o644, signature(raw, seed))
    return made
