"""What changed in a git checkout since a commit, and what its files were then. Nothing is fetched or written.

In: a folder inside of a checkout, a commit, tag or branch. Out: changed paths, renames, former content, all as paths of
the work tree, what was never committed among them. Refused in one line: no git, no checkout, no such commit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from programsmith.errors import InfraError, InputError, PrerequisiteError

if TYPE_CHECKING:
    from git import Git

ADDED, DELETED = "A", "D"
DIFF = ("diff", "--name-status", "-z", "--find-renames", "--no-ext-diff", "--no-color", "--ignore-submodules=none")
UNTRACKED = ("ls-files", "--others", "--exclude-standard", "-z")
QUIET = {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


@dataclass(frozen=True, slots=True)
class Since:
    """`changed` maps a path to git's letter for what became of it, `renamed` a path to the one that it had."""

    commit: str
    top: Path
    changed: Mapping[Path, str]
    renamed: Mapping[Path, Path]
    _git: Git

    def touched(self, path: Path) -> list[Path]:
        """Changed paths that are `path`, lie below it, or are a repository of their own in which it lies."""
        return [p for p in self.changed if p.is_relative_to(path) or path.is_relative_to(p)]

    def former(self, path: Path) -> bytes | None:
        """What the file held at the commit, None where there was none. Raises InfraError."""
        if path not in self.changed:
            return path.read_bytes() if path.is_file() else None
        if self.changed[path] == ADDED:
            return None
        found: bytes = _run(self._git, "cat-file", "blob", f"{self.commit}:{path.relative_to(self.top)}")
        return found


def since(folder: Path, ref: str) -> Since:
    """The changes between the commit that `ref` names and the work tree. Raises InputError, PrerequisiteError."""
    git = _git(folder)
    top = Path(os.path.realpath(os.fsdecode(_run(git, "rev-parse", "--show-toplevel").rstrip(b"\n"))))
    commit = _commit(git, ref)
    whole = _git(top)
    changed: dict[Path, str] = {}
    renamed: dict[Path, Path] = {}
    for letter, old, new in _rows(_run(whole, *DIFF, commit, "--")):
        changed[top / old] = DELETED if new else letter
        if new:
            changed[top / new] = ADDED
            renamed[top / new] = top / old
    for name in filter(None, _run(whole, *UNTRACKED).split(b"\0")):
        changed.setdefault(top / os.fsdecode(name), ADDED)
    return Since(commit, top, changed, renamed, whole)


def _rows(listing: bytes) -> Iterator[tuple[str, str, str]]:
    """Letter, path, and the new path of what was renamed."""
    words = iter(os.fsdecode(listing).split("\0"))
    for status in words:
        if status[:1] in {"R", "C"}:
            old, new = next(words), next(words)
            yield from [(status[0], old, new)] if status[0] == "R" else [(ADDED, new, "")]
        elif status:
            yield status[0], next(words), ""


def _git(folder: Path) -> Git:
    try:
        from git import Git
    except ImportError as fault:
        raise PrerequisiteError("git is not installed; install it: apt install git") from fault
    found = Git(folder)
    found.update_environment(**QUIET)
    return found


def _run(git: Git, *words: str) -> Any:
    """What git writes. Raises InputError outside of a checkout, InfraError where it fails otherwise."""
    from git.exc import GitCommandError

    try:
        return git.execute(["git", *words], stdout_as_string=False, strip_newline_in_stdout=False)
    except GitCommandError as fault:
        said = " ".join(str(fault.stderr).strip().removeprefix("stderr: ").strip("'").split())
        if "not a git repository" in said or "dubious ownership" in said or "must be run in a work tree" in said:
            raise InputError(f"{git.working_dir}: wanted a git checkout, got none that git reads: {said}") from fault
        raise InfraError(f"git {words[0]} in {git.working_dir}: {said}") from fault


def _commit(git: Git, ref: str) -> str:
    from git.exc import GitCommandError

    try:
        words = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"]
        return str(git.execute(words))
    except GitCommandError as fault:
        hint = "fetch it: git fetch origin " + ref
        if _run(git, "rev-parse", "--is-shallow-repository").strip() == b"true":
            hint = f"this clone is shallow: git fetch --depth=1 origin {ref}, or git fetch --unshallow"
        wanted = "a commit, tag or branch that this repository has"
        raise InputError(f"base={ref}: wanted {wanted}, got none; {hint}") from fault
