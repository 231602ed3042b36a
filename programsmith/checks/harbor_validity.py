"""The bundle is a Harbor task as we mean it: schema, files and modes; instruction, policy and family table agree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.bundle.harbor import REQUIRED, read_task
from programsmith.bundle.instruction import family_table
from programsmith.bundle.manifest import digests
from programsmith.checks.base import Row, Scene, first
from programsmith.errors import InputError
from programsmith.payload.verifier.environment import COMPILE, EXECUTABLE, SUBMISSION

EXECUTABLE_BITS = 0o111
BASE = re.compile(rb"^ARG BASE=\S+$", re.MULTILINE)
FROM = re.compile(rb"^FROM (.*)$", re.MULTILINE)
KNOWN = re.compile(rb"(?:#|ARG|FROM|RUN|COPY|WORKDIR|USER|CMD|ENV)(?: |$)")
SHARED = {"policy.json": "policies", "public.jsonl": "lists of public cases"}
PINNED = re.compile(rb"@sha256:")


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Hold the bundle to its schema, its list of files, its manifest and its own words."""
    found = [*_task(scene), *_files(scene), *_dockerfiles(scene), *_instruction(scene)]
    return Row(
        passed=not found,
        reason=first(found, "a valid Harbor task", "invalid"),
        evidence={"faults": found, "files": len(scene.files)},
    )


def _task(scene: Scene) -> Iterator[str]:
    entry = scene.files.get("task.toml")
    if entry is None:
        return
    try:
        value = read_task(entry.content, scene.schema)
    except InputError as fault:
        yield str(fault)
        return
    said = value["metadata"]["programsmith"]
    counts = {"public": len(scene.manifest.public), "held_out": len(scene.manifest.held_out)}
    yield from (f"task.toml: {k}: says {said[k]}, the manifest {n}" for k, n in counts.items() if said[k] != n)


def _files(scene: Scene) -> Iterator[str]:
    for path, executable in REQUIRED.items():
        entry = scene.files.get(path)
        if entry is None:
            yield f"{path} is missing"
        elif bool(entry.mode & EXECUTABLE_BITS) != executable:
            yield f"{path} must {'' if executable else 'not '}be executable"
        elif not entry.content:
            yield f"{path} is empty"
    _, now = digests(scene.files.values())
    differ = sorted(p for p in now.keys() | scene.manifest.files.keys() if now.get(p) != scene.manifest.files.get(p))
    yield from (f"{path} is not what the manifest says" for path in differ)
    for name, what in SHARED.items():
        agent, tests = (scene.files.get(f"{side}/{name}") for side in ("environment/app", "tests"))
        if agent and tests and agent.content != tests.content:
            yield f"the agent and the verifier have two {what}"


def _dockerfiles(scene: Scene) -> Iterator[str]:
    for path in ("environment/Dockerfile", "tests/Dockerfile"):
        text = scene.files[path].content if path in scene.files else b""
        if text and (len(BASE.findall(text)) != 1 or FROM.findall(text) != [b"${BASE}"]):
            yield f"{path} must take its one base from ARG BASE"
        yield from (f"{path}: unknown line {line!r}" for line in text.splitlines() if line and not KNOWN.match(line))
        if PINNED.search(text):
            yield f"{path} names a digest that nobody resolved"


def _instruction(scene: Scene) -> Iterator[str]:
    entry, policy = scene.files.get("instruction.md"), scene.files.get("tests/policy.json")
    text = entry.content if entry else b""
    wanted = {
        "the contract": f"{SUBMISSION}/{COMPILE}".encode(),
        "the output": f"{SUBMISSION}/{EXECUTABLE}".encode(),
        "the family table": family_table(scene.manifest.families).encode(),
        "the policy": policy.content if policy else b"",
    }
    yield from (f"instruction.md lacks {what}" for what, part in wanted.items() if part not in text)
