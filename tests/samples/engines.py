"""Servers of a test's own: a registry, and an engine that has no image. Each has a folder, and ends with its test."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

USER, WORD = "tester", "word-of-the-tester"
HASHED = "$2b$05$abcdefghijklmnopqrstuu68S6BgrVXmvYrXq7xzyVq72m9cSmoNW"
SENDS = re.compile(r'"(POST|PATCH|PUT|DELETE) (\S+)')
PATIENCE = 60


class Registry:
    """A registry on this machine's loopback, which wants a password where it is `closed`."""

    def __init__(self, folder: Path, *, closed: bool = False) -> None:
        if not shutil.which("docker-registry"):
            pytest.skip("no registry to push to; run: apt-get install -y docker-registry")
        self.folder = folder
        self.port = _free_port()
        self.host = f"127.0.0.1:{self.port}"
        self.log = folder / "log"
        folder.mkdir()
        (folder / "users").write_text(f"{USER}:{HASHED}\n")
        users = {"auth": {"htpasswd": {"realm": "tests", "path": str(folder / "users")}}} if closed else {}
        storage = {"filesystem": {"rootdirectory": str(folder / "data")}}
        settings = {"version": "0.1", "storage": storage, "http": {"addr": self.host}, **users}
        (folder / "settings.yml").write_text(json.dumps(settings))
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as log:
            command = ["docker-registry", "serve", str(self.folder / "settings.yml")]
            self._process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        _until(lambda: _listens(self.port), self._process, self.log)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def sent(self) -> list[str]:
        """What was sent so far and not only asked for, as method and path."""
        return [" ".join(found) for found in SENDS.findall(self.log.read_text("utf-8", "replace"))]

    def credentials(self, word: str) -> Path:
        """A configuration of the engine's client with a password for this registry."""
        folder = self.folder / f"client-{word}"
        folder.mkdir(exist_ok=True)
        auth = base64.b64encode(f"{USER}:{word}".encode()).decode()
        (folder / "config.json").write_text(json.dumps({"auths": {self.host: {"auth": auth}}}))
        return folder


@contextmanager
def registry(folder: Path, *, closed: bool = False) -> Iterator[Registry]:
    made = Registry(folder, closed=closed)
    try:
        yield made
    finally:
        made.stop()


@contextmanager
def empty_engine() -> Iterator[str]:
    """An engine that has nothing and no network, as DOCKER_HOST names it; its sockets want a folder of a short name."""
    if not shutil.which("dockerd") or os.geteuid() != 0:
        pytest.skip("no engine can be started; run as root: apt-get install -y docker.io")
    folder = Path(tempfile.mkdtemp(prefix="programsmith."))
    (folder / "daemon.json").write_text("{}")
    name = f"programsmith-test-{os.getpid()}"
    command = [
        "dockerd", "--host", f"unix://{folder}/socket", "--pidfile", f"{folder}/pid", "--data-root", f"{folder}/data",
        "--exec-root", f"{folder}/exec", "--exec-opt", "native.cgroupdriver=cgroupfs", "--cgroup-parent", f"/{name}",
        "--containerd-namespace", name, "--containerd-plugins-namespace", f"{name}-plugins", "--config-file",
        f"{folder}/daemon.json", "--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false",
        "--ip-masq=false", "--storage-driver", _driver(),
    ]  # fmt: skip
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        _until(lambda: _answers(folder / "socket"), process, folder / "log")
        yield f"unix://{folder}/socket"
    finally:
        process.terminate()
        process.wait(PATIENCE)
        with suppress(OSError, ValueError):
            os.kill(int((folder / "exec/containerd/containerd.pid").read_text()), signal.SIGKILL)
        for line in reversed(Path("/proc/self/mountinfo").read_text().splitlines()):
            if line.split()[4].startswith(f"{folder}/"):
                subprocess.run(["umount", "-l", line.split()[4]], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _answers(place: Path) -> bool:
    """Whether an engine serves there: its socket is there long before, and what knocks then is turned away."""
    with suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect(str(place))
        client.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
        return b" 200 " in client.recv(64)
    return False


def _driver() -> str:
    """The storage driver of the engine that the tests use: what works for it works here."""
    from programsmith.sandboxes.engine import engine

    return str(engine().info()["Driver"])


def _free_port() -> int:
    with socket.socket() as ours:
        ours.bind(("127.0.0.1", 0))
        return int(ours.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as ours:
        return ours.connect_ex(("127.0.0.1", port)) == 0


def _until(answers, process: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while not answers():
        assert process.poll() is None, log.read_text("utf-8", "replace")[-2000:]
        assert time.monotonic() < end, log.read_text("utf-8", "replace")[-2000:]
        time.sleep(0.05)
