"""Submodules: refused by name, skipped, or materialised at the commit that the parent pins.

In: an origin whose gitlinks are open, and what the spec says. Out: an origin without gitlinks, notes for each.
"""

from __future__ import annotations

import dataclasses
import posixpath
import re
from collections.abc import Callable
from pathlib import Path

from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.forge import owner_of, public
from programsmith.sources.origin import Origin, RefusedError, show, show_some

Fetch = Callable[[str, str], Origin]
MOST_NESTED = 5


def settle_modules(origin: Origin, policy: str | None, fetch: Fetch, scratch: Path, depth: int = 0) -> Origin:
    """The origin with its gitlinks settled by `policy`: None refuses, `skip`, `fetch`.

    `fetch(url, commit)` brings one submodule. Raises RefusedError `submodule` and what `fetch` raises.
    """
    if not origin.modules:
        return origin
    paths = sorted(origin.modules)
    if policy == "skip":
        notes = tuple(f"submodule_skipped: {show(p)} at {origin.modules[p]}" for p in paths)
        return dataclasses.replace(origin, modules={}, notes=origin.notes + notes)
    if policy != "fetch" or depth == MOST_NESTED:
        raise RefusedError("submodule", f"submodules {show_some(paths)}; source.submodules can say skip or fetch")
    urls = _urls(origin, scratch)
    entries, told = list(origin.entries), list(origin.notes)
    for path in paths:
        if path not in urls:
            raise RefusedError("submodule", f"submodule {show(path)} has no URL in .gitmodules")
        url = _absolute(origin.label, urls[path])
        child = settle_modules(fetch(url, origin.modules[path]), policy, fetch, scratch, depth + 1)
        entries += [FileEntry(path + b"/" + e.path, e.kind, e.mode, e.content) for e in child.entries]
        told += [f"submodule_fetched: {show(path)} at {child.commit} from {public(url)}", *child.notes]
    return dataclasses.replace(origin, entries=tuple(entries), modules={}, notes=tuple(told))


def _urls(origin: Origin, scratch: Path) -> dict[bytes, str]:
    """Path to URL of each submodule, as git itself reads .gitmodules."""
    from git import Git
    from git.exc import GitCommandError

    content = next((e.content for e in origin.entries if e.path == b".gitmodules" and e.kind == "file"), b"")
    file = scratch / "gitmodules"
    file.write_bytes(content)
    try:
        listed = str(Git().execute(["git", "config", "--no-includes", "--null", "--list", "--file", str(file)]))
    except GitCommandError as fault:
        raise RefusedError("submodule", ".gitmodules is no git configuration") from fault
    fields: dict[str, dict[str, str]] = {}
    for item in listed.split("\0"):
        hit = re.fullmatch(r"submodule\.(.*)\.(path|url)\n(.*)", item, re.DOTALL)
        if hit:
            fields.setdefault(hit[1], {})[hit[2]] = hit[3]
    return {
        f["path"].encode("utf-8", "surrogateescape"): f["url"] for f in fields.values() if "path" in f and "url" in f
    }


def _absolute(parent: str, url: str) -> str:
    """A submodule's URL; one that begins with ./ or ../ starts from the parent's, others must name a host."""
    if url.startswith(("./", "../")):
        if "://" in parent:
            scheme, _, rest = parent.partition("://")
            return f"{scheme}://{posixpath.normpath(posixpath.join(rest, url))}"
        return posixpath.normpath(posixpath.join(parent, url))
    if owner_of(url) is None:
        raise RefusedError("submodule", f"submodule URL {url!r} names no host")
    return url
