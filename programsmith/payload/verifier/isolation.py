"""Proves the five properties of a launcher on this host before it is trusted.

In: a launcher whose view holds Python. The witness (payload/init/witness.py) tries to break out and writes one line for
each thing that it could do; a marker file and a listening socket of ours show that the tries would be noticed. Raises
LauncherError with those lines.
"""

from __future__ import annotations

import contextlib
import os
import pkgutil
import socket
import tempfile

from programsmith.payload.init import witness
from programsmith.payload.verifier.launcher import Launcher, LauncherError, Request
from programsmith.payload.verifier.model import FileEntry, Limits

_LIMITS = Limits(
    cpu_seconds=10,
    wall_seconds=30,
    memory_bytes=256 << 20,
    pids=16,
    output_bytes=1 << 16,
    work_bytes=1 << 20,
    work_files=64,
)


def _witness() -> bytes:
    found = pkgutil.get_data("programsmith.payload.init", os.path.basename(witness.__file__))
    if found is None:
        raise LauncherError("no_isolation: the witness is not among the files of this program")
    return found


def prove(launcher: Launcher) -> None:
    """Run the witness. Raises LauncherError (`no_isolation`) where it broke out or could not be heard."""
    with tempfile.NamedTemporaryFile() as marker, contextlib.closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        tries = (marker.name, str(os.getpid()), str(listener.getsockname()[1]))
        request = Request(
            program="/usr/bin/python3",
            argv=(b"python3", b"-IS", b"witness.py", *map(os.fsencode, tries)),
            env=((b"PATH", b"/usr/bin"),),
            limits=_LIMITS,
            files=(FileEntry(b"witness.py", content=_witness()),),
        )
        result = launcher.run(request)
    if result.fault:
        raise LauncherError(f"no_isolation: the witness could not be started: {result.fault}")
    if result.exit_code != 0 or result.stdout != b"isolated\n":
        said = (result.stdout + result.stderr)[-800:].decode("utf-8", "backslashreplace").strip()
        raise LauncherError(f"no_isolation: {said or f'the witness ended with {result.exit_code}'}")
