"""Python oracles: the installed tree is the program, so a mutation is an edited copy and nothing is compiled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType

from programsmith.goldens.strength.batches import Batches
from programsmith.goldens.strength.copies import Copies
from programsmith.goldens.strength.operators import Mutation
from programsmith.goldens.strength.subject import Bench, Chosen, Unfit
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import unb64
from programsmith.records.golden import Golden
from programsmith.sources.tree import SourceTree


class PythonSubject:
    """Traces with a line tracer started in the oracle's place; mutates a copy of the tree per slot."""

    def __init__(self, bench: Bench, source: SourceTree, tree: Path, scratch: Path) -> None:
        self.tree = tree
        self._batches = Batches(launcher=bench.launcher, facts=bench.facts, limits=bench.limits, how=b"script")
        self._installed = dict(_installed(source, tree))
        self.sources = {path: (tree / inside).read_bytes() for inside, path in self._installed.items()}
        self._copies = Copies(tree, scratch)

    def trace(self, goldens: Sequence[Golden]) -> list[frozenset[str]]:
        """Lines that each case executes, told by a line tracer in the case's process."""
        told = self._batches.told(self.tree, goldens, lambda _: self._batches.limits, trace=True)
        return [frozenset(self._locked(line) for line in one["lines"]) - {""} for one in told]

    def answers(self, tree: Path, goldens: Iterator[Golden], limits: Chosen) -> Iterator[tuple[Golden, Result]]:
        """Several cases per launch, each in a fork of one interpreter."""
        return self._batches.answers(tree, goldens, limits)

    def _locked(self, line: str) -> str:
        path, _, number = line.rpartition(":")
        known = self._installed.get(unb64(path).decode("utf-8", "surrogateescape"))
        return f"{known}:{number}" if known else ""

    def scope_lines(self) -> int:
        """Lines that carry code, counted from the compiled files."""
        return sum(len(_code_lines(compile(text, path, "exec"))) for path, text in self.sources.items())

    def mutate(self, slot: int, mutation: Mutation) -> Path | Unfit:
        """Edit this slot's copy."""
        mutated = mutation.apply(self.sources[mutation.path])
        try:
            compile(mutated, mutation.path, "exec")
        except (SyntaxError, ValueError):
            return Unfit.DOES_NOT_BUILD
        inside = next(i for i, path in self._installed.items() if path == mutation.path)
        return self._copies.edit(slot, {Path(inside): mutated})

    def spent(self) -> float:
        """CPU seconds of all launches."""
        return sum(self._batches.spent)

    def close(self) -> None:
        """Remove the copies."""
        self._copies.close()


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
