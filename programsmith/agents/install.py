"""Bring a harness from its registry, at one version: the only step with a network.

In: a name, its row of rules/agents.yaml, which says what content the packages have. Out: a tree in the shared folder,
named by its own. The registries' clients fetch and check it; nothing of it is run. Raises PrerequisiteError where a
client is absent, InfraError where a registry does not answer, InputError where it has no such version or content.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from programsmith.agents.installed import drop, installed, keep, pointer, tree_name, unchanged
from programsmith.agents.python_tree import SITE, UNREADABLE, lay_python
from programsmith.errors import InfraError, InputError, PrerequisiteError
from programsmith.sandboxes.scratch import scratch
from programsmith.sandboxes.shared import open_folders, publish, shared_root

SECONDS = 1800
NO_VERSION = re.compile(
    r"E404|ETARGET|DO NOT MATCH THE HASHES|No matching distribution|is not in this registry|No matching version"
)
TOP = "package/"
"""What every path in a package of npm begins with."""
LAST = 3
ENSURED = f"{sys.executable} -m ensurepip, or: apt-get install -y python3-pip"
STARTER = "start.py"
ELF = b"\x7fELF"


def install(name: str, rule: Mapping[str, Any], row: Mapping[str, Any]) -> Path:
    """Install a harness unless it is there; its tree. Raises PrerequisiteError, InfraError, InputError."""
    try:
        return installed(name, row)
    except PrerequisiteError:
        pass
    with scratch("agent", shared_root()) as folder:
        tree, work = folder / "tree", folder / "work"
        work.mkdir()
        tree.mkdir()
        if "npm" in row:
            _from_npm(row, _arch(rule), work, tree)
        else:
            _from_pip(row, work, tree)
        open_folders(tree)
        named = tree_name(tree)
        if (shared_root() / named).is_dir() and not unchanged(shared_root() / named):
            drop(shared_root() / named)
        made = publish(named, lambda place: _moved(tree, place))
    keep(made)
    place = pointer(name, row)
    place.parent.mkdir(mode=0o755, exist_ok=True)
    part = place.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps({"name": name, "version": row["version"], "tree": named}) + "\n", encoding="utf-8")
    os.replace(part, place)
    return made


def _moved(tree: Path, place: Path) -> None:
    for child in tree.iterdir():
        child.rename(place / child.name)


def _arch(rule: Mapping[str, Any]) -> str:
    machine = os.uname().machine
    if machine not in rule["arches"]:
        raise PrerequisiteError(f"rules/agents.yaml names no packages for a machine of kind {machine}")
    return str(rule["arches"][machine])


def _from_npm(row: Mapping[str, Any], arch: str, work: Path, tree: Path) -> None:
    if shutil.which("npm") is None:
        raise PrerequisiteError("npm fetches this agent and is not on PATH; run: apt-get install -y npm")
    for package in row["npm"]:
        named = [package[part].format(arch=arch, version=row["version"]) for part in ("package", "version")]
        _run(["npm", "pack", "--loglevel=error", "--ignore-scripts", "@".join(named)], work)
        (packed,) = work.glob("*.tgz")
        _check(packed, "@".join(named), package.get("sha512", {}).get(arch))
        _unpacked(packed, tree / package.get("at", ""))
        packed.unlink()


def _check(packed: Path, what: str, wanted: str | None) -> None:
    """Hold a package to the content that its row says. Raises InputError."""
    if wanted is None:
        return
    with packed.open("rb") as file:
        found = base64.b64encode(hashlib.file_digest(file, "sha512").digest()).decode()
    if found != wanted:
        raise InputError(f"{what}: wanted the package of SHA-512 {wanted}, got {found}: it is not what its row names")


def _unpacked(packed: Path, place: Path) -> None:
    """Regular files of a package, below `place`. Raises InputError on any other thing in it."""
    with tarfile.open(packed) as archive:
        for member in archive:
            parts = member.name.removeprefix(TOP).split("/")
            odd = member.name.startswith("/") or ".." in parts or not (member.isfile() or member.isdir())
            if odd or not member.name.startswith(TOP):
                raise InputError(f"{packed.name}: {member.name!r}: wanted files below {TOP}")
            source = archive.extractfile(member)
            if source is None:
                continue
            path = place.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            with source, path.open("xb") as out:
                shutil.copyfileobj(source, out, 1 << 20)
            path.chmod(_mode(path) if member.mode & 0o111 else 0o644)


def _mode(path: Path) -> int:
    """Of a file that may be executed: a program is read by nobody else, so that nobody looks into it while it runs."""
    with path.open("rb") as file:
        program = file.read(len(ELF)) == ELF and not path.suffix
    return UNREADABLE if program else 0o755


def _from_pip(row: Mapping[str, Any], work: Path, tree: Path) -> None:
    """The package and its pins as wheels, beside an interpreter and what that needs."""
    site = work / "site"
    if importlib.util.find_spec("pip") is None:
        raise PrerequisiteError(f"pip fetches this agent, and {sys.executable} has none; run: {ENSURED}")
    wanted = work / "wanted.txt"
    lines = [" ".join([pin, *(f"--hash=sha256:{one}" for one in row["pins"][pin])]) for pin in row["pins"]]
    wanted.write_text("\n".join(lines) + "\n", "ascii")
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--no-compile", "--require-hashes", "--target", str(site)]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
    _run([*pip, *options, "--requirement", str(wanted)], work)
    lay_python(site, tree)
    compiled = ["compileall", "-q", "--invalidation-mode", "unchecked-hash", "-s", str(tree), f"{tree}{SITE}"]
    _run([sys.executable, "-I", "-m", *compiled], work)
    starter = resources.files("programsmith.payload") / "harness" / "mini.py"
    (tree / STARTER).write_bytes(starter.read_bytes())
    (tree / STARTER).chmod(0o644)


def _run(words: Sequence[str], folder: Path) -> None:
    what = " ".join(words[:2])
    try:
        done = subprocess.run(
            words, cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=SECONDS
        )
    except subprocess.TimeoutExpired as late:
        raise InfraError(f"{what}: no end after {late.timeout:.0f} s") from late
    if done.returncode:
        said = (done.stderr + done.stdout).decode("ascii", "backslashreplace").strip().splitlines()
        kind = InputError if NO_VERSION.search("\n".join(said)) else InfraError
        raise kind(f"{what}: {' '.join(said[:LAST])}")
