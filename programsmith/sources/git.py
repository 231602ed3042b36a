"""A git repository as a source: fetched without prompts, exported object by object, every object's hash re-verified.

In: a URL or local path and a ref. Out: the tree of one commit, never its history. Refused: trees with unsafe names,
submodules unless the spec decides. A missing ref or local repository is InputError; network fault, prompt, broken
object: InfraError.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from programsmith.errors import InfraError, InputError
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.forge import name_of, owner_of
from programsmith.sources.origin import Caps, Meter, Origin, RefusedError, show
from programsmith.spec.checks import local_path

if TYPE_CHECKING:
    from git import Git

NO_PROMPT = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never", "LC_ALL": "C"}
PROMPTED = ("terminal prompts disabled", "could not read Username", "could not read Password", "Permission denied (")
COMMIT_ID = re.compile(r"[0-9a-f]{4,40}")
FULL_ID = 40
TAGS = "refs/tags/"
EVERYTHING = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
OLD_MODES = {0o100664: 0o100644}  # what early versions of git wrote


def read_git(url: str, ref: str | None, scratch: Path, caps: Caps) -> Origin:
    """The tree of `ref` (default: HEAD) of the repository at `url`, fetched into the empty folder `scratch`.

    Raises InputError (no such ref, no repository at a local path), InfraError (network, prompt, broken object),
    RefusedError.
    """
    if url.startswith("-"):
        raise InputError(f"source.git: {url!r} begins with a dash; wanted a URL or a path")
    store = _Store(url, scratch, caps)
    commit = store.resolve(ref)
    modules: dict[bytes, str] = {}
    entries = tuple(store.export(commit, modules))
    return Origin(
        label=url,
        commit=commit,
        entries=entries,
        modules=modules,
        names=(name_of(url),),
        owner=owner_of(url),
        tag=store.tag,
    )


@dataclass(frozen=True, slots=True)
class _Remote:
    """What a repository advertises: ref name to object id."""

    refs: dict[str, str]

    def find(self, ref: str) -> str | None:
        """The full name of `ref`, tags before branches as git itself has it."""
        return next((n for n in (f"{TAGS}{ref}", f"refs/heads/{ref}", ref) if n in self.refs), None)

    def near(self, ref: str) -> str:
        """A hint for a ref that is not there."""
        short = [n.removeprefix(TAGS).removeprefix("refs/heads/") for n in self.refs]
        close = difflib.get_close_matches(ref, short, n=3)
        return f"nearest: {', '.join(close)}" if close else f"it has {len(short)} refs"


class _Store:
    """A bare repository in a scratch folder that holds what was fetched."""

    def __init__(self, url: str, scratch: Path, caps: Caps) -> None:
        from git import Git, Repo

        self._url = url
        self._caps = caps
        self._meter = Meter(caps)
        self.tag = ""  # what was asked for, where it is a tag
        scratch.mkdir(parents=True, exist_ok=True)
        own = {**NO_PROMPT, "GIT_DIR": str(scratch)}  # a GIT_DIR of the caller's, as hooks have it, is not ours
        Git(scratch).execute(["git", "init", "--quiet", "--bare", "--template="], env=own)
        self._repo = Repo(scratch)
        self._git: Git = self._repo.git
        self._git.update_environment(**own)

    def _run(self, *words: str) -> str:
        from git.exc import GitCommandError

        try:
            return str(
                self._git.execute(
                    ["git", *words],
                    start_new_session=True,  # no terminal that ssh or a helper could ask on
                    kill_after_timeout=self._caps.fetch_seconds,
                )
            )
        except GitCommandError as fault:
            said = str(fault.stderr).strip().removeprefix("stderr: ").strip("'").strip()
            if any(sign in said for sign in PROMPTED):
                raise InfraError(
                    f"source.git: {self._url} asks for a credential; store one with git's credential helper, run again"
                ) from fault
            if words[0] == "ls-remote" and local_path(self._url) is not None:
                raise InputError(f"source.git: {self._url} is no repository that can be read: {said}") from fault
            raise InfraError(f"source.git: git {words[0]} {self._url}: {said}; run again when it answers") from fault

    def resolve(self, ref: str | None) -> str:
        """Fetch what `ref` needs and return its commit id."""
        lines = [line.split("\t") for line in self._run("ls-remote", "--", self._url).splitlines() if "\t" in line]
        remote = _Remote({name: sha for sha, name in lines if not name.endswith("^{}")})
        if any(len(sha) != FULL_ID for sha in remote.refs.values()):
            raise InputError(f"source.git: {self._url} uses an object format other than SHA-1; export it as an archive")
        if not remote.refs:
            raise RefusedError("empty", f"{self._url} has no commit")
        name = remote.find(ref or "HEAD")
        if name is not None:
            self.tag = name.removeprefix(TAGS) if name.startswith(TAGS) else ""
            self._run("fetch", "--quiet", "--no-tags", "--depth=1", "--", self._url, f"+{name}:refs/locked")
            return self._commit("refs/locked")
        if ref is not None and COMMIT_ID.fullmatch(ref):
            return self._by_id(ref)
        raise InputError(f"source.ref: {self._url} has no ref {ref!r}; {remote.near(ref or 'HEAD')}")

    def _by_id(self, ref: str) -> str:
        if len(ref) == FULL_ID:
            try:
                self._run("fetch", "--quiet", "--no-tags", "--depth=1", "--", self._url, f"+{ref}:refs/locked")
                return self._commit("refs/locked")
            except InfraError:
                pass  # a server may refuse ids that no ref points to: take everything and look
        self._run("fetch", "--quiet", "--no-tags", "--", self._url, *EVERYTHING)
        return self._commit(ref)

    def _commit(self, name: str) -> str:
        from git.exc import GitCommandError

        try:
            return str(self._git.rev_parse("--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"))
        except GitCommandError as fault:
            raise InputError(
                f"source.ref: {self._url} has no single commit {name!r}; give a tag, a branch or a longer id"
            ) from fault

    def _object(self, sha: str, kind: bytes, path: bytes) -> bytes:
        """The verified content of one object. `path` counts it against the caps, unless it is a commit or tree."""
        try:
            stream = self._repo.odb.stream(bytes.fromhex(sha))
        except ValueError as fault:
            raise InfraError(f"source.git: object {sha} ({show(path)}) is missing from {self._url}") from fault
        if kind == b"blob":
            self._meter.add(path, stream.size)
        content: bytes = stream.read()
        head = b"%s %d\0" % (kind, len(content))
        if hashlib.sha1(head + content, usedforsecurity=False).hexdigest() != sha:
            raise InfraError(f"source.git: object {sha} ({show(path)}) of {self._url} does not match its hash")
        return content

    def export(self, commit: str, modules: dict[bytes, str]) -> Iterator[FileEntry]:
        """Every blob and link of the commit's tree; gitlinks go into `modules`."""
        head = self._object(commit, b"commit", b"commit").split(b"\n", 1)[0]
        todo = [(b"", head.removeprefix(b"tree ").decode("ascii"))]
        while todo:
            folder, sha = todo.pop()
            for mode, name, child in read_tree(self._object(sha, b"tree", folder)):
                path = folder + b"/" + name if folder else name
                match OLD_MODES.get(mode, mode):
                    case 0o040000:
                        todo.append((path, child))
                    case 0o160000:
                        modules[path] = child
                    case 0o120000:
                        yield FileEntry(path, "link", 0o777, self._object(child, b"blob", path))
                    case 0o100644 | 0o100755 as plain:
                        yield FileEntry(path, "file", plain & 0o777, self._object(child, b"blob", path))
                    case odd:
                        raise RefusedError("bad_tree", f"{show(path)} has the unknown mode {odd:o}")


def read_tree(content: bytes) -> Iterator[tuple[int, bytes, str]]:
    """(mode, name, object id) of each entry of a tree object. Raises RefusedError on a name that no checkout allows."""
    at = 0
    while at < len(content):
        blank, end = content.index(b" ", at), content.index(b"\0", at)
        name = content[blank + 1 : end]
        if name in {b"", b".", b".."} or b"/" in name or name.lower() == b".git":
            raise RefusedError("bad_tree", f"a tree of the repository holds the forbidden name {show(name)!r}")
        yield int(content[at:blank], 8), name, content[end + 1 : end + 21].hex()
        at = end + 21
