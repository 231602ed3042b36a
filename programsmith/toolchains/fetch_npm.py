"""Dependencies of a package.json by the package client, without a line of their code or of the source's being run.

In: package.json and its lock file, read as data. Out: packages that a run needs below vendor/node_modules/, and those
that only a build needs below build/node_modules/. The client sees an empty folder with two files that are written
here: names, ranges and digests, no scripts, no configuration, no addresses. Each package comes from the registry that
the user's client asks, and must have the lock's digest. Refuses (BuildRefusedError `needs_network_build`) by name what
comes from elsewhere: repositories, addresses, folders.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from programsmith.errors import InfraError, PrerequisiteError
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.outcome import Word
from programsmith.sandboxes.scratch import scratch
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.detect_javascript import BUILT
from programsmith.toolchains.javascript_manifest import manifest, texts
from programsmith.toolchains.recipe import BuildRefusedError, BuildRequest

LOCKS = (b"npm-shrinkwrap.json", b"package-lock.json")
NAME = re.compile(r"(@[a-z0-9~][a-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*")
ALIAS = re.compile(r"npm:(@[\w.~-]+/)?\w[\w.~-]*(@|$)")  # another package under this name
ELSEWHERE = re.compile(r"[/:\\\0-\x1f]|^\.|\.(tgz|tar|tar\.gz)$", re.IGNORECASE)  # what the client takes for no range
PUBLISHED = re.compile(r"https?://[^/]+/(?:[^?#]*/)?(?P<name>(?:@[^/]+/)?[^/]+)/-/[^/]+\.tgz")
KEPT = frozenset({
    "version", "integrity", "dev", "optional", "devOptional", "peer", "inBundle", "hasInstallScript", "dependencies",
    "optionalDependencies", "peerDependencies", "peerDependenciesMeta", "bin", "engines", "os", "cpu", "libc", "name",
})  # fmt: skip
NO_NETWORK = re.compile(r"\b(ENOTFOUND|ETIMEDOUT|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ERR_SOCKET_TIMEOUT|E5\d\d|E429)\b")
NEEDLESS = (".d.ts", ".d.mts", ".d.cts", ".map", ".flow")  # files that no run reads
CLEAN = ("env", "-u", "NODE_OPTIONS", "-u", "NODE_PATH", "GIT_ALLOW_PROTOCOL=none")  # nothing comes from a repository
LAST = 15
GROUPS = ("dependencies", "optionalDependencies", "peerDependencies", "devDependencies")


def fetch_npm(source: SourceTree, request: BuildRequest) -> tuple[FileEntry, ...]:
    """Entries below vendor/ and build/. Raises BuildRefusedError, PrerequisiteError, InfraError."""
    if request.spec_build.get("fetch"):
        raise BuildRefusedError(Word.UNBUILDABLE, "build.fetch: javascript takes what package.json and its lock name")
    builds = request.entry.kind == BUILT
    package = declared(manifest(source), builds=builds)
    if not any(package.get(group) for group in GROUPS):
        return ()
    lock = locked(source, package, builds=builds)
    with scratch("fetch") as folder:
        (folder / "package.json").write_text(json.dumps(package), "utf-8")
        if lock:
            (folder / "package-lock.json").write_text(json.dumps(lock), "utf-8")
        _install(folder, request, ci=bool(lock), builds=builds)
        return tuple(sorted(_taken(folder / "node_modules", request)))


def declared(package: Mapping[str, Any], *, builds: bool) -> dict[str, Any]:
    """What of a package.json the client may see. Raises BuildRefusedError for what is no plain range."""
    made: dict[str, Any] = {"name": "fetched", "version": "0.0.0", "private": True}
    for group in GROUPS if builds else GROUPS[:-1]:
        wanted = texts(package.get(group))
        _check_ranges(group, wanted)
        if wanted:
            made[group] = wanted
    meta = package.get("peerDependenciesMeta")
    if isinstance(meta, dict) and "peerDependencies" in made:
        optional = [name for name, e in meta.items() if isinstance(e, dict) and e.get("optional") is True]
        made["peerDependenciesMeta"] = {name: {"optional": True} for name in optional}
    if package.get("overrides"):
        _check_overrides(package["overrides"])
        made["overrides"] = package["overrides"]
    return made


def _check_ranges(where: str, wanted: Mapping[str, str]) -> None:
    for name, asked in wanted.items():
        if not NAME.fullmatch(name) or not _is_range(asked):
            raise _refused(f"{where}: {name}: {asked!r} is no range of versions in a registry")


def _is_range(asked: str) -> bool:
    """Whether the client asks a registry for it: a range, a tag, or either of another package."""
    return not ELSEWHERE.search(ALIAS.sub("", asked.strip(), count=1))


def _check_overrides(value: Any) -> None:
    for name, asked in value.items() if isinstance(value, dict) else ():
        if isinstance(asked, dict):
            _check_overrides(asked)
        elif not isinstance(asked, str) or not _is_range(asked):
            raise _refused(f"overrides: {name}: {asked!r} is no range of versions in a registry")


def locked(source: SourceTree, package: Mapping[str, Any], *, builds: bool) -> dict[str, Any]:
    """The lock file with digests and without addresses; empty where there is none of a form with `packages`.

    Raises BuildRefusedError for a package that does not come from a registry.
    """
    found = next((m for path in LOCKS if (m := manifest(source, path))), {})
    listed = found.get("packages")
    if not isinstance(listed, dict):
        return {}
    kept: dict[str, Any] = {"": dict(package)}
    for path, entry in listed.items():
        if path and isinstance(entry, dict) and (builds or not entry.get("dev")):
            _check(path, entry)
            if not entry.get("inBundle") and not isinstance(entry.get("integrity"), str):
                raise _refused(f"{path} has no digest in the lock")
            kept[path] = {k: v for k, v in entry.items() if k in KEPT}
    return {"name": "fetched", "version": "0.0.0", "lockfileVersion": 3, "requires": True, "packages": kept}


def _check(path: str, entry: Mapping[str, Any]) -> None:
    name = path.rpartition("node_modules/")[2]
    if not path.startswith("node_modules/") or not NAME.fullmatch(name) or ".." in path.split("/"):
        raise _refused(f"the lock's {path!r} lies in the repository, not in a registry")
    resolved = entry.get("resolved")
    published = resolved is None or (isinstance(resolved, str) and PUBLISHED.fullmatch(resolved))
    if entry.get("link") or not published:
        raise _refused(f"{name} comes from {resolved!r}, not from a registry")
    _check_ranges(name, {name.rpartition("/")[2]: str(entry.get("version", ""))})
    for group in GROUPS[:-1]:
        _check_ranges(f"{name}, {group}", texts(entry.get(group)))


def _install(folder: Path, request: BuildRequest, *, ci: bool, builds: bool) -> None:
    npm, rule = shutil.which("npm"), request.toolchain.fetch
    assert rule is not None
    if npm is None:
        raise PrerequisiteError(
            "javascript: npm brings the dependencies and is not on PATH; run: apt-get install -y npm"
        )
    words = [*CLEAN, npm, "ci" if ci else "install", *rule.options, f"--{'include' if builds else 'omit'}=dev"]
    try:
        done = subprocess.run(
            words, cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL,
            timeout=request.limits.wall_seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        raise InfraError(f"npm: no end after {late.timeout:.0f} s") from late
    if done.returncode:
        log = (done.stdout + done.stderr).decode("ascii", "backslashreplace").splitlines()
        told = [line for line in log if "npm error" in line or "npm ERR!" in line][:LAST] or log[-LAST:]
        if NO_NETWORK.search("\n".join(told)):
            raise InfraError(f"npm: {' '.join(told[:3])}")
        raise _refused(f"npm cannot bring the dependencies: {' '.join(told[:3])}", {"log": told})


def _taken(modules: Path, request: BuildRequest) -> Iterator[FileEntry]:
    """What was installed, without links that lead out. Raises BuildRefusedError where a build may not hold as much."""
    listed = json.loads((modules / ".package-lock.json").read_text("utf-8"))["packages"] if modules.is_dir() else {}
    for path, e in listed.items():
        _check(path, e)
    only_builds = {path for path, e in listed.items() if e.get("dev")}
    files = size = 0
    for folder, folders, names in os.walk(modules):
        for name in (*names, *(f for f in folders if os.path.islink(os.path.join(folder, f)))):
            entry = _entry(modules, os.path.join(folder, name), only_builds)
            if entry is None:
                continue
            files, size = files + 1, size + len(entry.content)
            if files > request.limits.work_files or size > request.limits.work_bytes:
                raise _refused(f"the dependencies are more than {request.limits.work_files} files or too many bytes")
            yield entry


def _entry(modules: Path, path: str, only_builds: set[str]) -> FileEntry | None:
    inner = os.path.relpath(path, modules.parent)
    facts = os.lstat(path)
    starts = "/.bin/" in inner
    part = "build" if starts or owner(inner) in only_builds else "vendor"
    name = os.fsencode(f"{part}/{inner}")
    if stat.S_ISLNK(facts.st_mode):
        target = os.path.realpath(path)
        inside = target.startswith(os.path.realpath(modules) + "/") and not os.readlink(path).startswith("/")
        return FileEntry(name, "link", 0o777, os.fsencode(os.readlink(path))) if starts and inside else None
    if not stat.S_ISREG(facts.st_mode) or inner == "node_modules/.package-lock.json":
        return None
    if part == "vendor" and os.path.basename(inner) == "binding.gyp":
        raise _refused(f"{owner(inner)} is compiled when it is installed")
    if part == "vendor" and inner.endswith(NEEDLESS):
        name = os.fsencode(f"build/{inner}")
    with open(path, "rb") as content:
        return FileEntry(name, "file", 0o755 if facts.st_mode & 0o111 else 0o644, content.read())


def owner(inner: str) -> str:
    """The package, as the lock names it, that a file below node_modules belongs to."""
    head, _, tail = inner.rpartition("node_modules/")
    parts = tail.split("/")
    return f"{head}node_modules/{'/'.join(parts[: 2 if parts[0].startswith('@') else 1])}"


def _refused(why: str, evidence: Mapping[str, Any] | None = None) -> BuildRefusedError:
    return BuildRefusedError(Word.UNBUILDABLE, f"needs_network_build: {why}", evidence)
