"""The agent sandbox: what the task sandbox shows, with a shim under every command name, and the agent's own tree.

In: the task sandbox's plan and its command names. Out: the plan of the agent sandbox. Executed is nothing there but
shims, relay and agent; written is nothing but what both share, and the agent's private place.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from programsmith.agents.bridge.programs import AT, Programs
from programsmith.errors import InfraError
from programsmith.payload.verifier.isolated import TMP
from programsmith.payload.verifier.launcher import Mount, View
from programsmith.payload.verifier.model import Limits
from programsmith.payload.verifier.wire import Right
from programsmith.sandboxes.base import Sandbox, SandboxPlan
from programsmith.sandboxes.digests import Digests
from programsmith.sandboxes.elf import loader_folders
from programsmith.sandboxes.roots import SYSTEM_PATH, Root
from programsmith.sandboxes.shared import open_folders, publish, shared_root

TREE = "/opt/agent"
"""Where the agent's own programs are shown."""
PRIVATE = "/home/harness"
"""Where the agent has its configuration, sessions and logs: written by it, and out of its commands' reach."""
PORT = 8787
"""Of the loopback, where the relay listens."""
LINE = "/run/line"
LIBRARIES = "/run/libraries"
LOADERS = (
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
)
C_LIBRARY = re.compile(r"(ld-|lib(c|m|mvec|dl|pthread|rt|resolv|util|anl|nss_\w+)([-.]))")
WITHHELD = (
    *("LD_*", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "NODE_OPTIONS"),
    *("*_API_KEY", "*_BASE_URL", "*_API_BASE", "*TOKEN*", "CLAUDE_CODE_MESSAGING_*"),
)
"""Variables of the agent that no command gets: what its loader and interpreter load, keys, ways."""


HIDDEN = ("/tmp/cc-socks",)  # noqa: S108 - a path inside
"""Where agents listen for orders, in a place that both sandboxes share: each has one of its own instead."""


def task_plan(plan: SandboxPlan, line: Path, ours: Programs) -> SandboxPlan:
    """The task sandbox beside an agent sandbox: /tmp is shared as well, and the server is there."""
    live = (Mount(source=str(line), target=LINE), Mount(source=str(ours.folder), target=AT))
    return replace(plan, writable=(*plan.writable, TMP, *HIDDEN), live=(*plan.live, *live))


def agent_plan(plan: SandboxPlan, beside: Sandbox, names: bytes, line: Path, ours: Programs) -> SandboxPlan:
    """The agent sandbox without its tree. `names` are the task's commands, as the server tells them."""
    places = (plan.workspace, *plan.writable, TMP)
    shims = [
        Mount(source=str(shim_tree(words)), target=folder)
        for folder, words in commands(names).items()
        if not any(folder == place or folder.startswith(place + "/") for place in places)
    ]
    live = (Mount(source=str(line), target=LINE), Mount(source=str(ours.folder), target=AT), *shims)
    return replace(
        plan, workspace=PRIVATE, writable=HIDDEN, live=live, beside=beside, fence=tuple(_fence(places, ours))
    )


def with_tree(plan: SandboxPlan, tree: Path, env: Sequence[tuple[bytes, bytes]]) -> SandboxPlan:
    """The same with the agent's tree, and what that needs of this host's libraries; an image has its own C library."""
    shown = (*plan.live, Mount(source=str(tree), target=TREE))
    own = dict(env)
    libraries = host_libraries(tree, whole=isinstance(plan.view, View))
    if libraries:
        shown = (*shown, Mount(source=str(libraries), target=LIBRARIES))
        found = [LIBRARIES + folder for folder in loader_folders() if os.path.isdir(f"{libraries}{folder}")]
        before = own.get(b"LD_LIBRARY_PATH", b"")
        own[b"LD_LIBRARY_PATH"] = b":".join(filter(None, (before, *map(os.fsencode, found))))
    return replace(plan, live=shown, env=tuple(own.items()))


def split(limits: Limits, own: Mapping[str, float]) -> tuple[Limits, Limits]:
    """Limits of the agent's sandbox, which has shares by name, and of its commands', which has the rest.

    Together they are no more than `limits`. Wall time is both's; output the agent's, for its commands write to it.
    """
    shares = {name: getattr(limits, name) * share for name, share in own.items()}
    agents = replace(limits, **{n: v if n == "cpu_seconds" else max(1, int(v)) for n, v in shares.items()})
    rest = {name: max(1, getattr(limits, name) - getattr(agents, name)) for name in shares}
    return agents, replace(limits, **rest)


def search_folders(env: Sequence[tuple[bytes, bytes]]) -> tuple[bytes, ...]:
    """Folders in which a command of the task is looked for."""
    path = dict(env).get(b"PATH", b"") + b":" + SYSTEM_PATH.encode()
    return tuple(dict.fromkeys(folder for folder in path.split(b":") if folder.startswith(b"/")))


def commands(told: bytes) -> Mapping[str, tuple[str, ...]]:
    """Command names by folder, of what the server told. Raises InfraError."""
    found: dict[str, tuple[str, ...]] = {}
    words = iter(told.split(b"\0")[:-1])
    for folder in words:
        names = [os.fsdecode(name) for name in iter(lambda: next(words, b""), b"")]
        if not folder.startswith(b"/") or any("/" in name for name in names):
            raise InfraError(f"the task sandbox tells of commands in {folder!r}: wanted the path of a folder")
        found[os.fsdecode(folder)] = tuple(sorted(names))
    if not any(found.values()):
        raise InfraError("the task sandbox has no command in any folder of its PATH")
    return found


def shim_tree(names: Sequence[str]) -> Path:
    """A folder where each of the names leads to the shim."""
    key = hashlib.sha256(os.fsencode("\0".join(names))).hexdigest()[:16]

    def fill(place: Path) -> None:
        for name in names:
            (place / name).symlink_to(f"{AT}/shim")

    return publish(f"shims-{key}", fill)


def host_libraries(tree: Path, *, whole: bool) -> Path | None:
    """Shared libraries of this host that ELF files below `tree` need, as a root; None where they need none.

    Unless `whole`, those of the C library are left out, which go with one loader alone.
    """
    digests = Digests(shared_root() / "digests.json")
    root = Root(digests)
    for path in _files(tree):
        with open(path, "rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
        at = f"/of{path}"
        root.add_file(path, at=at)
        del root.entries[at]
    digests.save()
    for path in list(root.entries):
        if not whole and C_LIBRARY.match(os.path.basename(path)):
            del root.entries[path]
    if not root.entries:
        return None

    def fill(place: Path) -> None:
        root.write(place)
        open_folders(place)

    return publish(f"libraries-{root.fingerprint()[:32]}", fill)


def _files(tree: Path) -> Iterator[str]:
    for folder, _, names in os.walk(tree):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                yield path


def _fence(places: Sequence[str], ours: Programs) -> Iterator[tuple[Right, str]]:
    yield Right.READ, "/"
    yield from ((Right.EXECUTE, path) for path in (AT, TREE, *LOADERS, *ours.executables))
    yield from ((Right.WRITE, path) for path in (PRIVATE, *places, "/dev"))
