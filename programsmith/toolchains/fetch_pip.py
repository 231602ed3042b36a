"""Dependencies of Python: wheels, by pip, which runs no code of the source.

In: a source's declared requirements, or those that the spec states. Out: the wheels' files below vendor/.
Refuses (BuildRefusedError `needs_network_build`) what would run code to be had: source distributions, URLs, paths.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from programsmith.errors import InfraError
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.outcome import Word
from programsmith.sandboxes.scratch import scratch
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.python_requirements import requirements
from programsmith.toolchains.recipe import BuildRefusedError, BuildRequest
from programsmith.toolchains.views import toolchain_version

PLAIN = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*\s*(\[[A-Za-z0-9,._ -]*\])?\s*([<>=!~][^;@/]*)?(;.*)?$")
NO_NETWORK = re.compile(r"NewConnectionError|NameResolutionError|Temporary failure|Max retries|Connection refused")
LAST = 15  # lines of the client's log that evidence keeps


def fetch_pip(source: SourceTree, request: BuildRequest) -> tuple[FileEntry, ...]:
    """Entries below vendor/ for a request. Raises BuildRefusedError, InfraError where the index cannot be reached."""
    stated = tuple(request.spec_build.get("fetch") or ())
    wanted = [w for line in stated for w in _spec_words(line, request)] if stated else list(requirements(source))
    odd = [w for w in wanted if not PLAIN.match(w)]
    if odd:
        raise BuildRefusedError(
            Word.UNBUILDABLE, f"needs_network_build: {odd[0]!r} is no plain requirement", {"requirements": odd}
        )
    return _download(wanted, request) if wanted else ()


def _spec_words(line: str, request: BuildRequest) -> list[str]:
    """Requirements of one `build.fetch` line: `pip download NAME==VERSION …`, no options."""
    command = request.toolchain.fetch.command if request.toolchain.fetch else ()
    words = line.split()
    if tuple(words[: len(command)]) != command or any(w.startswith("-") for w in words[len(command) :]):
        raise BuildRefusedError(
            Word.UNBUILDABLE, f"build.fetch: wanted `{' '.join(command)} NAME==VERSION …` without options, got {line!r}"
        )
    return words[len(command) :]


def _download(wanted: Sequence[str], request: BuildRequest) -> tuple[FileEntry, ...]:
    rule = request.toolchain.fetch
    assert rule is not None
    version = ".".join(toolchain_version(request.toolchain).split(".")[:2])
    with scratch("fetch") as folder:
        options = [*rule.options, "--python-version", version, "--dest", str(folder)]
        command = [sys.executable, "-m", *rule.command, *options, *wanted]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise _refusal(done.stdout + done.stderr, wanted)
        found = {e.path: e for wheel in sorted(folder.glob("*.whl")) for e in _unpacked(wheel)}
    return tuple(sorted(found.values()))


def _refusal(output: bytes, wanted: Sequence[str]) -> Exception:
    log = output.decode("ascii", "backslashreplace").splitlines()[-LAST:]
    if NO_NETWORK.search("\n".join(log)):
        return InfraError(f"fetch of {', '.join(wanted)}: {log[-1]}")
    return BuildRefusedError(
        Word.UNBUILDABLE,
        f"needs_network_build: {', '.join(wanted)} cannot be had as wheels alone",
        {"requirements": list(wanted), "log": log},
    )


def _unpacked(wheel: Path) -> Iterator[FileEntry]:
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            parts = member.filename.split("/")
            if member.is_dir() or member.filename.startswith("/") or ".." in parts or parts[0].endswith(".data"):
                continue
            yield FileEntry(b"vendor/" + member.filename.encode("utf-8"), "file", 0o644, archive.read(member))
