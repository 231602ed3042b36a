"""The verifier from a submission on disk to its reward, through real sandboxes and a real small oracle."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from programsmith.bundle.grade import Oracle, grade, replay
from programsmith.bundle.seal import seal
from programsmith.bundle.zipapp import verify_pyz
from programsmith.errors import InfraError
from programsmith.payload.verifier import __main__ as command
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
)
PROGRAM = b"""#!/usr/bin/python3 -IS
import sys

def main(words):
    out, upper = sys.stdout.buffer, False
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word == "-u":
            upper = True
        elif word == "-o" and words:
            out = open(words.pop(0), "wb")
        else:
            sys.stderr.write("twice: bad option\\n")
            return 2
    for line in sys.stdin.buffer:
        line = line.upper() if upper else line
        out.write(line * 2)
    return 0

sys.exit(main(sys.argv[1:]))
"""
COMPILE = b"#!/bin/sh\nset -eu\ncat main.py >executable\nchmod 755 executable\n"
RIGHT = {"main.py": PROGRAM, "compile.sh": COMPILE}
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
    (tree / "twice").write_bytes(PROGRAM)
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


def submit(root: Path, files: dict[str, bytes]) -> Path:
    root.mkdir(exist_ok=True)
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


@pytest.fixture
def graded(tests: inside.Tests, launchers: Launchers, tmp_path: Path) -> Callable[..., Report]:
    def run(files: dict[str, bytes], few: int = 0, wall: float = 9.0, **plan: object) -> Report:
        folder = submit(tmp_path / "submission", files)
        measured = replace(tests, plan=replace(tests.plan, **plan))
        if few:
            ids = measured.plan.held_out[:few]
            measured = inside.Tests(
                policy=replace(POLICY, case=replace(POLICY.case, wall_extra_seconds=wall)),
                plan=replace(measured.plan, held_out=ids, public=()),
                cases=tuple(c for c in tests.cases if c.case.id in ids),
            )
        return inside.grade(measured, str(folder), launchers.build, launchers.run)

    return run


def program(source: bytes) -> dict[str, bytes]:
    return {**RIGHT, "main.py": b"#!/usr/bin/python3 -IS\n" + source}


def words(report: Report, side: str = "held_out") -> set[str]:
    return set(report.sides[side].values())


def test_the_right_submission_scores_1_through_the_whole_program(
    bundle: Path, environment_file: Path, tmp_path: Path
) -> None:
    got = grade(bundle, submit(tmp_path / "s", RIGHT), environment_file, tmp_path / "out")
    assert (got.reward, got.word) == (1.0, "AC")
    assert json.loads((tmp_path / "out" / "reward.json").read_bytes()) == {"reward": 1.0}
    assert {"pids", "work", "output", "wall"} <= set(got.details["enforced"])
    assert got.details["families"]["public"]["twice"] == {"passed": 1, "total": 1}
    assert set(got.details["cases"]["public"].values()) == {"AC"}
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["build.log", "details.json", "reward.json"]


def test_details_hold_no_input_and_no_expected_byte(
    bundle: Path, environment_file: Path, tests: inside.Tests, tmp_path: Path
) -> None:
    grade(bundle, submit(tmp_path / "s", program(b"print('nothing')\n")), environment_file, tmp_path / "out")
    left = b"".join(p.read_bytes() for p in (tmp_path / "out").iterdir())
    for one in tests.cases:
        for secret in (one.case.stdin, one.expected.stdout):
            assert len(secret) < 5 or (secret not in left and base64.b64encode(secret) not in left)


def test_golden_replay_scores_1(bundle: Path, oracle: Path, environment_file: Path, tmp_path: Path) -> None:
    got = replay(bundle, Oracle(tree=oracle, program=f"{ORACLE}/twice"), environment_file, tmp_path / "out")
    assert (got.reward, got.word) == (1.0, "AC")


def test_the_verifier_runs_outside_the_checkout_with_cryptography_alone(
    bundle: Path, environment_file: Path, tmp_path: Path
) -> None:
    import _cffi_backend
    import cffi
    import cryptography

    site = tmp_path / "site"
    site.mkdir()
    for module in (cryptography, cffi):
        folder = Path(module.__file__).parent
        shutil.copytree(folder, site / folder.name)
    shutil.copy(_cffi_backend.__file__, site)
    moved = shutil.copytree(bundle / "tests", tmp_path / "tests")
    out, submission = tmp_path / "out", submit(tmp_path / "s", RIGHT)
    arguments = ["--tests", moved, "--submission", submission, "--out", out, "--launcher", environment_file]
    done = subprocess.run(
        [sys.executable, "-S", moved / "verify.pyz", *arguments],
        cwd=tmp_path,
        capture_output=True,
        env={"PYTHONPATH": str(site)},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((out / "reward.json").read_bytes()) == {"reward": 1.0}


def test_an_owners_secret_opens_what_it_sealed_and_nothing_else_does(
    tests: inside.Tests, environment_file: Path, tmp_path: Path
) -> None:
    write_bundle(tmp_path, tests, secret=b"\1" * 32)
    submission = submit(tmp_path / "s", RIGHT)
    assert grade(tmp_path, submission, environment_file, tmp_path / "out", b"\1" * 32).reward == 1.0
    for secret in (None, b"\2" * 32):
        with pytest.raises(InfraError, match="exit code 3"):
            grade(tmp_path, submission, environment_file, tmp_path / "none", secret)
    assert not (tmp_path / "none" / "reward.json").exists()


def test_a_place_without_held_out_cases_is_refused(bundle: Path, environment_file: Path, tmp_path: Path) -> None:
    tests = shutil.copytree(bundle / "tests", tmp_path / "b" / "tests")
    (tests / "held_out.sealed").unlink()
    with pytest.raises(InfraError, match="only the verifier's own environment can score"):
        grade(tmp_path / "b", submit(tmp_path / "s", RIGHT), environment_file, tmp_path / "out")


def test_nothing_is_scored_in_an_agents_container(
    bundle: Path, environment_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "check").touch()
    monkeypatch.setattr(command, "AGENT_MARK", str(tmp_path / "check"))
    words = ["--tests", bundle / "tests", "--submission", submit(tmp_path / "s", RIGHT), "--out", tmp_path / "out"]
    assert command.main([*map(str, words), "--launcher", str(environment_file)]) == 3
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("compare", [(("stdout", "fuzzy"),), (("stdin", "bytes"),)])
def test_a_comparator_outside_the_closed_list_breaks_the_bundle_before_anything_runs(
    tests: inside.Tests, environment_file: Path, tmp_path: Path, compare: tuple[tuple[str, str], ...]
) -> None:
    write_bundle(tmp_path, replace(tests, cases=(replace(tests.cases[0], compare=compare), *tests.cases[1:])))
    with pytest.raises(InfraError, match=r"(?s)exit code 3.*compar"):
        grade(tmp_path, submit(tmp_path / "s", RIGHT), environment_file, tmp_path / "out")


def test_an_unknown_launcher_is_infra_and_leaves_no_reward(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text(json.dumps({"kind": "plain", "build": {}, "run": {}}))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "reward.json").write_text('{"reward": 1.0}')
    with pytest.raises(InfraError, match="exit code 2"):
        grade(bundle, submit(tmp_path / "s", RIGHT), tmp_path / "e.json", tmp_path / "out")
    assert not (tmp_path / "out" / "reward.json").exists()
    assert json.loads((tmp_path / "out" / "details.json").read_bytes())["class"] == "no_isolation"


def test_an_off_by_one_scores_0_and_says_where(graded: Callable[..., Report]) -> None:
    report = graded({**RIGHT, "main.py": PROGRAM.replace(b"line * 2", b"line * 3")})
    assert report.reward == 0.0
    assert words(report) == {"AC", "WA_STDOUT", "WA_FILES"}
    assert report.families["held_out"]["twice -x"] == (1, 1)
    assert report.families["public"] == {"twice": (0, 1), "twice -u": (0, 1), "twice -x": (1, 1)}


LARGE = b'python3 -c \'open("big", "wb").truncate(300 << 20)\'\n'
BUILDS = [
    ("no compile.sh", {"main.py": PROGRAM}, "NO_BUILD"),
    ("nothing at all", {}, "NO_BUILD"),
    ("compile.sh fails", {**RIGHT, "compile.sh": COMPILE + b"exit 3\n"}, "BUILD_FAIL"),
    ("compile.sh dies", {**RIGHT, "compile.sh": b"kill -9 $$\n"}, "BUILD_FAIL"),
    ("no executable is made", {**RIGHT, "compile.sh": b"exit 0\n"}, "NO_BUILD"),
    ("a stale executable", {**RIGHT, "compile.sh": b"exit 0\n", "executable": PROGRAM}, "NO_BUILD"),
    ("the executable is a link", {**RIGHT, "compile.sh": b"chmod 755 main.py; ln -s main.py executable\n"}, "NO_BUILD"),
    ("a link to the interpreter", {**RIGHT, "compile.sh": b"ln -s /usr/bin/python3 executable\n"}, "NO_BUILD"),
    ("the executable is a folder", {**RIGHT, "compile.sh": b"mkdir executable\n"}, "NO_BUILD"),
    ("the executable is empty", {**RIGHT, "compile.sh": b": >executable\n"}, "NO_BUILD"),
    ("the build never ends", {**RIGHT, "compile.sh": b"while :; do :; done\n"}, "BUILD_FAIL"),
    ("the build floods its log", {**RIGHT, "compile.sh": b"while :; do echo flood; done\n"}, "BUILD_FAIL"),
    ("the build fills the disk", {**RIGHT, "compile.sh": b"cat /dev/zero >big\n"}, "BUILD_FAIL"),
    (
        "no compiler of another language",
        {"compile.sh": b"cc -o executable main.x\n", "main.x": b"main(){}"},
        "BUILD_FAIL",
    ),
    ("an ELF file", {**RIGHT, "tool": Path(sys.executable).resolve().read_bytes()[:5000]}, "POLICY"),
    ("an ELF file in base64", {**RIGHT, "t.txt": base64.encodebytes(Path("/bin/true").read_bytes())}, "POLICY"),
    ("assembler", {**RIGHT, "fast.s": b".globl main\n"}, "POLICY"),
    ("too deep", {**RIGHT, "/".join("d" * 20): b""}, "POLICY"),
    ("too large", {**RIGHT, "big": bytes(5 << 20)}, "POLICY"),
]


@pytest.mark.parametrize(("files", "word"), [row[1:] for row in BUILDS], ids=[row[0] for row in BUILDS])
def test_what_does_not_build_scores_0_under_its_word(
    graded: Callable[..., Report], files: dict[str, bytes], word: str
) -> None:
    report = graded(files)
    assert (report.word, report.reward) == (word, 0.0)
    assert words(report) == {"NOT_RUN"}
    assert report.families["held_out"]["twice"] == (0, 3)
    assert len(report.log) <= 65536


FLOOD = b"import sys\ndata = sys.stdin.buffer.read()\nwhile 1: sys.stdout.buffer.write(data * 2 or b'x' * 99)\n"
FORKS = b"import os\nwhile 1:\n try: os.fork()\n except OSError: pass\n"
REWARD = (
    b"import json, os\nfor p in ('/logs/verifier', '/app', '/tests', '/work', '/app/submission', '..', '/tmp'):\n"
    b"  try:\n    os.makedirs(p, exist_ok=True)\n    open(p + '/reward.json', 'w').write('{\"reward\": 1.0}')\n"
    b"  except OSError: pass\n"
)
READS = (
    b"import os, sys\nfound = [d for d in ('/tests', '/solution', '/logs', '/root', '/home', '/opt/oracle')"
    b" if os.path.exists(d)]\nfor root, _, names in os.walk('/'):\n"
    b"  found += [n for n in names if 'sealed' in n or n.endswith('.jsonl') or n == 'plan.json']\n"
    b"  if root.startswith(('/proc', '/sys', '/usr', '/opt/python')): break\n"
    b"sys.exit(len(found))\n"
)
DEEP = b"import os\nfor i in range(3000):\n os.mkdir('d'); os.chdir('d')\n"
MANY = b"for i in range(100000): open('f%d' % i, 'w').close()\n"
BOMB = b"x = bytearray(1 << 30)\nx[::4096] = b'1' * len(x[::4096])\n"
CASES = [
    ("output, then a flood", FLOOD, {"OLE"}),
    ("burns", b"while 1: pass\n", {"TLE_CPU"}),
    ("burns in children", b"import os\nfor i in range(3): os.fork()\nwhile 1: pass\n", {"TLE_CPU"}),
    ("forks without end", FORKS, {"MLE", "TLE_CPU"}),
    ("takes memory", BOMB, {"MLE", "WA_STDOUT"}),
    ("crashes", b"import ctypes\nctypes.string_at(0)\n", {"SIGNAL"}),
    ("writes rewards", REWARD, {"WA_STDOUT"}),
    ("deep directories", DEEP, {"WA_STDOUT"}),
    ("many files", MANY, {"OLE", "WA_STDOUT", "TLE_CPU"}),
    ("says that it passed", b"print('AC')\n", {"WA_STDOUT"}),
]


@pytest.mark.parametrize(("source", "wanted"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_what_a_program_does_to_its_case_scores_0_and_is_never_infra(
    graded: Callable[..., Report], source: bytes, wanted: set[str]
) -> None:
    report = graded(program(source), few=2)
    assert report.reward == 0.0
    assert words(report) <= wanted


@pytest.mark.parametrize(
    "source",
    [b"import time\ntime.sleep(99)\n", b"import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n"],
    ids=["sleeps", "stops itself"],
)
def test_what_only_waits_is_ended_by_the_wall_clock_after_a_second_try(
    graded: Callable[..., Report], source: bytes
) -> None:
    report = graded(program(source), few=1, wall=0.5)
    assert (report.reward, words(report)) == (0.0, {"TLE_WALL"})
    assert len(report.again) == 1


def test_a_program_finds_nothing_of_the_grader(graded: Callable[..., Report]) -> None:
    report = graded(program(READS))
    assert report.sides["held_out"] != {}
    quiet = [name for name, word in report.sides["held_out"].items() if word == "AC"]
    assert len(quiet) == 1  # empty input, exit code 0: it found nothing


OTHER_LANGUAGES = {
    "a shell script": b"#!/bin/sh\nwhile read -r l; do echo $l; echo $l; done\n",
    "perl": b"#!/usr/bin/perl\nwhile (<>) { print; print }\n",
    "awk": b"#!/usr/bin/awk -f\n{ print; print }\n",
}


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_a_program_in_another_language_does_not_run(graded: Callable[..., Report], language: str) -> None:
    report = graded({**RIGHT, "main.py": OTHER_LANGUAGES[language]})
    assert report.reward == 0.0
    assert words(report) == {"NOT_RUN"}


def test_a_build_cannot_leave_anything_running_for_the_cases(graded: Callable[..., Report]) -> None:
    daemon = COMPILE.replace(b"cat main", b"(while :; do sleep 1; done) >/dev/null 2>&1 &\ncat main")
    assert graded({**RIGHT, "compile.sh": daemon}).reward == 1.0


def test_a_case_cannot_change_the_tree_for_the_next_one(graded: Callable[..., Report]) -> None:
    rewriting = PROGRAM.replace(
        b"import sys\n", b"import sys\ntry: open('/app/submission/executable', 'w').close()\nexcept OSError: pass\n"
    )
    assert graded({**RIGHT, "main.py": rewriting}).reward == 1.0


def test_hostile_names_in_a_submission_change_nothing(graded: Callable[..., Report], tmp_path: Path) -> None:
    folder = submit(tmp_path / "submission", RIGHT)
    for name in (b"\xff\xfe", b"new\nline", b"-rf", b" ", b"'; exit 1", b"\x1b[31m", b"n" * 255):
        (folder / os.fsdecode(name)).write_bytes(b"x")
    os.mkfifo(folder / "pipe")
    os.symlink("/etc/shadow", folder / "shadow")
    report = graded({})
    assert report.reward == 1.0
    assert dict(report.left_out) == {b"pipe": "fifo", b"shadow": "symlink"}


def test_a_missing_submission_folder_is_the_submissions_fault(tests: inside.Tests, launchers: Launchers) -> None:
    report = inside.grade(tests, "/nowhere/at/all", launchers.build, launchers.run)
    assert (report.word, report.reward) == ("NO_BUILD", 0.0)


def test_fraction_is_the_mean_over_families(graded: Callable[..., Report]) -> None:
    half = {**RIGHT, "main.py": PROGRAM.replace(b"line.upper()", b"line")}
    assert graded(half, reward="fraction").reward == pytest.approx(3 / 4)
    assert graded(half, reward="threshold", threshold=0.75).reward == 1.0
    assert graded(half, reward="threshold", threshold=0.76).reward == 0.0
    assert graded(half).reward == 0.0


def test_a_case_starts_what_the_oracle_started_in_it_and_in_no_other(
    environment: dict[str, object], tmp_path: Path, tests: inside.Tests
) -> None:
    """Also not through the loader, which is itself executable."""
    helper = "/usr/bin/cat"
    source = (
        b"import subprocess, sys\nfound = []\n"
        b"for words in (['/usr/bin/cat'], ['/usr/lib64/ld-linux-x86-64.so.2', '/usr/bin/cat']):\n"
        b"  try: found.append(subprocess.run(words, input=b'hi', capture_output=True).stdout)\n"
        b"  except OSError as fault: found.append(b'no')\n"
        b"sys.stdout.buffer.write(b' '.join(found))\n"
    )
    (tmp_path / "tree").mkdir(mode=0o755)
    (tmp_path / "tree" / "executable").write_bytes(b"#!/usr/bin/python3 -IS\n" + source)
    (tmp_path / "tree" / "executable").chmod(0o755)
    subject = Subject(
        program="/app/submission/executable", mounts=(Mount(source=str(tmp_path / "tree"), target="/app/submission"),)
    )
    launcher = open_launcher(list_view(programs=["python3", "cat"]))
    with_helper = replace(tests.cases[0], exec_allowed=(helper,))
    bench = Bench(subject, POLICY, launcher, frozenset({helper}))
    assert launcher.run(bench.request(with_helper)).stdout == b"hi hi"
    assert b"hi" not in launcher.run(bench.request(tests.cases[1])).stdout
    launcher.close()


def test_waived_holds_for_exactly_one_tree(graded: Callable[..., Report]) -> None:
    from programsmith.payload.verifier.tree import tree_digest

    files = {**RIGHT, "blob": Path(sys.executable).resolve().read_bytes()[:5000]}
    digest = tree_digest(FileEntry(name.encode(), "file", 0o644, content) for name, content in files.items())
    assert graded(files, waived=digest).reward == 1.0
    assert graded({**files, "more": b""}, waived=digest).word == "POLICY"
