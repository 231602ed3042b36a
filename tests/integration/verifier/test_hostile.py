"""Submissions that must score 0 under the right word, never infra; and odd ones that must score 1."""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from programsmith.payload.verifier import grade as inside
from programsmith.payload.verifier.cases import Bench, Subject
from programsmith.payload.verifier.launcher import Mount
from programsmith.payload.verifier.launchers import Launchers
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.report import Report, details
from programsmith.payload.verifier.tree import tree_digest
from programsmith.sandboxes import open_launcher
from programsmith.sandboxes.view import list_view

SAMPLE = Path(__file__).parents[2] / "samples" / "twice"
PROGRAM, COMPILE = (SAMPLE / "main.py").read_bytes(), (SAMPLE / "compile.sh").read_bytes()
RIGHT = {"main.py": PROGRAM, "compile.sh": COMPILE}


def program(source: bytes) -> dict[str, bytes]:
    return {**RIGHT, "main.py": b"#!/usr/bin/python3 -IS\n" + source}


def words(report: Report, side: str = "held_out") -> set[str]:
    return set(report.sides[side].values())


def test_an_off_by_one_scores_0_and_says_where(graded: Callable[..., Report]) -> None:
    report = graded({**RIGHT, "main.py": PROGRAM.replace(b"line * 2", b"line * 3")})
    assert report.reward == 0.0
    assert words(report) == {"AC", "WA_STDOUT", "WA_FILES"}
    assert report.families["held_out"]["twice -x"] == (1, 1)
    assert report.families["public"] == {"twice": (0, 1), "twice -u": (0, 1), "twice -x": (1, 1)}


DEEP_NAMES = b"""python3 -c '
import os
for level in range(15):
    os.mkdir("d" * 250)
    os.chdir("d" * 250)
'
"""
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
    ("a path that is too long", {**RIGHT, "/".join(["d" * 250] * 13): b""}, "POLICY"),
    ("the build leaves a path that is too long", {**RIGHT, "compile.sh": COMPILE + DEEP_NAMES}, "NO_BUILD"),
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


PACKED = b'python3 -c \'open("executable", "wb").write(bytes(b ^ 90 for b in open("blob", "rb").read()))\'\n'


def test_machine_code_that_a_build_unpacks_is_no_program_of_an_interpreted_language(
    graded: Callable[..., Report], tests: inside.Tests, launchers: Launchers, submit: Callable[..., Path]
) -> None:
    files = {"compile.sh": PACKED, "blob": bytes(b ^ 90 for b in Path("/bin/true").read_bytes())}
    report = graded(files)
    assert (report.word, report.reward) == ("POLICY", 0.0)
    assert report.reason == "compile.sh left machine code: 'executable'"
    open_to_it = replace(tests, policy=replace(tests.policy, compiled=True))
    report = inside.grade(open_to_it, str(submit(files)), launchers)
    assert "AC" in words(report)  # it runs where nothing refuses it, and says nothing as it should


ZIPPED = b"""python3 -c '
import zipfile
with open("executable", "wb") as out:
    out.write(b"#!/usr/bin/python3 -IS\\n")
    with zipfile.ZipFile(out, "a") as archive:
        archive.write("main.py", "__main__.py")
'
"""
HELPED = b"""#!/usr/bin/python3 -IS
import subprocess, sys
sys.exit(subprocess.run(["/app/submission/helper", *sys.argv[1:]]).returncode)
"""


@pytest.mark.parametrize(
    "files",
    [
        {**RIGHT, "compile.sh": ZIPPED},
        {**RIGHT, "main.py": PROGRAM.replace(b"\n", b"\n# -*- coding: latin-1 -*- \xe9\n", 1)},
        {
            "main.py": HELPED,
            "helper.py": PROGRAM,
            "compile.sh": COMPILE + b"cat helper.py >helper\nchmod 755 helper\n",
        },
    ],
)
def test_scripts_may_be_archives_and_start_scripts_of_their_own(
    graded: Callable[..., Report], files: dict[str, bytes]
) -> None:
    assert graded(files).reward == 1.0


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


def test_hostile_names_in_a_submission_change_nothing(
    graded: Callable[..., Report], submit: Callable[..., Path]
) -> None:
    folder = submit(RIGHT)
    for name in (b"\xff\xfe", b"new\nline", b"-rf", b" ", b"'; exit 1", b"\x1b[31m", b"n" * 255):
        (folder / os.fsdecode(name)).write_bytes(b"x")
    os.mkfifo(folder / "pipe")
    os.symlink("/etc/shadow", folder / "shadow")
    report = graded({})
    assert report.reward == 1.0
    assert dict(report.left_out) == {b"pipe": "fifo", b"shadow": "symlink"}


@pytest.mark.parametrize("suffix", [b"", b".s"], ids=["left out", "refused"])
def test_thousands_of_long_names_leave_a_report_that_is_read(
    tests: inside.Tests, launchers: Launchers, submit: Callable[..., Path], suffix: bytes
) -> None:
    """A submission chooses how much there is to say about it, and a report that is too long is none."""
    rule = replace(tests.policy.submission, files=4000)
    folder = submit(RIGHT)
    at = os.open(folder, os.O_RDONLY)
    for _ in range(10):
        os.mkdir(b"\xff" * 254, dir_fd=at)
        inner = os.open(b"\xff" * 254, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    for number in range(3900):
        name = b"%04d" % number + b"\xff" * 240 + suffix
        if suffix:
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=at))
        else:
            os.symlink(b"x", name, dir_fd=at)
    os.close(at)
    report = inside.grade(replace(tests, policy=replace(tests.policy, submission=rule)), str(folder), launchers)
    assert len(report.refused if suffix else report.left_out) == 3900
    assert report.reward == (0.0 if suffix else 1.0)
    assert len(json.dumps(details(report))) < 16 << 20


def test_a_missing_submission_folder_is_the_submissions_fault(tests: inside.Tests, launchers: Launchers) -> None:
    report = inside.grade(tests, "/nowhere/at/all", launchers)
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
    bench = Bench(subject, tests.policy, launcher, frozenset({helper}))
    assert launcher.run(bench.request(with_helper)).stdout == b"hi hi"
    assert b"hi" not in launcher.run(bench.request(tests.cases[1])).stdout
    launcher.close()


def test_waived_holds_for_exactly_one_tree(graded: Callable[..., Report]) -> None:
    files = {**RIGHT, "blob": Path(sys.executable).resolve().read_bytes()[:5000]}
    digest = tree_digest(FileEntry(name.encode(), "file", 0o644, content) for name, content in files.items())
    assert graded(files, waived=digest).reward == 1.0
    assert graded({**files, "more": b""}, waived=digest).word == "POLICY"
