"""The agent sandbox's plan: what its commands are, what it may execute and write, what it cannot be made of."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from programsmith.agents.bridge import PRIVATE, TREE, room
from programsmith.agents.bridge.line import Line, bound
from programsmith.agents.bridge.programs import Programs, programs
from programsmith.errors import InfraError, PrerequisiteError
from programsmith.payload.bridge import relay
from programsmith.payload.bridge.common import END, EXITED, HEAD
from programsmith.payload.verifier.launcher import Mount, Result, View
from programsmith.payload.verifier.model import Limits
from programsmith.payload.verifier.wire import Right
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes.base import Image, Sandbox, SandboxPlan

TOLD = b"/usr/bin\0sh\0ls\0\0/home/agent/bin\0own\0\0/usr/sbin\0\0"


def test_commands_are_by_folder() -> None:
    assert room.commands(TOLD) == {"/usr/bin": ("ls", "sh"), "/home/agent/bin": ("own",), "/usr/sbin": ()}


@pytest.mark.parametrize("told", [b"", b"usr/bin\0sh\0\0", b"/usr/bin\0../sh\0\0", b"/usr/bin\0\0"])
def test_what_is_no_list_of_commands_is_a_fault(told: bytes) -> None:
    with pytest.raises(InfraError):
        room.commands(told)


@pytest.mark.parametrize("figure", [3, 1024, 1 << 31])
def test_both_sandboxes_together_have_what_a_trial_has(figure: int) -> None:
    shares = Rulebook(None).load("limits")["harness"]
    whole = Limits(
        cpu_seconds=figure, wall_seconds=7, memory_bytes=figure, pids=figure, output_bytes=9,
        work_bytes=figure, work_files=figure,
    )  # fmt: skip
    agents, commands = room.split(whole, shares)
    assert set(shares) == set(Limits.__slots__) - {"wall_seconds", "output_bytes"}
    for name, share in shares.items():
        one, other = getattr(agents, name), getattr(commands, name)
        assert (min(one, other) > 0, one + other) == (True, figure), name
        assert abs(one - figure * share) <= 1, name
    assert (agents.wall_seconds, agents.output_bytes, commands.wall_seconds) == (7, 9, 7)


FEW = """
import resource, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
sys.path.insert(0, sys.argv[1])
from programsmith.payload.bridge.serve import Server
line, listener = (socket.socket(fileno=int(n)) for n in sys.argv[2:])
Server(line, listener, []).serve()
"""


def test_more_shims_than_the_server_has_descriptors_for_wait(tmp_path: Path) -> None:
    def ask(end: socket.socket) -> tuple[int, int]:
        strings = b"/usr/bin/true\0/\0true\0"
        end.settimeout(30)
        end.sendall(HEAD.pack(len(strings), 1, 0, 0o22, 0, 0))
        end.sendall(strings)
        return END.unpack(end.recv(END.size))  # type: ignore[return-value]

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, socket.socket(socket.AF_UNIX) as listener, contextlib.ExitStack() as shims:
        listener.bind(str(tmp_path / "s"))
        listener.listen(128)
        numbers = theirs.fileno(), listener.fileno()
        root = str(Path(room.__file__).parents[3])
        words = [sys.executable, "-I", "-S", "-c", FEW, root, *map(str, numbers)]
        with subprocess.Popen(words, pass_fds=numbers) as server:
            made = [shims.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(100)]
            for end in made:
                end.connect(str(tmp_path / "s"))
            told = [ask(made[0])]
            for end in made[:-1]:
                end.close()
            told.append(ask(made[-1]))
            ours.shutdown(socket.SHUT_RDWR)
            assert server.wait(30) == 0
    assert told == [(EXITED, 0)] * 2


def test_only_shims_and_the_tree_are_executed_and_only_shared_places_written() -> None:
    plan = SandboxPlan(view=Image(id="x"), workspace="/home/agent", writable=("/app/submission",))
    beside: Sandbox = None  # type: ignore[assignment] # not asked for anything
    made = room.agent_plan(plan, beside, TOLD, Path("/line"), Programs(folder=Path("/ours")))
    rights = {right: {path for r, path in made.fence if r is right} for right in Right}
    assert rights[Right.EXECUTE] == {"/run/bridge", TREE, *room.LOADERS}
    assert rights[Right.WRITE] == {PRIVATE, "/home/agent", "/app/submission", "/tmp", "/dev"}
    shown = {m.target for m in made.live}
    assert {"/usr/bin", "/usr/sbin", "/run/line"} <= shown
    assert "/home/agent/bin" not in shown  # a place that commands write: nothing there is executed by the agent anyway
    assert not any(m.source.startswith("/line") for m in room.task_plan(plan, Path("/other"), made_of()).live)


def made_of() -> Programs:
    return Programs(folder=Path("/ours"))


def test_an_image_takes_a_compiler_and_a_view_its_python() -> None:
    with pytest.raises(PrerequisiteError, match="gcc"):
        programs(Image(id="x"), "python")
    with pytest.raises(PrerequisiteError, match="no Python"):
        programs(View(mounts=(Mount(source="/usr", target="/usr"),)), "python")


def test_a_program_that_ends_before_it_is_ready_says_why(tmp_path: Path) -> None:
    running: Future[Result] = Future()
    running.set_result(Result(started=True, exit_code=3, stderr=b"no luck"))
    line = Line(tmp_path)
    with pytest.raises(InfraError, match="exit code 3: no luck"):
        line.accept(running)
    line.close()


def test_one_connection_is_all_that_a_line_takes(tmp_path: Path) -> None:
    line, running = Line(tmp_path), Future[Result]()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as ours:
        ours.connect(str(tmp_path / "line"))
        line.accept(running)
        assert not (tmp_path / "line").exists()
        ours.send(b"Fport: taken")
        with pytest.raises(InfraError, match="relay: port: taken"):
            line.ready("relay")
        line.hang_up()
        assert ours.recv(1) == b""
    running.set_result(Result())
    line.close()


def test_a_long_path_is_no_hindrance(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    bound(folder, "commands", socket.SOCK_STREAM).close()
    assert (folder / "commands").is_socket()


def test_a_side_that_has_hung_up_is_not_told_of_again_and_again() -> None:
    (ours, agent), (on, gateway), (told, tell) = socket.socketpair(), socket.socketpair(), socket.socketpair()
    with ours, agent, on, gateway, told, tell:
        ours.setblocking(False)
        on.setblocking(False)
        other: Any = SimpleNamespace()
        made = relay.Relay(other, other, other)
        made._pairs.append((relay.Way(ours, on), relay.Way(on, ours)))
        gateway.close()
        made.move()
        late = threading.Timer(0.2, tell.send, (b".",))
        late.start()
        assert made.await_events([told.fileno()]) == [told.fileno()]
        late.join()
