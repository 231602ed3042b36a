"""What every root has besides its view, and the user that everything in it runs as."""

from __future__ import annotations

from programsmith.payload.verifier.launcher import View

INSIDE_ID = 1000
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/urandom")  # each costs a mount
DIRS = ("/tmp", "/dev/shm", "/dev/pts")  # noqa: S108 - paths inside
DEVICE_LINKS = (("/dev/random", "urandom"), ("/dev/ptmx", "pts/ptmx"),
                ("/dev/fd", "/proc/self/fd"), ("/dev/stdin", "/proc/self/fd/0"),
                ("/dev/stdout", "/proc/self/fd/1"), ("/dev/stderr", "/proc/self/fd/2"))  # fmt: skip


def links(view: View) -> tuple[tuple[str, str], ...]:
    """All symlinks of the root, as (path, target)."""
    return (*view.links, *DEVICE_LINKS)
