"""A fleet of specs that are up to date, laid down without running a block.

In: a folder, names, the outcome that each spec has, its size. Out: a project whose state the engine itself takes for
its own: records, artifacts, exports and databases are made by the engine's plan, slices and state, only the content of
artifacts is made up. Out, too, the same graph as plain files: each task with what it reads and writes, for other tools.
"""

from __future__ import annotations

import functools
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from doit.dependency import Dependency, JSONCodec

from programsmith.bundle.dataset import SHELVES
from programsmith.compiler.compile import Compiler
from programsmith.compiler.passes import turn_of, walk_of
from programsmith.compiler.paths import DIST, Folder, Project
from programsmith.compiler.slices import Steady, json_digest
from programsmith.compiler.slices import field as slice_field
from programsmith.compiler.state import LAST_KEY, Database
from programsmith.compiler.tasks import Attempt, task
from programsmith.compiler.turn import Subject, Turn
from programsmith.records import codec
from programsmith.records.outcome import Record, Word
from programsmith.rulebook.load import Rulebook, packaged_rules

CASE = ("cmd", "stdin", "expected_stdout", "expected_stderr", "expected_exit")
OLD, NEW = 1_700_000_000, 1_700_100_000
"""When inputs and outputs were last written, for tools that compare times."""
SPEC = "spec."
SOLVER = "specs/solvers/solver.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much a spec holds: files of its source, public cases of its bundle, other files of it, trials."""

    source: int = 20
    cases: int = 40
    others: int = 30
    trials: int = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One task of the graph: its files, and the folders among what it writes."""

    spec: str
    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    folders: tuple[str, ...] = ()


@dataclass(slots=True)
class Fleet:
    """What was laid down. Paths of nodes are relative to the project's root."""

    project: Project
    names: list[str] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)

    @property
    def files(self) -> int:
        """Files that tasks read and write."""
        return len({path for node in self.nodes for path in (*node.reads, *node.writes)})


class Quick(Database):
    """A database that need not survive a power cut while it is made."""

    def _connect(self):  # noqa: ANN202
        connection = super()._connect()
        connection.execute("pragma synchronous = off")
        return connection


ENDS: Mapping[str, Mapping[str, Word]] = {
    "ship": {"gate": Word.SHIP},
    "draft": {"gate": Word.DRAFT},
    "shelve_easy": {"gate": Word.SHELVE_EASY},
    "shelve_hard": {"gate": Word.SHELVE_HARD},
    "drop": {"gate": Word.DROP},
    "parked": {"gate": Word.PARKED},
    "reject": {"ingest": Word.REJECT, "gate": Word.DROP},
}
"""Outcome to the words that lead there; a block that is not named says the first word that goes on."""


def lay(root: Path, outcomes: Mapping[str, str], size: Size) -> Fleet:
    """Lay down a project with a spec of each name that ended with its outcome."""
    shutil.copytree(packaged_rules(), root / "rules", ignore=shutil.ignore_patterns("schema"))
    for rule in (root / "rules").rglob("*"):
        os.utime(rule, (OLD, OLD))
    rules = functools.cache(Rulebook)
    compiler = Compiler(rules=rules).over(Steady)
    fleet = Fleet(Project(root))
    (root / "specs" / "solvers").mkdir(parents=True, exist_ok=True)
    _write(root / SOLVER, b"print('solves')\n", OLD)
    firsts: dict[str, list[Node]] = {}
    for name, outcome in outcomes.items():
        fleet.names.append(name)
        if outcome in firsts:
            fleet.nodes += _another(fleet.project, compiler, firsts[outcome], name)
        else:
            firsts[outcome] = list(_first(fleet.project, compiler, name, outcome, size))
            fleet.nodes += firsts[outcome]
    return fleet


def _another(project: Project, compiler: Compiler, nodes: Sequence[Node], name: str) -> Iterator[Node]:
    """A spec like the first of its outcome, whose tasks are `nodes`, under a name of its own."""
    first = nodes[0].spec
    spec = project.root / "specs" / f"{first}.yaml"
    path = spec.with_name(f"{name}.yaml")
    _write(path, spec.read_bytes().replace(first.encode(), name.encode()), OLD)
    for folder in (project.root / "specs", project.cache, *(project.dist / shelf for shelf in SHELVES)):
        if (folder / first).is_dir():
            subprocess.run(["cp", "-a", folder / first, folder / name], check=True)
    project.folder(name).database.unlink()
    _restate(compiler.subject(project, path), project.folder(first))
    for node in nodes:
        reads, writes, folders = (
            tuple(path.replace(first, name) for path in paths) for paths in (node.reads, node.writes, node.folders)
        )
        yield Node(spec=name, name=node.name, reads=reads, writes=writes, folders=folders)


def _restate(subject: Subject, first: Folder) -> None:
    """The state of the first spec as this one's: its own spec fields, no word of when its files were written."""
    known = Database(str(first.database), JSONCodec())
    state = Quick(str(subject.folder.database), JSONCodec())
    with sqlite3.connect(first.database) as rows:
        tasks = [name for (name,) in rows.execute("select name from task")]
    for task_name in tasks:
        values = known.get(task_name, "_values_:")
        for cause in [cause for cause in values["slice"] if cause.startswith(SPEC)]:
            values["slice"][cause] = json_digest(slice_field(subject.values, cause.removeprefix(SPEC)))
        values["targets"] = {target: ["", content] for target, (_, content) in values["targets"].items()}
        own = task_name.replace(first.name, subject.folder.name, 1)
        state.set(own, "_values_:", values)
        for key in ("checker:", LAST_KEY):
            state.set(own, key, known.get(task_name, key))
    state.dump()


def _first(project: Project, compiler: Compiler, name: str, outcome: str, size: Size) -> Iterator[Node]:
    source = project.root / "specs" / name
    source.mkdir()
    for number in range(size.source):
        _write(source / f"part{number:03}.py", f"print({number})\n".encode() * 20, OLD)
    tries = f"rollouts: [{{agent: scripted, script: {SOLVER}, trials: {size.trials}}}]\n"
    text = f"version: 1\nname: {name}\nsource: {{path: specs/{name}}}\ntask: {{target_languages: [python]}}\n"
    path = project.root / "specs" / f"{name}.yaml"
    _write(path, (text + ("" if outcome == "draft" else tries)).encode(), OLD)
    subject = compiler.subject(project, path)
    state = Dependency(Quick, str(subject.folder.database))
    walk = walk_of(subject, compiler.steps)
    known: dict[str, tuple[str, ...]] = {}
    while due := walk.due():
        for one in due:
            turn = turn_of(subject, walk, one)
            record = _settle(turn, outcome, size)
            made = task(Attempt(turn))
            made.save_extra_values()
            state.save_success(made)
            walk.settle(one, record)
            yield _node(turn, known)
        walk.advance()
    state.close()


def _settle(turn: Turn, outcome: str, size: Size) -> Record:
    """Write what the turn would have made, and its record."""
    step, subject = turn.step, turn.subject
    word = ENDS[outcome].get(step.block) or next(w for w in step.says if subject.goes_on(step.block, w))
    if subject.goes_on(step.block, word) or step.closes:
        for artifact, path in turn.outputs.items():
            _make(artifact, path, outcome, turn.step.block, size)
    record = Record(
        block=step.block, outcome=word, reason="laid down", evidence={}, inputs=turn.artifacts(), seconds=1.0
    )
    turn.record.parent.mkdir(parents=True, exist_ok=True)
    codec.dump(turn.record, record)
    os.utime(turn.record, (NEW, NEW))
    return record


def _make(artifact: str, path: Path, outcome: str, about: str, size: Size) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if artifact == "verdict.json":
        codec.dump(path, {"outcome": outcome, "revision": 0, "reasons": []})
        os.utime(path, (NEW, NEW))
    elif not artifact.endswith("/"):
        _write(path, f"{about} {artifact}\n".encode() * 40, NEW)
    else:
        for name in _bundle(size, exported=artifact == DIST):
            inner = path / name
            inner.parent.mkdir(parents=True, exist_ok=True)
            _write(inner, f"{about} {name}\n".encode(), NEW)
        for folder, _, _ in os.walk(path, topdown=False):
            os.utime(folder, (NEW, NEW))


def _bundle(size: Size, *, exported: bool) -> Iterator[str]:
    for number in range(size.cases):
        yield from (f"environment/app/cases/c{number:015x}/{name}" for name in CASE)
    yield from (f"tests/verifier/part{number:02}.py" for number in range(size.others))
    yield from ("instruction.md", "task.toml", *(["provenance.json"] if exported else []))


def _node(turn: Turn, known: dict[str, tuple[str, ...]]) -> Node:
    """The turn as files. The first reader of a folder reads all its files, the others what says that it was made."""
    root = turn.subject.folder.project.root
    record = _short(turn.record, root)
    reads = [_short(path, root) for path in turn.subject.files if turn.step.spec]
    reads += [f"rules/{name}" for name in map(_rule, turn.step.rules)]
    for name, path in turn.inputs.items():
        reads += known.get(name, ()) or (_short(path, root),)
        if name.endswith("/"):
            known[name] = known[name][:1]
    if "source" in turn.step.spec:
        reads += [_short(path, root) for path in sorted((root / "specs" / turn.subject.folder.name).iterdir())]
    reads += [known[f"record {name}"][0] for name in turn.records]
    writes, folders = [record], []
    for name, path in turn.outputs.items():
        inner = [_short(file, root) for file in sorted(path.rglob("*")) if file.is_file()]
        if path.is_dir():
            folders.append(_short(path, root))
        writes += inner or ([_short(path, root)] if path.exists() else [])
        known[name] = (record, *inner) if inner else ()
    key = f"{turn.step.block}:{turn.spot.trial.name}" if turn.spot.trial else turn.step.block
    known[f"record {key}"] = (record,)
    task_name = turn.name.partition(":")[2]
    return Node(
        spec=turn.subject.folder.name,
        name=task_name,
        reads=tuple(dict.fromkeys(reads)),
        writes=tuple(writes),
        folders=tuple(folders),
    )


def _rule(name: str) -> str:
    return name if name.endswith((".md", ".json")) else f"{name}.yaml"


def _short(path: Path, root: Path) -> str:
    return str(path.relative_to(root))


def _write(path: Path, content: bytes, seconds: int) -> None:
    with open(path, "wb") as out:
        out.write(content)
    os.utime(path, (seconds, seconds))
