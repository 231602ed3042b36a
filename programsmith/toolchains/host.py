"""What this machine is, as far as it decides what a program built or run here does.

In: the toolchains rule. Out: a digest; equal digests mean the same processor kind, system and toolchain versions.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from programsmith.payload.verifier.model import canonical
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.views import toolchain_version

RELEASE = Path("/etc/os-release")


def host_digest(rule: Mapping[str, Any]) -> str:
    """SHA-256 over processor kind, system release and the versions of all toolchains, absent ones as empty."""
    value = {
        "machine": platform.machine(),
        "release": RELEASE.read_bytes().hex() if RELEASE.exists() else "",
        "python": sys.version,
        "toolchains": {name: toolchain_version(tc) for name, tc in toolchains(rule).items()},
    }
    return hashlib.sha256(canonical(value)).hexdigest()
