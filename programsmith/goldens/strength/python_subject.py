"""Python oracles: the installed tree is the program, so a mutation is an edited copy and nothing is compiled."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import CodeType
from typing import Any

from programsmith.errors import InfraError
from programsmith.goldens.strength.operators import Mutation
from programsmith.goldens.strength.subject import Bench, Chosen
from programsmith.payload.coverage import batch
from programsmith.payload.verifier.environment import ORACLE, case_env
from programsmith.payload.verifier.launcher import Mount, Result
from programsmith.payload.verifier.model import Case, Limits, b64, decode_file, encode_case, unb64
from programsmith.records.golden import Golden
from programsmith.sources.tree import SourceTree

INTERPRETER = b"/usr/bin/python3"
PROGRAM = b"/opt/coverage/batch.py"
BATCH = 8
OVERRUNS = (signal.SIGALRM, signal.SIGXCPU, signal.SIGKILL)


class PythonSubject:
    """Traces with a line tracer started in the oracle's place; mutates a copy of the tree per slot."""

    def __init__(self, bench: Bench, source: SourceTree, tree: Path, scratch: Path) -> None:
        self.tree = tree
        self._bench = bench
        self._scratch = scratch
        self._installed = dict(_installed(source, tree))
        self.sources = {path: (tree / inside).read_bytes() for inside, path in self._installed.items()}
        self._copies: dict[int, tuple[Path, Path | None]] = {}

    def trace(self, goldens: Sequence[Golden]) -> list[frozenset[str]]:
        """Lines that each case executes, told by a line tracer in the case's process."""
        told = self._batch(self.tree, goldens, lambda _: self._bench.limits, trace=True)
        return [frozenset(self._locked(line) for line in one["lines"]) - {""} for one in told]

    def answers(self, tree: Path, goldens: Iterator[Golden], limits: Chosen) -> Iterator[tuple[Golden, Result]]:
        """Several cases per launch, each in a fork of one interpreter."""
        while chunk := list(islice(goldens, BATCH)):
            told = self._batch(tree, chunk, limits, trace=False)
            yield from zip(chunk, map(_result, told), strict=True)

    def _batch(self, tree: Path, goldens: Sequence[Golden], limits: Chosen, *, trace: bool) -> list[dict[str, Any]]:
        bench = self._bench
        cases = [_asked(golden, limits(golden)) for golden in goldens]
        command = (INTERPRETER, PROGRAM, ORACLE.encode(), bench.facts.program.encode())
        request = bench.request(Case(argv=()), tree, *command)
        wall = sum(case["wall"] for case in cases) + bench.limits.wall_seconds
        room = replace(
            bench.limits,
            cpu_seconds=wall,
            wall_seconds=wall,
            output_bytes=len(cases) * 4 * bench.limits.output_bytes,
        )
        mounts = (*request.mounts, Mount(source=str(Path(batch.__file__).parent), target="/opt/coverage"))
        stdin = json.dumps({"trace": trace, "cases": cases}).encode("ascii")
        result = bench.launcher.run(replace(request, limits=room, mounts=mounts, stdin=stdin, collect=False))
        told = [json.loads(line) for line in result.stdout.splitlines()]
        if result.fault or len(told) != len(cases):
            end = result.fault or result.stderr[-300:].decode("ascii", "backslashreplace")
            raise InfraError(f"strength: {len(told)} of {len(cases)} cases were run: {end}")
        return told

    def _locked(self, line: str) -> str:
        path, _, number = line.rpartition(":")
        known = self._installed.get(unb64(path).decode("utf-8", "surrogateescape"))
        return f"{known}:{number}" if known else ""

    def scope_lines(self) -> int:
        """Lines that carry code, counted from the compiled files."""
        return sum(len(_code_lines(compile(text, path, "exec"))) for path, text in self.sources.items())

    def mutate(self, slot: int, mutation: Mutation) -> Path | None:
        """Edit this slot's copy; a mutation that does not compile is None."""
        mutated = mutation.apply(self.sources[mutation.path])
        try:
            compile(mutated, mutation.path, "exec")
        except (SyntaxError, ValueError):
            return None
        copy, edited = self._copies.get(slot, (self._scratch / f"mutant-{slot}", None))
        if edited is None:
            shutil.copytree(self.tree, copy, symlinks=True)
        else:
            shutil.copy2(self.tree / edited, copy / edited)
        inside = Path(next(i for i, path in self._installed.items() if path == mutation.path))
        (copy / inside).write_bytes(mutated)
        self._copies[slot] = (copy, inside)
        return copy

    def close(self) -> None:
        """Remove the copies."""
        for copy, _ in self._copies.values():
            shutil.rmtree(copy, ignore_errors=True)


def _installed(source: SourceTree, tree: Path) -> Iterator[tuple[str, str]]:
    """(path in the tree, path in the source) of every Python file that was installed unchanged."""
    by_content: dict[bytes, list[str]] = {}
    for entry in source.files(b".py"):
        if entry.content.strip():
            by_content.setdefault(entry.content, []).append(entry.path.decode("utf-8", "surrogateescape"))
    for file in sorted(tree.rglob("*.py")):
        if file.is_file() and not file.is_symlink():
            same = by_content.get(file.read_bytes(), [])
            inside = file.relative_to(tree).as_posix()
            if same:
                yield inside, max(same, key=lambda path: _common_suffix(path, inside))


def _common_suffix(one: str, other: str) -> int:
    same = 0
    for a, b in zip(reversed(one.split("/")), reversed(other.split("/")), strict=False):
        if a != b:
            break
        same += 1
    return same


def _code_lines(code: CodeType) -> set[int]:
    lines: set[int] = set()
    stack = [code]
    while stack:
        current = stack.pop()
        lines.update(line for _, _, line in current.co_lines() if line)
        stack.extend(c for c in current.co_consts if isinstance(c, CodeType))
    return lines


def _asked(golden: Golden, limits: Limits) -> dict[str, Any]:
    """A case in the form that the batch program reads."""
    case = encode_case(golden.case)
    env = [[b64(name), b64(value)] for name, value in case_env(golden.case.env)]
    return {**case, "env": env, "cpu": limits.cpu_seconds, "wall": limits.wall_seconds}


def _result(told: dict[str, Any]) -> Result:
    """What the batch program told of one case. A signal of its limits is an overrun."""
    return Result(
        started=True,
        exit_code=told["exit_code"],
        signal=told["signal"],
        stdout=unb64(told["stdout"]),
        stderr=unb64(told["stderr"]),
        files=tuple(sorted(decode_file(entry) for entry in told["files"])),
        limits_hit=frozenset({"cpu"} if told["signal"] in OVERRUNS else ()),
    )
