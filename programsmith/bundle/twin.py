"""A bundle's tests folder without the public cases: the same verifier, policy and sealed cases, less to run.

In: a bundle. Out: a folder that grades as the bundle does, since public cases never count for the reward.
"""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

from programsmith.payload.verifier.plan import decode_plan, encode_plan


def without_public(bundle: Path, folder: Path) -> Path:
    """Make the twin of `bundle` in `folder`, which does not exist yet; return `folder`."""
    shutil.copytree(bundle / "tests", folder / "tests")
    plan = folder / "tests" / "plan.json"
    plan.write_bytes(encode_plan(dataclasses.replace(decode_plan(plan.read_bytes()), public=())))
    (folder / "tests" / "public.jsonl").write_bytes(b"")
    return folder
