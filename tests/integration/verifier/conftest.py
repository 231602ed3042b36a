"""A small real oracle, its captured cases, a bundle of them, and submissions laid on disk."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from programsmith.bundle.seal import seal
from programsmith.bundle.zipapp import verify_pyz
from programsmith.payload.verifier import grade as inside
from programsmith.payload.verifier.cases import Bench, Subject
from programsmith.payload.verifier.environment import ORACLE
from programsmith.payload.verifier.launcher import Mount
from programsmith.payload.verifier.launchers import Launchers, opened
from programsmith.payload.verifier.model import Case, Expected, FileEntry, GradedCase
from programsmith.payload.verifier.plan import (
    BuildRule,
    CaseRule,
    Plan,
    Policy,
    ReceiptRule,
    encode_cases,
    encode_plan,
    encode_policy,
)
from programsmith.payload.verifier.report import Report
from programsmith.payload.verifier.unseal import Purpose
from programsmith.sandboxes import launcher_config, open_launcher
from programsmith.sandboxes.view import list_view

POLICY = Policy(
    tool="twice",
    languages=("python",),
    refused_suffixes=(),
    build_programs=("sh", "cat", "chmod", "python3"),
    run_programs=("python3",),
    cpu_factor=1.0,
    case=CaseRule(
        cpu_floor_seconds=0.4,
        cpu_factor=4,
        wall_factor=2,
        wall_extra_seconds=1.0,
        memory_bytes=128 << 20,
        pids=16,
        output_factor=4,
        output_extra_bytes=1 << 16,
        work_bytes=8 << 20,
        work_files=4096,
        reruns=2,
    ),
    build=BuildRule(
        cpu_seconds=2,
        wall_seconds=20,
        memory_bytes=768 << 20,
        pids=64,
        output_bytes=1 << 20,
        work_bytes=320 << 20,
        work_files=5000,
    ),
    submission=ReceiptRule(files=500, bytes=4 << 20, depth=16),
    compiled=False,
)
SAMPLE = Path(__file__).parents[2] / "samples" / "twice"
INPUTS = [
    (Case(argv=(), stdin=b"one\n"), "twice"),
    (Case(argv=(), stdin=b"\xff\0raw\n\n"), "twice"),
    (Case(argv=(), stdin=b""), "twice"),
    (Case(argv=(b"-u",), stdin=b"up\n"), "twice -u"),
    (Case(argv=(b"-u",), stdin=b"Mixed Case\nend"), "twice -u"),
    (Case(argv=(b"-o", b"out"), stdin=b"file\n", files=(FileEntry(b"in/a", "file", 0o644, b"x"),)), "twice -o"),
    (Case(argv=(b"-o", b"\xff\n name"), stdin=b"odd\n"), "twice -o"),
    (Case(argv=(b"-x",)), "twice -x"),
    (Case(argv=(), stdin=b"public\n"), "twice"),
    (Case(argv=(b"-u",), stdin=b"public\n"), "twice -u"),
    (Case(argv=(b"-z",), stdin=b"public\n"), "twice -x"),
]
PUBLIC_FROM = 8


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("oracle")
    shutil.copy(SAMPLE / "main.py", tree / "twice")
    (tree / "twice").chmod(0o755)
    tree.chmod(0o755)
    return tree


@pytest.fixture(scope="module")
def captured(oracle: Path) -> list[GradedCase]:
    """Expected sides that only the oracle wrote, through the launcher that grades."""
    launcher = open_launcher(list_view(programs=["python3"]))
    subject = Subject(program=f"{ORACLE}/twice", mounts=(Mount(source=str(oracle), target=ORACLE),))
    bench = Bench(subject, POLICY, launcher, frozenset())
    found = []
    for case, family in INPUTS:
        blank = GradedCase(case=case, expected=Expected(exit_code=0), family=family, cpu_seconds=0.02)
        got = launcher.run(bench.request(blank))
        assert got.fault is None
        expected = Expected(
            exit_code=got.exit_code, signal=got.signal, stdout=got.stdout, stderr_empty=not got.stderr, files=got.files
        )
        found.append(replace(blank, expected=expected, cpu_seconds=got.cpu_seconds))
    launcher.close()
    assert found[0].expected.stdout == b"one\none\n"
    assert found[7].expected.exit_code == 2
    return found


@pytest.fixture(scope="module")
def tests(captured: list[GradedCase]) -> inside.Tests:
    plan = Plan(
        reward="binary",
        threshold=0.0,
        slots=2,
        timeout_seconds=120.0,
        public=tuple(c.case.id for c in captured[PUBLIC_FROM:]),
        held_out=tuple(c.case.id for c in captured[:PUBLIC_FROM]),
    )
    return inside.Tests(policy=POLICY, plan=plan, cases=tuple(captured))


@pytest.fixture(scope="module")
def environment() -> dict[str, object]:
    build = launcher_config(list_view(programs=["sh", "cat", "chmod", "ln", "sleep", "mkdir", "rm", "python3"]))
    return {"kind": "bubblewrap", "build": build, "run": launcher_config(list_view(programs=["python3"]))}


@pytest.fixture(scope="module")
def launchers(environment: dict[str, object]) -> Iterator[Launchers]:
    with opened(json.dumps(environment).encode()) as both:
        yield both


@pytest.fixture(scope="module")
def bundle(tests: inside.Tests, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("bundle")
    write_bundle(root, tests)
    return root


def write_bundle(root: Path, tests: inside.Tests, secret: bytes | None = None) -> None:
    folder = root / "tests"
    folder.mkdir()
    held_out = [c for c in tests.cases if c.case.id in tests.plan.held_out]
    sealed = seal(encode_cases(held_out), identity="twice@1", purpose=Purpose.HELD_OUT, owner_secret=secret)
    public = [c for c in tests.cases if c.case.id in tests.plan.public]
    files = {
        "verify.pyz": verify_pyz(),
        "policy.json": encode_policy(tests.policy),
        "plan.json": encode_plan(tests.plan),
        "public.jsonl": encode_cases(public),
        "held_out.sealed": sealed.content,
        "seal.json": sealed.seal,
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)


@pytest.fixture
def environment_file(environment: dict[str, object], tmp_path: Path) -> Path:
    path = tmp_path / "environment.json"
    path.write_text(json.dumps(environment))
    return path


@pytest.fixture
def submit(tmp_path: Path) -> Callable[[dict[str, bytes]], Path]:
    def lay(files: dict[str, bytes]) -> Path:
        root = tmp_path / "submission"
        root.mkdir(exist_ok=True)
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return root

    return lay


@pytest.fixture
def graded(
    tests: inside.Tests, launchers: Launchers, submit: Callable[[dict[str, bytes]], Path]
) -> Callable[..., Report]:
    def run(files: dict[str, bytes], few: int = 0, wall: float = 9.0, **plan: object) -> Report:
        folder = submit(files)
        measured = replace(tests, plan=replace(tests.plan, **plan))
        if few:
            ids = measured.plan.held_out[:few]
            measured = inside.Tests(
                policy=replace(POLICY, case=replace(POLICY.case, wall_extra_seconds=wall)),
                plan=replace(measured.plan, held_out=ids, public=()),
                cases=tuple(c for c in tests.cases if c.case.id in ids),
            )
        return inside.grade(measured, str(folder), launchers)

    return run


@pytest.fixture
def write() -> Callable[..., None]:
    """Writes a bundle's tests folder below a root, sealed inline or by an owner's secret."""
    return write_bundle
