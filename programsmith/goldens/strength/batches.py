"""Run a pool's cases many to a launch: the batch program of payload/coverage, started beside the oracle.

In: goldens and a tree that is shown at /opt/oracle. Out: what each case did. A case that ends the batch program itself,
by a signal or a limit of the launch, counts as an overrun; any other end of it is a failure of ours (InfraError).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from programsmith.errors import InfraError
from programsmith.goldens.strength.subject import Chosen
from programsmith.payload.coverage import batch
from programsmith.payload.verifier.environment import BASE_ENV, ORACLE, case_env
from programsmith.payload.verifier.launcher import Launcher, Mount, Request, Result
from programsmith.payload.verifier.model import Limits, b64, decode_file, encode_case, unb64
from programsmith.records.golden import Golden
from programsmith.records.lock import OracleFacts

INTERPRETER = "/usr/bin/python3"
PROGRAM = b"/opt/coverage/batch.py"
FIRST, GROWTH, MOST = 3, 4, 48  # cases of the first launch, and how later ones grow: most mutants die early


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """What starts and measures one oracle.

    `how` is the batch program's word for what the oracle is; `options` are the interpreter's; `hook` is what the
    environment of a traced program has besides, so that it tells its lines; a case may map `addresses` times the memory
    that its limits say, for what reserves more than it uses. `spent` is the CPU time of each launch so
    far, in seconds.
    """

    launcher: Launcher
    facts: OracleFacts
    limits: Limits
    how: bytes
    options: tuple[bytes, ...] = ()
    hook: tuple[tuple[bytes, bytes], ...] = ()
    addresses: int = 1
    spent: list[float] = field(default_factory=list)

    def answers(self, tree: Path, goldens: Iterator[Golden], limits: Chosen) -> Iterator[tuple[Golden, Result]]:
        """Run cases in order; they are drawn from the iterator a launch at a time."""
        size = FIRST
        while chunk := list(islice(goldens, size)):
            told = [_result(one) for one in self.told(tree, chunk, limits)]
            yield from zip(chunk, told, strict=True)
            size = min(MOST, size * GROWTH)

    def told(
        self, tree: Path, goldens: Sequence[Golden], limits: Chosen, *, trace: bool = False
    ) -> Iterator[dict[str, Any]]:
        """What the batch program tells of each case, in order."""
        rest = list(goldens)
        while rest:
            result = self._launch(tree, [_asked(g, self._roomy(limits(g))) for g in rest], trace=trace)
            lines = result.stdout.splitlines()[: result.stdout.count(b"\n")]
            yield from map(json.loads, lines)
            if len(lines) < len(rest):
                if result.fault or trace or not (result.signal or result.limits_hit):
                    why = result.fault or result.stderr[-300:].decode("ascii", "backslashreplace")
                    raise InfraError(f"strength: {len(lines)} of {len(rest)} cases were run: {why}")
                yield _LOST
            rest = rest[len(lines) + 1 :]

    def _roomy(self, limits: Limits) -> Limits:
        return replace(limits, memory_bytes=self.addresses * limits.memory_bytes)

    def _launch(self, tree: Path, cases: list[dict[str, Any]], *, trace: bool) -> Result:
        wall = sum(case["wall"] for case in cases) + self.limits.wall_seconds
        room = replace(
            self.limits,
            cpu_seconds=wall,
            wall_seconds=wall,
            memory_bytes=2 * self.limits.memory_bytes,
            output_bytes=len(cases) * 4 * self.limits.output_bytes,
        )
        words = (INTERPRETER.encode(), *self.options, PROGRAM, self.how, ORACLE.encode(), self.facts.program.encode())
        hook = [[b64(name), b64(value)] for name, value in self.hook]
        asked = {"trace": trace, "name": b64(self.facts.tool.encode()), "hook": hook, "cases": cases}
        mounts = (
            Mount(source=str(tree), target=ORACLE),
            Mount(source=str(Path(batch.__file__).parent), target="/opt/coverage"),
        )
        request = Request(program=INTERPRETER, argv=words, env=BASE_ENV, limits=room, mounts=mounts, collect=False)
        result = self.launcher.run(replace(request, stdin=json.dumps(asked).encode("ascii")))
        self.spent.append(result.cpu_seconds)
        return result


_LOST: dict[str, Any] = {"exit_code": None, "signal": None, "overrun": True, "stdout": "", "stderr": "", "files": []}


def _asked(golden: Golden, limits: Limits) -> dict[str, Any]:
    """A case in the form that the batch program reads."""
    return {
        **encode_case(golden.case),
        "env": [[b64(name), b64(value)] for name, value in case_env(golden.case.env)],
        "cpu": limits.cpu_seconds,
        "wall": limits.wall_seconds,
        "memory": limits.memory_bytes,
        "output": limits.output_bytes,
    }


def _result(told: dict[str, Any]) -> Result:
    """What the batch program told of one case. An overrun has hit a limit, whichever it was."""
    return Result(
        started=True,
        exit_code=told["exit_code"],
        signal=told["signal"],
        stdout=unb64(told["stdout"]),
        stderr=unb64(told["stderr"]),
        files=tuple(sorted(decode_file(entry) for entry in told["files"])),
        limits_hit=frozenset({"cpu"} if told["overrun"] else ()),
    )
