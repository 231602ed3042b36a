"""A Docker engine of a test's own, which may be killed, whose disk may be full and whose containers may lack memory.

In: a new folder, the images to begin with, from the engine at hand. Its data lie in memory, in a file system whose size
is what a test says. Everything goes at the end: containers, groups, mounts, processes, each by its own name or id.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import docker
from docker.errors import DockerException
from requests.exceptions import RequestException

ROOM = "4g"
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
CGROUPS = Path("/sys/fs/cgroup")


class OwnEngine:
    """The engine. `host` is its DOCKER_HOST."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, f"programsmith-own-{os.getpid()}"
        self.host = f"unix://{folder}/socket"
        self.data = folder / "data"
        self._running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start, or start again over what a killed one left. Raises RuntimeError with the end of its log.

        An engine waits 15 seconds for its own containerd, and no longer on a busy machine: it is tried thrice.
        """
        if not any(self._starts() for _ in range(3)):
            raise RuntimeError((self.folder / "log").read_text()[-1000:])

    def _starts(self) -> bool:
        """Whether it answers, once."""
        words = f"""setpriv --pdeathsig KILL setsid dockerd --host {self.host} --pidfile {self.folder}/pid
            --data-root {self.data} --exec-root {self.folder}/exec --storage-driver overlay2
            --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent /{self.name} --containerd-namespace {self.name}
            --containerd-plugins-namespace {self.name}-plugins --config-file {self.folder}/daemon.json --bridge=none
            --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false""".split()
        with (self.folder / "log").open("ab") as log:
            self._running = subprocess.Popen(words, env={**os.environ, "PATH": PATH}, stdout=log, stderr=log)
        until = time.monotonic() + 120
        while self._running.poll() is None and time.monotonic() < until:
            with contextlib.suppress(DockerException, RequestException, OSError), self.client() as client:
                client.ping()
                return True
            time.sleep(0.1)
        return False

    @contextlib.contextmanager
    def client(self) -> Iterator[docker.DockerClient]:
        with socket.socket(socket.AF_UNIX) as ours:
            ours.connect(str(self.folder / "socket"))  # the SDK leaves a socket open where nobody listens
        client = docker.DockerClient(base_url=self.host, version="1.41", timeout=600)
        try:
            yield client
        finally:
            client.close()

    def kill(self) -> None:
        """End the engine as if the machine had run out of memory: at once, its containers live on."""
        assert self._running is not None
        os.kill(self._running.pid, signal.SIGKILL)
        self._running.wait()

    def kill_shim(self, container: str) -> None:
        """End what stands between the engine and one container."""
        for pid in _processes("containerd-shim", container):
            os.kill(pid, signal.SIGKILL)

    def room(self, size: str) -> None:
        """Give its disk another size; `full` leaves not a byte."""
        if size == "full":
            used = os.statvfs(self.data)
            size = str((used.f_blocks - used.f_bfree) * used.f_frsize)
        subprocess.run(["mount", "-o", f"remount,size={size}", str(self.data)], check=True)

    def memory(self, limit: int) -> None:
        """Bound what all of its containers have together; -1 ends that."""
        places = [(CGROUPS / "memory" / self.name / "memory.limit_in_bytes", str(limit)),
                  (CGROUPS / self.name / "memory.max", "max" if limit < 0 else str(limit))]  # fmt: skip
        place, value = next((p, v) for p, v in places if p.exists())
        until = time.monotonic() + 30
        while time.monotonic() < until:
            with contextlib.suppress(OSError):  # busy while what is there does not fit
                place.write_text(value)
                return
            time.sleep(0.01)

    @contextlib.contextmanager
    def at_first(self, image: str, act: Callable[[str], None]) -> Iterator[None]:
        """Do something to the engine as soon as a container of the image runs."""
        done: list[str] = []
        with self.client() as client:
            stream = client.events(decode=True, filters={"type": "container", "event": "start"})

            def listen() -> None:
                with contextlib.suppress(DockerException, RequestException, OSError, ValueError):
                    for event in stream:
                        if event["Actor"]["Attributes"]["image"] == image:
                            done.append(event["Actor"]["ID"])
                            act(done[0])
                            return

            thread = threading.Thread(target=listen)
            thread.start()
            yield
            with contextlib.suppress(Exception):
                stream.close()
            thread.join(60)
        assert done, f"no container of {image} was started"

    def load(self, images: Iterable[Any]) -> None:
        """Take images over, with their tags."""
        with self.client() as client:
            for image in images:
                client.images.load(image.save(named=True))

    def stop(self) -> None:
        if self._running is not None and self._running.poll() is None:
            self._running.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._running.wait(60)
            self._running.kill()
            self._running.wait()
        left = [*_processes("containerd-shim", self.name), *_processes("containerd", f"{self.folder}/")]
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._clear()

    def _clear(self) -> None:
        for _ in range(100):
            if not _members(self.name):
                break
            for pid in _members(self.name):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
        for point in sorted({line.split()[4] for line in lines}, reverse=True):
            if point.startswith(f"{self.folder}/"):
                subprocess.run(["umount", "-l", point], check=False, capture_output=True)
        for group in _groups(self.name):
            with contextlib.suppress(OSError):
                group.rmdir()
        shutil.rmtree(self.folder, ignore_errors=True)


def _groups(name: str) -> list[Path]:
    """Control groups of that name and below, inner first."""
    tops = [p for p in (CGROUPS / name, *CGROUPS.glob(f"*/{name}")) if p.is_dir()]
    return [Path(at) for top in tops for at, _, _ in os.walk(top, topdown=False)]


def _members(name: str) -> list[int]:
    found: list[int] = []
    for group in _groups(name):
        with contextlib.suppress(OSError):
            found += map(int, (group / "cgroup.procs").read_text().split())
    return found


def _processes(program: str, word: str) -> list[int]:
    """Processes of a program that have the word in their command line."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            if os.path.basename(words[0]).startswith(program.encode()) and any(word.encode() in w for w in words):
                found.append(int(name))
    return found


@contextlib.contextmanager
def own_engine(folder: Path, images: Iterable[Any]) -> Iterator[OwnEngine]:
    """Such an engine, started and with the images. Raises OSError, CalledProcessError where this host has none."""
    engine = OwnEngine(folder)
    engine.data.mkdir()
    (folder / "daemon.json").write_text("{}")
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "none", str(engine.data)], check=True)
    try:
        engine.start()
        engine.load(images)
        yield engine
    finally:
        engine.stop()
