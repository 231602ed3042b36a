"""A package client at work on manifests of the source: a folder of its own, an environment of its own, its refusals.

In: entries to lay down, a command. Out: what it printed. The client runs on this host, with the network; so only what
it reads as data may lie in its folder, and nothing of the user's settings but the way to the registry reaches it.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from programsmith.errors import InfraError
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.outcome import Word
from programsmith.toolchains.minimums import refusal, too_old
from programsmith.toolchains.recipe import BuildRefusedError, BuildRequest

WAYS = re.compile(r"(?i)(https?|all|no)_proxy|SSL_CERT_(FILE|DIR)|GOPROXY|CARGO_(HTTP|NET)_\w+")
NO_NETWORK = re.compile(
    r"(?i)could ?n[o']t resolve|temporary failure|name or service not known|connection (refused|reset|timed out)"
    r"|dial tcp|network is unreachable|no such host|i/o timeout|TLS handshake|50[0234] |spurious network error"
    r"|failed to connect|SSL connect"
)
LAST = 15  # lines of a client's log that evidence keeps


def lay(folder: Path, entries: Iterable[FileEntry]) -> None:
    """Write files below a folder of ours. Paths of a source tree are checked at ingest; links are left out."""
    for entry in entries:
        place = os.path.join(os.fsencode(folder), entry.path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "xb") as file:
            file.write(entry.content)


def run_client(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], request: BuildRequest, seconds: float
) -> bytes:
    """Run a package client; its standard output. Raises BuildRefusedError `needs_network_build`, InfraError."""
    found = os.environ.items()  # noqa: TID251 - the way to the registry is the machine's affair, no part of a result
    ways = {k: v for k, v in found if WAYS.fullmatch(k)}
    env = {**ways, "PATH": "/usr/bin:/bin", "HOME": str(cwd.parent / "home"), "LC_ALL": "C.UTF-8", **environment}
    what = " ".join([os.path.basename(command[0]), *command[1:3]])
    try:
        done = subprocess.run(
            command, cwd=cwd, env=env, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=seconds
        )
    except subprocess.TimeoutExpired as fault:
        raise InfraError(f"`{what}` took longer than {seconds:.0f} s") from fault
    if done.returncode:
        raise _refusal(what, done.stderr, request)
    return done.stdout


def _refusal(what: str, output: bytes, request: BuildRequest) -> Exception:
    log = output.decode("ascii", "backslashreplace").splitlines()[-LAST:]
    text = "\n".join(log)
    if fault := too_old(text, request):
        return refusal(fault)
    if NO_NETWORK.search(text):
        return InfraError(f"`{what}`: {log[-1]}")
    last = next((line for line in reversed(log) if line.strip()), "no output")
    return BuildRefusedError(Word.UNBUILDABLE, f"needs_network_build: `{what}`: {last}", {"log": log})


def no_lines(request: BuildRequest) -> None:
    """Refuse lines of `build.fetch` where the manifests alone say what is fetched. Raises BuildRefusedError."""
    if request.spec_build.get("fetch"):
        language = request.toolchain.language
        raise BuildRefusedError(
            Word.UNBUILDABLE, f"build.fetch: {language} fetches what its lock file names; wanted no lines"
        )


def taken(folder: Path, at: str) -> list[FileEntry]:
    """Regular files below a folder that a client filled, as entries below `at`."""
    found = []
    for top, _, names in os.walk(folder):
        for name in names:
            file = Path(top, name)
            if file.is_file() and not file.is_symlink():
                path = f"{at}/{file.relative_to(folder).as_posix()}"
                found.append(FileEntry(os.fsencode(path), "file", 0o644, file.read_bytes()))
    return sorted(found)
