"""Both table programs do what the table says, seen from outside, and the form refuses what no table can do."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys

import pytest

from programsmith.bundle.render import PAYLOAD
from programsmith.payload.table.form import digest, letters, write
from programsmith.payload.table.python import table
from programsmith.payload.verifier.environment import BASE_ENV, case_env
from programsmith.payload.verifier.model import Case, Expected, FileEntry

FILES = (
    FileEntry(b"a/b/c.txt", content=b"c\0d"),
    FileEntry(b"a/e", "dir", 0o755),
    FileEntry(b"l", "link", 0o777, b"a/b"),
    FileEntry(b"\xfe", "file", 0o755),
)
LEFT = (
    FileEntry(b"n", "dir", 0o700),
    FileEntry(b"n/l", "link", 0o777, b"o"),
    FileEntry(b"n/o", "file", 0o444, b"\0o"),
)
ROWS = [
    (Case(argv=(b"-a", b"\xff\n")), Expected(exit_code=3, stdout=b"hi\0\xff")),
    (Case(argv=(b"-a", b"\xff\n"), env=((b"FOO", b"1"),)), Expected(exit_code=0, stderr_empty=False)),
    (Case(argv=(b"-a\xff\n",)), Expected(exit_code=5)),
    (Case(argv=(), env=((b"TZ", b"Asia/Tokyo"),)), Expected(exit_code=6)),
    (Case(argv=(), stdin=b"x\0y" * 40000), Expected(exit_code=0, stdout=b"z" * 70000)),
    (Case(argv=(b"f",), files=FILES), Expected(exit_code=None, signal=11, files=LEFT)),
    (Case(argv=(b"f",), files=FILES[:3]), Expected(exit_code=1, files=())),
]
COMPILERS = {
    "c": ("cc", "gcc libc6-dev"),
    "go": ("go", "golang-go"),
    "java": ("javac", "openjdk-17-jdk-headless"),
    "rust": ("rustc", "rustc gcc libc6-dev"),
}
JAVA = [
    "java",
    *(f"-XX:+{on}" for on in ("SuppressFatalErrorMessage", "CrashOnOutOfMemoryError", "DisplayVMOutputToStderr")),
]
INSTEAD = {("java", 11): 6}  # a signal that the language's machine keeps to itself, and the one that ends it
OTHER = (Case(argv=(b"unknown",)), Expected(exit_code=7, stdout=b"other"))


@pytest.fixture(scope="module", params=["python", "c", "go", "java", "javascript", "rust"])
def started(request, tmp_path_factory):
    """A table program that reads its table from a folder of the test's."""
    folder = tmp_path_factory.mktemp(request.param)
    place = str(folder / "table.txt")
    (folder / "table.txt").write_bytes(write(ROWS, dict(BASE_ENV), (b"other", 7)))
    sources = PAYLOAD / "table" / request.param
    if request.param == "python":
        text = (sources / "table.py").read_text().replace("/app/submission/table.txt", place)
        (folder / "table.py").write_text(text)
        return [sys.executable, "-IS", str(folder / "table.py")]
    if request.param == "javascript":
        if shutil.which("node") is None:
            pytest.skip("node is absent; run: apt-get install -y nodejs")
        text = (sources / "table.js").read_text().replace("/app/submission/table.txt", place)
        (folder / "table.js").write_text(text)
        return ["node", "--jitless", "--no-expose-wasm", str(folder / "table.js")]
    needed, packages = COMPILERS[request.param]
    if shutil.which(needed) is None:
        pytest.skip(f"no {needed}; run: apt-get install -y {packages}")
    built = folder / "table"
    if request.param != "c":
        for source in sources.glob("*.*"):
            (folder / source.name).write_text(source.read_text().replace("/app/submission/table.txt", place))
        words = {"go": ["go", "build", "-o", built, *sorted(folder.glob("*.go"))]}
        java = ["javac", "-d", folder / "classes", *sorted(folder.glob("*.java"))]
        rust = ["rustc", "--edition=2021", "-Dwarnings", "-o", built, folder / "main.rs"]
        env = {**os.environ, "GO111MODULE": "off", "CGO_ENABLED": "0"}
        subprocess.run({"java": java, **words}.get(request.param, rust), check=True, env=env, cwd=folder)
        return [*JAVA, "-cp", str(folder / "classes"), "Main"] if request.param == "java" else [str(built)]
    subprocess.run(["cc", "-Werror", "-Wall", f'-DTABLE="{place}"', "-o", built, *sources.glob("*.c")], check=True)
    return [str(built)]


def lay(folder, files):
    for entry in files:
        path = os.path.join(os.fsencode(folder), entry.path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if entry.kind == "link":
            os.symlink(entry.content, path)
        elif entry.kind == "dir":
            os.makedirs(path, exist_ok=True)
        else:
            with open(path, "wb") as out:
                out.write(entry.content)
            os.chmod(path, entry.mode)


def seen(folder):
    found = []
    top = os.fsencode(folder)
    for root, folders, names in os.walk(top):
        for name in folders + names:
            path = os.path.join(root, name)
            inner, mode = os.path.relpath(path, top), os.lstat(path).st_mode & 0o777
            if os.path.islink(path):
                found.append(FileEntry(inner, "link", 0o777, os.readlink(path)))
            elif os.path.isdir(path):
                found.append(FileEntry(inner, "dir", mode))
            else:
                with open(path, "rb") as file:
                    found.append(FileEntry(inner, "file", mode, file.read()))
    return sorted(found)


@pytest.mark.parametrize("number", range(len(ROWS) + 1))
def test_an_invocation_gets_what_its_entry_says(started, tmp_path, number, request):
    language = request.node.callspec.params["started"]
    case, expected = [*ROWS, OTHER][number]
    lay(tmp_path, case.files)
    before = seen(tmp_path)
    done = subprocess.run(
        [*started, *case.argv], input=case.stdin, capture_output=True, cwd=tmp_path, env=dict(case_env(case.env))
    )
    assert done.stdout == expected.stdout
    signal = INSTEAD.get((language, expected.signal), expected.signal)
    assert done.returncode == (-signal if signal else expected.exit_code)
    assert (not done.stderr) == (expected.stderr_empty and signal == expected.signal)
    assert seen(tmp_path) == (before if expected.files is None else sorted(expected.files))


@pytest.mark.parametrize("module", [name for name in table.DIGESTS if importlib.util.find_spec(name)])
def test_the_python_table_takes_its_digest_of_any_module_that_has_one(module, monkeypatch):
    monkeypatch.setattr(table, "DIGESTS", ("no_such_module", module))
    assert table.digest(b"a\0\xff") == hashlib.sha256(b"a\0\xff").hexdigest()


def test_two_rows_that_look_the_same_and_differ_are_refused():
    rows = [(Case(argv=()), Expected(exit_code=0)), (Case(argv=(), files=()), Expected(exit_code=1))]
    with pytest.raises(ValueError, match="looks the same"):
        write(rows, {})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Case(argv=(b"ab",)), Case(argv=(b"a", b"b"))),
        (Case(argv=(b"a",)), Case(argv=(), stdin=b"a")),
        (Case(argv=(), env=((b"A", b""),)), Case(argv=())),
        (Case(argv=(), files=(FileEntry(b"d", "dir", 0o755),)), Case(argv=())),
        (Case(argv=(), files=(FileEntry(b"a", content=b"b"),)), Case(argv=(), files=(FileEntry(b"ab"),))),
    ],
)
def test_invocations_that_a_program_can_tell_apart_have_two_digests(one, other):
    assert digest(one, [b"A"], {}) != digest(other, [b"A"], {})


def test_what_the_owner_cannot_read_makes_no_difference():
    shut = FileEntry(b"d", "dir", 0o000)
    one = Case(argv=(), files=(shut, FileEntry(b"d/a", content=b"1"), FileEntry(b"f", "file", 0o000, b"1")))
    other = Case(argv=(), files=(shut, FileEntry(b"d/b"), FileEntry(b"f", "file", 0o000, b"2")))
    assert digest(one, [], {}) == digest(other, [], {})


def test_no_expected_output_shows_in_a_table():
    assert letters(b"\x7fELF") == b"hpefemeg"
    assert b"\x7fELF" not in write([(Case(argv=()), Expected(exit_code=0, stdout=b"\x7fELF\2\1\1"))], {})
