"""A small task for the tests of bundles: a program of two languages, its oracle really built and captured."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from programsmith.blocks import create, images
from programsmith.bundle.manifest import Manifest
from programsmith.compiler.plan import STEP, asking
from programsmith.job import Job, Rules, Tracked
from programsmith.payload.verifier.environment import ORACLE, case_env
from programsmith.payload.verifier.launcher import Launcher, Mount, Request
from programsmith.payload.verifier.model import Case, Expected, FileEntry, Limits
from programsmith.payload.verifier.tree import write_tree
from programsmith.records import codec
from programsmith.records.golden import Golden, Kills, Mutant, Provenance, Split
from programsmith.records.lock import Candidate, EntryPoint, Lock, OracleFacts
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes import open_launcher
from programsmith.sandboxes.base import BUBBLEWRAP, DOCKER
from programsmith.sources.tree import SourceTree, tree_digest, write_tar
from programsmith.toolchains.build import build_source
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.recipe import BuildRequest
from programsmith.toolchains.views import run_view
from tests.contract.backends import base_image
from tests.samples.strength import NEEDS
from tests.unit.bundle.benches import Bench

SAMPLES = Path(__file__).parents[2] / "samples"
COMMIT = "5f0c1d2e3b4a59687786958493a2b1c0d9e8f706"
LIMITS = Limits(cpu_seconds=20, wall_seconds=60, memory_bytes=1 << 30, pids=64, output_bytes=1 << 20,
                work_bytes=1 << 26, work_files=999)  # fmt: skip
SPEC: dict[str, Any] = {
    "name": "rot",
    "description": "rot turns letters.",
    "build": {"recipe": "auto", "fetch": [], "build": [], "packages": [], "env": {}},
    "reward": "binary",
    "seal": "inline",
    "sandbox": "bubblewrap",
    "pushed": {},
    "models": dict.fromkeys(("matrix", "pick", "goldens", "create", "judge", "synthesize")),
    "budget": {"usd": None, "agent_wall": "2h"},
    "task": {"oracle_access": "none"},
}
ENTRIES = {
    "python": EntryPoint(tool="rot", kind="python-script", target="rot.py", how="script"),
    "javascript": EntryPoint(tool="rot", kind="node-script", target="rot.js", how="package.json bin"),
    "c": EntryPoint(tool="rot", kind="c-binary", target="rot", how="Makefile"),
}
CASES = [
    Case(argv=(), stdin=b"Hello, World\n"),
    Case(argv=(), stdin=b"the quick brown fox jumps over the lazy dog, again and again\n"),
    Case(argv=(b"-n", b"1"), stdin=b"abcxyz\n"),
    Case(argv=(b"-n", b"2"), stdin=b"\xff\x00abc"),
    Case(argv=(b"-n", b"25"), stdin=b"a long enough line of text, so that it is longer than forty bytes\n"),
    Case(argv=(b"-n", b"x"), stdin=b""),
    Case(argv=(b"-o", b"out.txt"), stdin=b"into a file\n"),
    Case(argv=(b"-o", b"d/out.txt"), stdin=b"deep\n", files=(FileEntry(b"d", "dir", 0o755),)),
    Case(argv=(b"in.txt",), files=(FileEntry(b"in.txt", content=b"From a file\n"),)),
    Case(argv=(b"in.txt",), files=(FileEntry(b"in.txt", content=b"From another file\n"),)),
    Case(argv=(b"missing.txt",)),
    Case(argv=(b"-e",), env=((b"ROT", b"3"),), stdin=b"by the environment\n"),
    Case(argv=(b"-e",), env=((b"ROT", b"4"),), stdin=b"by the environment\n"),
    Case(argv=(b"--bad",), stdin=b""),
]


@dataclass
class Toy:
    """Artifacts of one small task in `folder`, and jobs over them."""

    folder: Path
    spec: dict[str, Any] = field(default_factory=lambda: {**SPEC})
    rules: Mapping[str, Any] = field(default_factory=dict)
    owner_secret: bytes | None = None
    complete: Callable[[Any], Any] | None = None

    def job(self, block: str, scratch: str = "scratch") -> Job:
        """A job of `block`; outputs go to where its readers look for them."""
        step, place = asking(STEP[block], self.spec), self.folder / scratch
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        return Job(
            spec=Tracked("spec field", self.spec, step.spec),
            rules=Rules(lambda name: self.rules.get(name) or Rulebook(None).load(name), step.rules),
            inputs={name: self.path(name) for name in step.reads},
            outputs={name: self.path(name) for name in step.writes},
            scratch=place,
            project=self.folder,
            store=self.folder,
            dist=self.folder / "dist",
            owner_secret=self.owner_secret,
            complete=self.complete,
            say=print,
        )

    def path(self, artifact: str) -> Path:
        """Where an artifact lies."""
        path = self.folder / artifact.replace("r/", "r0/").rstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    @property
    def bundle(self) -> Path:
        return self.path("r/bundle/")

    @property
    def manifest(self) -> Manifest:
        return codec.load(self.path("r/manifest.json"), Manifest)

    def copy(self, folder: Path) -> Toy:
        """The same task elsewhere, to be mutated."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return dataclasses.replace(self, folder=folder, spec={**self.spec})


def capture(launcher: Launcher, tree: Path, program: str, case: Case) -> Golden:
    """The golden of a case, captured from the oracle as grading runs it."""
    result = launcher.run(
        Request(
            program=program,
            argv=(b"rot", *case.argv),
            env=case_env(case.env),
            limits=LIMITS,
            stdin=case.stdin,
            files=case.files,
            mounts=(Mount(source=str(tree), target=ORACLE),),
        )
    )
    assert result.started, result
    before = {f.path: f.content for f in case.files}
    changed = {f.path: f.content for f in result.files or ()} != before
    expected = Expected(
        exit_code=result.exit_code,
        signal=result.signal,
        stdout=result.stdout,
        stderr_empty=not result.stderr,
        files=result.files if changed else None,
    )
    words = [a.decode() for a in case.argv if a.startswith(b"-")]
    return Golden(
        id=case.id,
        case=case,
        expected=expected,
        provenance=Provenance(miner="hand", path=b"tests", line=1, blob="0" * 64, licence="MIT"),
        family=" ".join(["rot", *words]),
        group=case.id,
        agreement="absent",
        cpu_seconds=result.cpu_seconds,
    )


def make(folder: Path, language: str, target: str, sample: str = "rot", cases: Sequence[Case] = CASES) -> Toy:
    """Lock, source, oracle and pool of the sample in `language`, to be re-implemented in `target`."""
    toy = Toy(folder)
    source = [
        FileEntry(p.name.encode(), "file", 0o644, p.read_bytes())
        for p in sorted((SAMPLES / sample / language).iterdir())
        if p.is_file()
    ]
    write_tar(toy.path("source.tar"), source)
    lock = Lock(
        name="rot",
        origin="https://example.org/turner/rot-tool.git",
        commit=COMMIT,
        tree=tree_digest(source),
        files=len(source),
        licence="MIT",
        licences=(),
        language=language,
        build_system={"c": "make", "javascript": "npm", "python": "python"}[language],
        code_lines=30,
        entry_points=(ENTRIES[language],),
    )
    codec.dump(toy.path("lock.json"), lock)
    codec.dump(toy.path("candidate.json"), candidate(language, target))
    oracle(toy, lock, source, cases)
    return toy


def kills(ids: list[str]) -> Kills:
    """Kills of two mutants: one that two held-out cases kill, one that a public case kills alone."""
    killed = {"a": (ids[1], ids[3]), "b": (ids[0],)}
    mutants = [
        Mutant(id=name, path="rot", line=1, operator="swap", diff="", killers=killers)
        for name, killers in killed.items()
    ]
    return Kills(mutants=tuple(mutants), line_table=(), lines={}, scope_lines=1, skipped={})


def candidate(language: str, target: str) -> Candidate:
    return Candidate(
        tool="rot", target_language=target, source_language=language, entry=ENTRIES[language], scope="program",
        code_lines=30, options=3, score=1.0, reasons=(),
    )  # fmt: skip


def oracle(toy: Toy, lock: Lock, source: list[FileEntry], cases: Sequence[Case]) -> None:
    """Build the oracle, capture every case, split by turns."""
    tc = toolchains(Rulebook(None).load("toolchains"))[lock.language]
    built = build_source(
        SourceTree(source),
        BuildRequest(
            toolchain=tc, lock=lock, entry=lock.entry_points[0], spec_build=SPEC["build"], limits=LIMITS, vendor=()
        ),
    )
    write_tar(toy.path("oracle.tar"), built.install)
    tree = toy.folder / "oracle-tree"
    write_tree(str(tree), built.install)
    facts = OracleFacts(
        tool="rot", program=built.program, language=lock.language, exec_allowed=(), recipe=built.recipe,
        subcommands=(), options=("-n", "-o", "-e"), version="1", fingerprint="",
    )  # fmt: skip
    codec.dump(toy.path("facts.json"), facts)
    launcher = open_launcher(run_view(tc))
    try:
        goldens = sorted((capture(launcher, tree, built.program, c) for c in cases), key=lambda g: g.id)
    finally:
        launcher.close()
    shutil.rmtree(tree)
    codec.dump_lines(toy.path("pool.jsonl"), goldens)
    ids = [g.id for g in goldens]
    codec.dump(toy.path("split.json"), Split(public=tuple(ids[::2]), held_out=tuple(ids[1::2]), reserve=()))
    codec.dump(toy.path("kills.json"), kills(ids))
    docs = [
        FileEntry(b"README.md", content=b"# rot\n\nTurns letters by N places.\n"),
        FileEntry(b"help.txt", content=HELP),
    ]
    write_tar(toy.path("docs.tar"), docs)


HELP = b"usage: rot [-n N] [-e] [-o FILE] [FILE]\n"


@pytest.fixture(scope="session")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Toy]:
    """Makes, once each, the task from one language to another, with its bundle and environment."""
    made: dict[tuple[str, str], Toy] = {}

    def get(language: str, target: str) -> Toy:
        for needed, packages in (NEEDS[name] for name in (language, target) if name in NEEDS):
            if not shutil.which(needed):
                pytest.skip(f"{needed} is absent; run: apt-get install -y {packages}")
        if (language, target) not in made:
            toy = make(tmp_path_factory.mktemp(f"{language}-{target}"), language, target)
            create.run(toy.job("create"))
            images.run(toy.job("images"))
            made[language, target] = toy
        return made[language, target]

    return get


@pytest.fixture
def toy(toys: Callable[[str, str], Toy], tmp_path: Path) -> Toy:
    """The Python task, in a copy of its own."""
    return toys("python", "python").copy(tmp_path / "toy")


def environments(toy: Toy) -> dict[str, Path]:
    """The environment of each kind in which the task is graded. The task's own is the last one afterwards."""
    found = {}
    for kind in (BUBBLEWRAP, DOCKER):
        toy.spec["sandbox"] = kind
        images.run(toy.job("images"))
        found[kind] = toy.folder / f"{kind}.json"
        found[kind].write_bytes(toy.path("r/environments.json").read_bytes())
        assert json.loads(found[kind].read_bytes())["kind"] == kind
    return found


@pytest.fixture(params=[BUBBLEWRAP, pytest.param(DOCKER, marks=pytest.mark.docker)])
def bench(request: pytest.FixtureRequest, toys: Callable[[str, str], Toy], tmp_path: Path) -> Bench:
    """Trials of the Python task, which they leave as it is, in either kind of place."""
    toy = toys("python", "python")
    return Bench(toy=toy if request.param == BUBBLEWRAP else in_docker(toy, tmp_path / "toy"), folder=tmp_path)


def in_docker(toy: Toy, folder: Path) -> Toy:
    """A copy of the task whose agents work in its image."""
    base_image("python")
    twin = toy.copy(folder)
    places = twin.path("r/places.json")
    places.write_text(json.dumps({**json.loads(places.read_bytes()), "kind": DOCKER}))
    return twin


@pytest.fixture(scope="session")
def asked_toys(toys: Callable[[str, str], Toy], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Toy]:
    """The same tasks, once each, whose agents may ask the original."""
    made: dict[tuple[str, str], Toy] = {}

    def get(language: str, target: str) -> Toy:
        if (language, target) not in made:
            toy = toys(language, target).copy(tmp_path_factory.mktemp("asked") / "toy")
            toy.spec["task"] = {"oracle_access": "query_at_risk"}
            shutil.rmtree(toy.bundle)
            create.run(toy.job("create"))
            made[language, target] = toy
        return made[language, target]

    return get


@pytest.fixture(params=[BUBBLEWRAP, pytest.param(DOCKER, marks=pytest.mark.docker)])
def asking_bench(request: pytest.FixtureRequest, asked_toys: Callable[[str, str], Toy], tmp_path: Path) -> Bench:
    """Trials of the Python task in which the original may be asked, in either kind of place."""
    toy = asked_toys("python", "python")
    return Bench(toy=toy if request.param == BUBBLEWRAP else in_docker(toy, tmp_path / "toy"), folder=tmp_path)


@pytest.fixture
def own_bench(toys: Callable[[str, str], Toy], tmp_path: Path) -> Bench:
    """Trials of a Python task of their own."""
    return Bench(toy=toys("python", "python").copy(tmp_path / "toy"), folder=tmp_path / "bench")
