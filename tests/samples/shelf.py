"""A store for tests, and a writer that dies: `python shelf.py ROOT KEY FOLDER WHEN` publishes FOLDER and is killed at
the WHEN-th object that it puts; 0 lets it end."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from programsmith.store.backend import Namespace
from programsmith.store.cache import ActionCache, Made
from programsmith.store.directory import Directory
from programsmith.store.keys import Keys
from programsmith.store.leases import Leases

STORE, WRITER = b"s" * 32, b"w" * 32
OWN = Keys(store=STORE, writer=WRITER)


class Dying(Directory):
    """A directory whose process is killed in the middle of the `when`-th put."""

    def __init__(self, root: Path, when: int) -> None:
        super().__init__(root)
        self.when = when

    def put(self, space: Namespace, name: str, content: bytes) -> None:
        """Put, or leave a draft and die."""
        self.when -= 1
        if self.when == 0:
            self.tmp.mkdir(parents=True, exist_ok=True)
            (self.tmp / "draft").write_bytes(content[: len(content) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        super().put(space, name, content)


def cache(root: Path, keys: Keys = OWN, when: int = 0) -> ActionCache:
    """The store at `root`."""
    return ActionCache(Dying(root, when) if when else Directory(root), keys, Leases(root / "leases"))


def made(artifacts: dict[str, Path], *, spec: str = "toy", sealed: bool = False) -> Made:
    """What a block made."""
    return Made(
        block="wash",
        spec=spec,
        outcome={"word": "pass"},
        artifacts=artifacts,
        open=lambda name: not sealed,
        outcome_open=not sealed,
    )


if __name__ == "__main__":
    root, key, folder, when = sys.argv[1:]
    sys.exit(cache(Path(root), when=int(when)).publish(key, made({"r/clean/": Path(folder)})))
