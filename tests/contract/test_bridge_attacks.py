"""What an agent, what its children and its commands try, in each backend; and that the same attack works unsandboxed.

Numbers are those of docs/security.md. The control is the same file, run on this host as the user that runs the tests.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from programsmith.agents.bridge import PORT, PRIVATE, TREE
from programsmith.payload.verifier.model import FileEntry
from tests.contract.pairs import KINDS, LIMITS, SAMPLES, SHARES, agent_env, interpreter, pair
from tests.samples.gateways import running
from tests.samples.provider import KEY, Turn, provider

pytestmark = pytest.mark.attack
MESSAGING = "/tmp/cc-socks/agent.sock"
TASK = {
    1: "relay", 2: "address", 3: "names_by_udp", 103: "names_by_tcp", 4: "package", 5: "gateway_socket",
    105: "any_socket", 6: "abstract_socket", 7: "engine_socket", 8: "vsock", 9: "netlink", 109: "packet", 10: "ring",
    11: "secret", 12: "traces_victim", 112: "reads_victim", 212: "takes_descriptor", 312: "writes_memory",
    412: "agent_seen", 13: "namespaces", 14: "becomes_root", 15: "writes", 16: "preload", 17: "messaging_socket",
    18: "metadata", 19: "foreign_calls",
}  # fmt: skip
CHILD = {
    22: "named_server", 122: "interpreter_reaches", 23: "relay", 25: "gateway_socket", 125: "any_socket",
    26: "executes_own", 126: "loader_reaches", 27: "preloaded_reaches", 28: "executes_by_settings", 11: "secret",
    12: "traces_victim", 112: "reads_victim", 212: "takes_descriptor", 312: "writes_memory", 13: "namespaces",
    15: "writes", 2: "address", 3: "names_by_udp", 8: "vsock", 9: "netlink", 10: "ring", 134: "inherited_connection",
}  # fmt: skip
OWN = {24: "address", 124: "names_by_udp", 218: "metadata", 5: "gateway_socket", 6: "abstract_socket"}
ELSEWHERE = ("metadata",)
"""Attacks on what no host is asked for: their control has a network of its own, where it is planted."""


class Listeners:
    """What an attacker is after on this host: each answers whoever reaches it."""

    def __init__(self, folder: Path) -> None:
        self._open: list[socket.socket] = []
        self.abstract = uuid.uuid4().hex
        self.tcp = self._tcp(socket.AF_INET, own_address())
        self.tcp_6 = self._tcp(socket.AF_INET6, "::1")
        self.udp = self._udp(own_address())
        self.unix = str(folder / "engine.sock")
        self._stream(socket.AF_UNIX, "\0" + self.abstract)
        self._stream(socket.AF_UNIX, self.unix)
        os.chmod(self.unix, 0o777)
        self.messaging = str(folder / "messages" / "agent.sock")
        os.mkdir(folder / "messages")
        self._stream(socket.AF_UNIX, self.messaging)

    def _stream(self, family: int, at: Any) -> socket.socket:
        listener = socket.socket(family)
        self._open.append(listener)
        listener.bind(at)
        listener.listen(64)

        def answer(one: socket.socket) -> None:
            with one, contextlib.suppress(OSError):
                one.recv(10_000)
                one.sendall(b"HTTP/1.0 200 OK\r\n\r\nreached")

        def admit() -> None:
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

        threading.Thread(target=admit, daemon=True).start()
        return listener

    def _tcp(self, family: int, address: str) -> list[Any]:
        try:
            return list(self._stream(family, (address, 0)).getsockname())
        except OSError:
            return [address, 9]

    def _udp(self, address: str) -> list[Any]:
        listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._open.append(listener)
        listener.bind((address, 0))

        def answer() -> None:
            with contextlib.suppress(OSError):
                while True:
                    _, whom = listener.recvfrom(512)
                    if whom is None:  # shut
                        return
                    listener.sendto(b"answer", whom)

        threading.Thread(target=answer, daemon=True).start()
        return list(listener.getsockname())

    def close(self) -> None:
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def own_address() -> str:
    """An address of this host that is no loopback, where it has one: what a sandbox's network would lead to."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours:
        try:
            ours.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(ours.getsockname()[0])


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listeners]:
    listeners = Listeners(tmp_path_factory.mktemp("host"))
    yield listeners
    listeners.close()


def aims(host: Listeners, gateway: Path) -> dict[str, Any]:
    """What to attack, as every side of a sandbox is told."""
    return {
        "relay": ["127.0.0.1", PORT], "canary": host.tcp, "canary_6": host.tcp_6, "resolver": host.udp,
        "resolver_tcp": host.tcp, "gateway": str(gateway), "abstract": host.abstract, "top": "/",
        "engines": ["/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", host.unix],
        "known_sockets": [], "messaging": MESSAGING, "terces": KEY[::-1],
        "readable": ["/run", "/home", "/tmp", "/app", "/etc", "/dev/shm"], "scratch": "/tmp", "python": "python3",
    }  # fmt: skip


@pytest.fixture(scope="module", params=KINDS)
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, host: Listeners) -> dict[str, Any]:
    """Attack names to what they found, by side."""
    kind, folder = request.param, tmp_path_factory.mktemp("attacks")
    with provider(*[Turn(text="told")] * 2) as far, running(far.address) as gateway:
        to = aims(host, gateway.socket)
        foreign = {"foreign": f"{PRIVATE}/foreign", "library": f"{PRIVATE}/foreign.so", "victim": "assaulted"}
        written = ["/etc/ld.so.preload", "/etc/passwd", "/usr/bin/planted", "/run/bridge/shim", "/app/README"]
        sides = {
            "task": {
                "names": list(TASK.values()),
                "to": to | {"victim": "/run/bridge/serve", "agent_marks": ["assaulted", "bridge/relay"],
                            "written": [*written, f"{TREE}/bin/planted", f"{PRIVATE}/settings.json"]},
            },
            "child": {
                "names": list(CHILD.values()),
                "to": to | foreign | {"known_sockets": ["/run/line/commands", MESSAGING],
                                      "written": [*written, interpreter().decode(), "/run/line/planted"]},
            },
            "own": {"names": list(OWN.values()), "to": to},
            "turn": True,
        }  # fmt: skip
        files = [FileEntry(n.encode(), content=(SAMPLES / n).read_bytes()) for n in ("assaulted.py", "attacks.py")]
        files += [FileEntry(b"foreign", mode=0o755, content=Path(shutil.which("true") or "").read_bytes())]
        files += [FileEntry(b"foreign.so", mode=0o755, content=library().read_bytes())]
        with pair(kind, folder, gateway=gateway.socket) as (opened, plan):
            argv = (interpreter(), b"-I", b"-S", f"{PRIVATE}/assaulted.py".encode(), json.dumps(sides).encode())
            ended = opened.start(argv, env=agent_env(plan), cwd="/app", limits=LIMITS, own=SHARES, files=files).wait()
    first, _, last = ended.agent.stdout.decode().partition("\n")
    print(ended.agent.stderr.decode("utf-8", "backslashreplace"))
    assert (ended.agent.exit_code, ended.agent.limits_hit) == (0, frozenset()), ended
    told = json.loads(first)
    assert set(told["task"]) == set(TASK.values())
    assert set(told["child"]) == set(CHILD.values())
    return told | {
        "turned": json.loads(last),
        "refused": ended.refused,
        "keys": [asked.headers.get("x-api-key") for asked in far.asked],
    }


def library() -> Path:
    """A shared object that every process can load."""
    return next(p for p in Path("/usr/lib").glob("*-linux-gnu/libm.so.6"))


@pytest.fixture(scope="module")
def control(tmp_path_factory: pytest.TempPathFactory, host: Listeners) -> dict[str, Any]:
    """The same attacks on this host, in no sandbox."""
    folder, mark = tmp_path_factory.mktemp("control"), uuid.uuid4().hex
    foreign = folder / "foreign"
    shutil.copy(shutil.which("true") or "", foreign)
    files = [folder / name for name in ("ld.so.preload", "passwd", "shim")]
    (folder / "key").write_text(KEY)
    to = aims(host, Path(host.unix)) | {
        "relay": host.tcp, "top": str(Path(host.unix).parent), "messaging": host.messaging, "victim": mark,
        "agent_marks": [mark], "written": [str(f) for f in files], "readable": [str(folder)], "scratch": str(folder),
        "foreign": str(foreign), "library": str(library()), "python": sys.executable, "control": True,
    }  # fmt: skip
    code = "import ctypes, time; ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0); time.sleep(300)"
    victim = subprocess.Popen([sys.executable, "-c", code, mark])
    with socket.create_connection(tuple(host.tcp)) as kept:
        kept.set_inheritable(True)
        names = dict.fromkeys([*TASK.values(), *CHILD.values(), *OWN.values()])
        here = [name for name in names if name not in ELSEWHERE]
        words = [sys.executable, "-I", str(SAMPLES / "attacks.py"), json.dumps(to)]
        env = {**os.environ, "LD_PRELOAD": str(library())}
        found = _tried([*words, *here], env=env, pass_fds=(kept.fileno(),))
    victim.kill()
    victim.wait()
    planted = [sys.executable, "-I", str(SAMPLES / "metadata.py")]
    return found | _tried([*planted, *words, *ELSEWHERE])


def _tried(words: list[str], **how: Any) -> dict[str, Any]:
    done = subprocess.run(words, capture_output=True, timeout=120, **how)
    print(done.stderr.decode())
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.mark.parametrize("number", TASK)
def test_a_command_gets_nowhere(found: dict[str, Any], control: dict[str, Any], number: int) -> None:
    assert not found["task"][TASK[number]]
    assert control[TASK[number]]


@pytest.mark.parametrize("number", CHILD)
def test_a_child_of_the_agent_gets_nowhere(found: dict[str, Any], control: dict[str, Any], number: int) -> None:
    assert not found["child"][CHILD[number]]
    assert control[CHILD[number]]


@pytest.mark.parametrize("number", OWN)
def test_the_agent_itself_has_no_way_but_one(found: dict[str, Any], control: dict[str, Any], number: int) -> None:
    assert not found["own"][OWN[number]]
    assert control[OWN[number]]


def test_the_page_tells_where_each_attack_is_tried() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "security.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+)(?:\W(\d+))? \|.*\| (.+) \|$", page, re.MULTILINE)
    numbers = [n for first, last, _ in rows for n in range(int(first), int(last or first) + 1)]
    assert numbers == list(range(1, 41))
    files = [name for *_, told in rows for name in re.findall(r"`([\w/]+\.py)`", told)]
    assert [f for f in files if not (root / f).exists() and not (Path(__file__).parent / f).exists()] == []
    assert {n % 100 for n in (*TASK, *CHILD, *OWN)} >= {*range(1, 20), *range(22, 29)}


def test_what_is_refused_is_counted(found: dict[str, Any]) -> None:
    assert found["refused"] > 0


def test_an_agent_that_becomes_another_program_loses_the_way(found: dict[str, Any]) -> None:
    assert found["turned"] == {"relay": ""}


def test_the_agent_asks_its_model_with_our_key(found: dict[str, Any]) -> None:
    for status, body in (found["before"], found["after"]):
        assert (status, json.loads(body)["content"][0]["text"]) == (200, "told")
    assert found["keys"] == [KEY, KEY]
