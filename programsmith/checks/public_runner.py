"""The public runner applies the policy that grades: what the verifier refuses, /app/check refuses, in the same words.

It is run on the agent's side of the bundle, with submissions that are refused before anything of them is built.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from programsmith.bundle.ready import ENVIRONMENT
from programsmith.bundle.render import PAYLOAD
from programsmith.bundle.tree import APP
from programsmith.checks.base import Row, Scene, first
from programsmith.checks.source_policy import refused
from programsmith.errors import InfraError
from programsmith.payload.verifier.policy import findings
from programsmith.payload.verifier.tree import write_tree
from programsmith.payload.verifier.words import shown

SECONDS = 60.0
READ = ("policy.json", "public.jsonl")
REFUSED = 1


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Run it once for each submission and compare what it says."""
    policy = scene.sides.policy
    given = refused(policy.refused_suffixes)
    folders = [scene.scratch / f"app{number}" for number in range(len(given))]
    for folder, files in zip(folders, given.values(), strict=True):
        folder.mkdir()
        for name in READ:
            shutil.copyfile(scene.bundle / APP / name, folder / name)
        write_tree(str(folder / "submission"), files)
    said = _said(scene, [str(folder) for folder in folders])
    found = []
    for (name, files), (code, output) in zip(given.items(), said, strict=True):
        lines = [f"POLICY: {shown(one.path)}: {one.why}" for one in findings(files, policy)]
        if code != REFUSED or output.splitlines() != lines:
            found.append(f"{APP}check: {name}: wanted {lines} and exit code {REFUSED}, got {output[:200]!r} and {code}")
    return Row(
        passed=not found,
        reason=first(found, f"{len(given)} submissions are refused as the verifier refuses them", "public runner"),
        evidence={"faults": found},
    )


def _said(scene: Scene, folders: list[str]) -> list[tuple[int, str]]:
    program = str(scene.bundle / APP / "check")
    words = [sys.executable, "-I", str(PAYLOAD / "probes" / "checked.py"), program, *folders]
    try:
        done = subprocess.run(
            words, capture_output=True, check=True, timeout=SECONDS, env=ENVIRONMENT, stdin=subprocess.DEVNULL
        )
        return [(code, output) for code, output in json.loads(done.stdout)]
    except (subprocess.SubprocessError, OSError, ValueError) as fault:
        raise InfraError(f"{program}: cannot be run: {fault}") from fault
