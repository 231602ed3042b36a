"""A place like a verifier's container: its own root, processes and network, five capabilities, no way to namespaces.

As root on the host it is made with what the distribution has (unshare, mount, bwrap); inside, a launcher config over
it. The places that launches write to are file systems of their own, as the engine would mount them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from programsmith.sandboxes.pid1 import compiled_server
from programsmith.sandboxes.roots import merged_links

MARK = Path("/contained")  # holds the launch server; nothing else has it
SERVER = str(MARK / "server" / "launch")
WAYS = ("uid", "uid_python")
CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "KILL", "SETGID", "SETUID")
FIRST_UID = 700_000 + 64 * int.from_bytes(os.urandom(2), "big")  # another run here would be counted into its limits
PLACE = "mount -t tmpfs -o size={size},nr_inodes={files},nosuid,nodev,noexec,mode={mode} place {at}"
SIZE, FILES = 32 << 20, 304
TREE = "/slots/tree"
ROOMS = {"/work": "755", "/tmp": "1777", "/dev/shm": "1777", "/slots/0": "755", "/slots/1": "755", TREE: "755"}
SHARED = ("/work", "/tmp", "/dev/shm")
CHECKOUT = "/checkout"


def is_inside() -> bool:
    return MARK.is_dir()


OWN_ROOT = pytest.mark.skipif(is_inside(), reason="a container without namespaces has one root: run on a host")


def config(way: str, places: list[dict[str, str]] | None = None) -> dict[str, Any]:
    """A launcher's config for one slot that has the usual places, or for `places`."""
    python = os.path.realpath("/usr/bin/python3")
    loaders = [os.path.realpath(p) for p in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")]
    view = {
        "mounts": [[p, p] for p in ("/usr", "/etc", "/lib", "/lib64") if os.path.exists(p)],
        "links": [],
        "dirs": [],
        "executables": [python, "/usr/bin/cat", *filter(os.path.exists, loaders)],
        "fingerprint": "",
    }
    return {
        "kind": "uid",
        "server": SERVER if way == "uid" else None,
        "uid": FIRST_UID,
        "places": places or [{p: p for p in SHARED}],
        "tree": TREE,
        "view": view,
        "probe": {"view": view},
    }


def command(folder: Path, shown: Mapping[str, str], words: list[str]) -> list[str]:
    """The command that runs `words` inside; `shown` are host paths by their place there, `folder` is scratch."""
    mounts, binds = [], []
    for number, (inside, mode) in enumerate(ROOMS.items()):
        at = folder / f"room{number}"
        at.mkdir()
        mounts.append(PLACE.format(size=SIZE, files=FILES, mode=mode, at=at))
        binds += ["--bind", str(at), inside]
    for inside, path in {"/usr": "/usr", "/etc": "/etc", **shown}.items():
        binds += ["--ro-bind", path, inside]
    for path, target in merged_links():
        binds += ["--symlink", target, path]
    fence = [word for name in CAPABILITIES for word in ("--cap-add", f"CAP_{name}")]
    bwrap = [
        *("bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--hostname", "sandbox"),
        *("--die-with-parent", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/opt", "--tmpfs", "/private"),
        *("--perms", "0755", "--dir", "/slots"),
        *binds,
        *("--chdir", CHECKOUT),
        *("--ro-bind", str(compiled_server().parent), str(MARK / "server"), "--remount-ro", "/"),
        *("--cap-drop", "ALL", *fence, "--", *words),
    ]
    script = "\n".join(("set -e", *mounts, 'exec "$@"'))
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", *bwrap]
