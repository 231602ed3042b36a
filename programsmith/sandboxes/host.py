"""Which host views are made from, as one digest: the C library, the interpreter, the compilers, locale and time zones.

In: patterns of paths. Out: a SHA-256 over the content of what they match; a moved or absent file changes it too. It is
cheap to ask: contents are remembered by time, size and inode. It stands in every key of a block that launches
anything, so an upgraded host runs those blocks again; a view's own fingerprint says the whole of what was shown.
"""

from __future__ import annotations

import glob
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator

from programsmith.sandboxes.digests import Digests
from programsmith.sandboxes.shared import shared_root


def host_digest(patterns: Iterable[str]) -> str:
    """SHA-256 over the matching files. Raises PrerequisiteError where the shared folder is out of reach."""
    digests = Digests(shared_root() / "host.json")
    total = hashlib.sha256(f"{sys.version}\n".encode())
    for path in _files(patterns):
        total.update(f"{path}\0{digests.of(path).sha256}\n".encode("utf-8", "surrogateescape"))
    digests.save()
    return total.hexdigest()


def interpreter() -> str:
    """The interpreter's own file."""
    return os.path.realpath(os.path.join(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}"))


def _files(patterns: Iterable[str]) -> Iterator[str]:
    for pattern in (interpreter(), *patterns):
        for path in sorted(glob.glob(pattern)):
            if os.path.isfile(path):
                yield path
