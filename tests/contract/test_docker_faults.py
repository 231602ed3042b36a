"""An engine that goes away or refuses is infra, never a result; what it still holds is removed once it is back."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from programsmith.errors import InfraError
from programsmith.sandboxes import open_sandbox
from programsmith.sandboxes.base import Image, SandboxPlan
from programsmith.sandboxes.docker_reaper import reap
from programsmith.sandboxes.engine import engine
from tests.contract.backends import Docker, base_image
from tests.contract.launches import ENV, limits

pytestmark = [
    pytest.mark.docker,
    pytest.mark.filterwarnings(  # the engine's client leaves a socket to the collector where a connection fails
        "ignore::pytest.PytestUnraisableExceptionWarning"
    ),
]


class Wire:
    """A socket that leads to the engine until it is cut; then every connection over it breaks and none can be made."""

    def __init__(self, path: Path, target: str) -> None:
        self.target = target
        self._open: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(os.fspath(path))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                ours, theirs = self._listener.accept()[0], socket.socket(socket.AF_UNIX)
                theirs.connect(self.target)
                self._open += [ours, theirs]
                threading.Thread(target=self._carry, args=(ours, theirs), daemon=True).start()

    @staticmethod
    def _carry(ours: socket.socket, theirs: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), selectors.DefaultSelector() as select:
            for source, sink in ((ours, theirs), (theirs, ours)):
                select.register(source, selectors.EVENT_READ, sink)
            while select.get_map():
                for key, _ in select.select():
                    source, part = key.fileobj, key.fileobj.recv(1 << 16)  # type: ignore[union-attr]
                    if part:
                        key.data.sendall(part)
                    else:
                        select.unregister(source)
                        key.data.shutdown(socket.SHUT_WR)

    def cut(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # a thread that accepts would take one more
        self._listener.close()
        for end in self._open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@pytest.fixture
def wire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    base_image("python")
    host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if not host.startswith("unix://"):
        pytest.skip(f"{host} is no unix socket; run: export DOCKER_HOST=unix:///var/run/docker.sock")
    made = Wire(tmp_path / "wire", host.removeprefix("unix://"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/wire")
    engine.cache_clear()
    yield made
    made.cut()
    monkeypatch.undo()
    engine.cache_clear()


def test_an_engine_that_goes_away_in_a_run_is_infra_and_is_cleared_when_it_is_back(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    back, before = f"unix://{wire.target}", Docker().traces()
    sandbox = open_sandbox(SandboxPlan(view=Image(id=str(base_image("python").id)), env=ENV))
    timer = threading.Timer(4, wire.cut)
    timer.start()
    try:
        with pytest.raises(InfraError, match="Docker engine"):
            sandbox.run(
                (b"python3", b"-c", b"import time; time.sleep(60)"), cwd="/build", limits=limits(wall_seconds=50)
            )
    finally:
        timer.join()
    with pytest.raises(InfraError, match="Docker engine"):
        sandbox.close()
    monkeypatch.setenv("DOCKER_HOST", back)
    engine.cache_clear()
    assert Docker().traces() > before
    sandbox.close()
    assert Docker().traces() == before


def test_an_engine_that_is_gone_before_a_sandbox_is_infra(wire: Wire) -> None:
    root = Image(id=str(base_image("python").id))
    wire.cut()
    with pytest.raises(InfraError, match="Docker engine"):
        open_sandbox(SandboxPlan(view=root, env=ENV))


def test_an_image_that_is_gone_is_infra_and_nothing_is_left() -> None:
    base_image("python")
    before = Docker().traces()
    with pytest.raises(InfraError, match="creating a container"):
        open_sandbox(SandboxPlan(view=Image(id="sha256:" + "0" * 64), env=ENV))
    assert Docker().traces() == before
    reap()
    assert Docker().traces() == before
