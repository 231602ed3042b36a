"""Where a user's store and keys are: the environment's word, else the project's cache and the user's configuration.

In: a project, a spec's file, the environment. Out: the action cache and the signing key, each made when it is first
asked for; the spec's root in the store. Refuses a key that is none.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from programsmith.compiler.paths import Project
from programsmith.sandboxes.owners import place
from programsmith.store.cache import ActionCache
from programsmith.store.directory import Directory
from programsmith.store.keys import SIGNING_KEY, STORE_KEY, WRITER_KEY, Keys, keys, known_keys
from programsmith.store.keys import signing_key as _signing_key
from programsmith.store.leases import Leases
from programsmith.store.roots import Root

STORE = "PROGRAMSMITH_STORE"
"""Names a folder that several checkouts or machines share."""


def action_cache(project: Project, spec: Path) -> ActionCache:
    """The store as this user sees it, used for the spec in the file `spec`. Raises InputError."""
    return _cache(project, keys, root_of(project, spec))


def seen_cache(project: Project) -> ActionCache:
    """The same for who only looks: no key is made. Raises InputError."""
    return _cache(project, known_keys)


def signing_key() -> bytes | None:
    """What this user signs exported tasks with, made when it is first asked for. Raises InputError."""
    return _signing_key(_config(), os.environ.get(SIGNING_KEY))


def root_of(project: Project, spec: Path) -> Root:
    """What keeps alive what the spec in the file `spec` uses."""
    folder = os.path.realpath(project.root)
    return Root(spec=spec.stem, file=os.path.realpath(spec), project=folder, machine=place())


def _cache(
    project: Project, of: Callable[[Path | None, str | None, str | None], Keys], used_by: Root | None = None
) -> ActionCache:
    root = store_root(project)
    known = of(_config(), os.environ.get(STORE_KEY), os.environ.get(WRITER_KEY))
    return ActionCache(Directory(root), known, Leases(root / "leases"), used_by)


def store_root(project: Project) -> Path:
    """The store's folder."""
    given = os.environ.get(STORE)
    return Path(given).absolute() if given else project.store


def _config() -> Path | None:
    """The user's configuration folder; None where there is no home. A relative one does not count, as XDG says."""
    given = os.environ.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(given):
        return Path(given)
    try:
        return Path.home() / ".config"
    except RuntimeError:
        return None
