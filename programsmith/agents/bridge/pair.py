"""A pair of sandboxes: opened for a trial, started once with the unmodified agent, ended together.

In: the plan of the task sandbox, the agent's tree, the socket of the model gateway. Out: the task sandbox, to put and
take; an agent that runs, and how both sandboxes ended. When `wait` returns, every process of the trial is dead.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from programsmith.agents.bridge import room
from programsmith.agents.bridge.line import COMMANDS, Line, bound
from programsmith.agents.bridge.programs import Programs, programs
from programsmith.errors import InfraError
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.sandboxes import open_sandbox
from programsmith.sandboxes.base import Sandbox, SandboxPlan
from programsmith.sandboxes.scratch import scratch
from programsmith.sandboxes.shared import shared_root

_ASKS, _DENIED = b"C", b"X"
_CONNECT = 10.0  # seconds in which a gateway takes a connection
_SLACK = 60.0  # seconds that the task sandbox may outlive the agent's wall limit, which decides
_LISTING = Limits(
    cpu_seconds=60,
    wall_seconds=60,
    memory_bytes=256 << 20,
    pids=16,
    output_bytes=4 << 20,
    work_bytes=1 << 30,
    work_files=1 << 20,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How both sandboxes ended. `agent` is the agent's own exit, output and limits, `task` the limits of its commands.

    `refused` counts internet sockets, and connections to the relay, that somebody else than the agent wanted.
    `stopped` says that `stop` ended it; `unreached` is when the agent last wanted a way to its gateway and there was
    none, in seconds since the epoch.
    """

    agent: Result
    task: Result
    refused: int
    stopped: bool
    unreached: float | None = None


class Running:
    """An agent under way. Made by `Pair.start`."""

    def __init__(
        self, agent: Sandbox, line: Line, task_line: Line, running: tuple[Future[Result], Future[Result]]
    ) -> None:
        self._agent = agent
        self._lines = (line, task_line)
        self._running = running
        self._stopped = False
        self.refused = 0
        self.unreached: float | None = None

    def broker(self, gateway: Path | None) -> None:
        """Answer the relay until it is gone: a way to the gateway for each connection of the agent."""
        line = self._lines[0]

        def answer(said: bytes) -> None:
            if said == _DENIED:
                self.refused += 1
            elif said == _ASKS:
                with contextlib.ExitStack() as opened:
                    ways = _ways(opened, gateway)
                    self.unreached = self.unreached if ways else time.time()
                    line.send(b"C", *(way.fileno() for way in ways))

        line.serve(answer)
        self._hang_up()  # commands may hold the agent's streams open, for whose end its sandbox waits

    def stop(self) -> None:
        """End both sandboxes now. Idempotent; from any thread."""
        self._stopped = True
        self._hang_up()

    def _hang_up(self) -> None:
        for line in self._lines:
            line.hang_up()

    def wait(self) -> Ended:
        """Wait until the agent has ended, then end its commands: every process is dead then. Raises InfraError."""
        agent, task = self._running
        try:
            agent.exception()
        finally:
            self._hang_up()
        return Ended(
            agent=agent.result(),
            task=task.result(),
            refused=self.refused,
            stopped=self._stopped,
            unreached=self.unreached,
        )

    def take(
        self, at: str = room.PRIVATE, *, max_files: int, max_bytes: int, cut: bool = False
    ) -> tuple[FileEntry, ...]:
        """What lies in the agent's private place, after its end. Raises InputError past a cap, or `cut`."""
        return self._agent.take(at, max_files=max_files, max_bytes=max_bytes, cut=cut)


def _ways(opened: contextlib.ExitStack, gateway: Path | None) -> list[socket.socket]:
    """A socket that is connected to the gateway; none where there is none, or this process has no descriptor left."""
    if gateway is None:
        return []
    try:
        way = opened.enter_context(socket.socket(socket.AF_UNIX))
        way.settimeout(_CONNECT)
        way.connect(str(gateway))
    except OSError:
        return []
    return [way]


class Pair:
    """Both sandboxes of a trial. Made by `open_pair`."""

    def __init__(
        self, plan: SandboxPlan, tree: Path, gateway: Path | None, withheld: Sequence[str], folder: Path
    ) -> None:
        self._programs: Programs = programs(plan.view)
        self._plan, self._tree, self._gateway = plan, tree, gateway
        self._withheld = tuple(os.fsencode(p) for p in (*room.WITHHELD, *withheld))
        self._folders = {name: folder / name for name in ("task", "agent")}
        for place in self._folders.values():
            place.mkdir(mode=0o755)
        self._lines = Line(self._folders["task"]), Line(self._folders["agent"])
        self._threads = ThreadPoolExecutor(3)
        self._running: Running | None = None
        self._agent: Sandbox | None = None
        self.task: Sandbox = open_sandbox(room.task_plan(plan, self._folders["task"], self._programs))

    def start(
        self,
        argv: tuple[bytes, ...],
        *,
        env: tuple[tuple[bytes, bytes], ...],
        cwd: str,
        limits: Limits,
        own: Mapping[str, float],
        files: Iterable[FileEntry] = (),
    ) -> Running:
        """Start the agent; once. `argv[0]` is a path below TREE, and the process that it becomes alone has a model.

        `env` is its whole environment, `files` go to PRIVATE; `limits` are those of both sandboxes together, of which
        the agent's has the shares of `own`. Raises InfraError, PrerequisiteError.
        """
        if self._running:
            raise InfraError("a pair of sandboxes is for one agent")
        task_line, line = self._lines
        agents, commands = room.split(limits, own)
        try:
            plan = room.agent_plan(self._plan, self.task, self._names(), self._folders["agent"], self._programs)
            served = self._serve(task_line, commands, agents)
            self._agent = open_sandbox(room.with_tree(plan, self._tree, env))
            self._agent.put(files, room.PRIVATE)
            words = (*self._programs.words("relay"), str(room.PORT).encode(), *argv)
            ran = self._threads.submit(self._agent.run, words, cwd=cwd, limits=agents, beside=commands)
            line.accept(ran)
            line.ready("relay")
        except BaseException:
            task_line.hang_up()
            line.hang_up()
            raise
        self._running = Running(self._agent, line, task_line, (ran, served))
        served.add_done_callback(lambda _: line.hang_up())
        self._threads.submit(self._running.broker, self._gateway)
        line.send(b"G")
        return self._running

    def _names(self) -> bytes:
        """The task's commands, as its sandbox tells them."""
        words = (*self._programs.words("serve"), b"names", *room.search_folders(self._plan.env))
        told = self.task.run(words, cwd=self._plan.workspace, limits=_LISTING)
        if told.exit_code != 0:
            raise InfraError(f"listing the task sandbox's commands: {told.stderr[-400:]!r}")
        return told.stdout

    def _serve(self, line: Line, limits: Limits, agents: Limits) -> Future[Result]:
        """Start the server of commands in the task sandbox; `agents` are the limits of the other one."""
        words = (*self._programs.words("serve"), *self._withheld)
        longer = replace(limits, wall_seconds=limits.wall_seconds + _SLACK)
        with contextlib.closing(bound(self._folders["agent"], COMMANDS, socket.SOCK_STREAM)) as listener:
            served = self._threads.submit(self.task.run, words, cwd=self._plan.workspace, limits=longer, beside=agents)
            line.accept(served)
            line.send(b"L", listener.fileno())
            line.ready("server of commands")
        return served

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        """End and remove everything."""
        if self._running:
            self._running.stop()
        self._threads.shutdown()
        for line in self._lines:
            line.close()
        for sandbox in filter(None, (self._agent, self.task)):
            sandbox.close()


@contextmanager
def open_pair(plan: SandboxPlan, *, tree: Path, gateway: Path | None, withheld: Sequence[str] = ()) -> Iterator[Pair]:
    """Both sandboxes of a trial for the time of the block.

    `plan` is the task sandbox's, `tree` the agent's own programs on this host, `gateway` the socket of the trial's
    gateway or None, `withheld` patterns of variables that no command gets. Raises InfraError, PrerequisiteError.
    """
    with scratch("line", shared_root()) as closed:  # to this host's other users, who could open what lies below
        folder = closed / "line"
        folder.mkdir()
        folder.chmod(0o755)
        with Pair(plan, tree, gateway, withheld, folder) as pair:
            yield pair
