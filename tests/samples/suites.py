"""Small programs with suites written in code, and what it takes to record them with the real parts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import yaml

from programsmith.goldens.agreement import agreement
from programsmith.goldens.capture import Capture
from programsmith.miners.base import Bench, MineContext, MineLimits
from programsmith.miners.recorder import Recorder
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.payload.verifier.tree import write_tree
from programsmith.records.golden import MinedCase
from programsmith.records.lock import EntryPoint, Lock, OracleFacts
from programsmith.sandboxes import open_launcher
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.build import build_source
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.recipe import BuildRequest
from programsmith.toolchains.views import run_view

ROOT = Path(__file__).parents[2]
RULES = {
    name: yaml.safe_load((ROOT / f"rules/{name}.yaml").read_bytes()) for name in ("goldens", "limits", "toolchains")
}
MINING = RULES["goldens"]["mining"]

# show [-l DIR] [-w FILE TEXT] [-x PROGRAM] [-s] FILE…: files, listings, a write, a call of itself, stdin, a variable
SHOW_C = rb"""#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static void copy(FILE *from) { int c; while (from && (c = getc(from)) != EOF) putchar(c); if (from) fclose(from); }
int main(int argc, char **argv) {
    const char *mode = getenv("SHOW_MODE");
    if (mode) printf("mode %s\n", mode);
    for (int i = 1; i < argc; i++) {
        struct stat facts;
        if (!strcmp(argv[i], "-s")) copy(stdin);
        else if (!strcmp(argv[i], "-l")) {
            char *names[64]; int n = 0; DIR *d = opendir(argv[++i]); struct dirent *e;
            while (d && n < 64 && (e = readdir(d))) if (e->d_name[0] != '.') names[n++] = strdup(e->d_name);
            for (int a = 0; a < n; a++) for (int b = a + 1; b < n; b++)
                if (strcmp(names[b], names[a]) < 0) { char *t = names[a]; names[a] = names[b]; names[b] = t; }
            for (int a = 0; a < n; a++) puts(names[a]);
        } else if (!strcmp(argv[i], "-w")) {
            FILE *f = fopen(argv[++i], "a"); if (f) { fputs(argv[++i], f); fclose(f); } }
        else if (!strcmp(argv[i], "-x")) { fflush(stdout); if (system(argv[++i])) return 7; }
        else if (!strcmp(argv[i], "-t")) puts(isatty(0) ? "tty" : "no tty");
        else if (stat(argv[i], &facts)) { fprintf(stderr, "no %s\n", argv[i]); return 2; }
        else { printf("%s:\n", argv[i]); copy(fopen(argv[i], "r")); }
    }
    return 0;
}
"""
SHOW_MAKE = rb"""prefix = /usr/local
show: show.c
	$(CC) -O1 -o $@ show.c
install: show
	mkdir -p $(DESTDIR)$(prefix)/bin && cp show $(DESTDIR)$(prefix)/bin
check: show
	sh tests/run-tests.sh $(CHECKED)
"""
SHOW_CHECK = rb"""#!/bin/sh
PROG=./show
echo one > tests/one.txt
$PROG tests/one.txt
$PROG -w tests/chain.txt a && $PROG tests/chain.txt && $PROG -w tests/chain.txt b && $PROG tests/chain.txt
T=$(mktemp -d); echo inner > "$T/f"; mkdir "$T/sub"; touch "$T/sub/x" "$T/sub/y"
$PROG "$T/f"; $PROG -l "$T/sub"; (cd "$T" && show -l sub f)
echo piped | SHOW_MODE=loud $PROG -s
$PROG -s < tests/one.txt
printf 'a\nb\n' > "$T/lines"; while read -r line; do $PROG "$T/f" > /dev/null; done < "$T/lines"
$PROG -x './show tests/one.txt'
$PROG missing.txt; test $? -eq 2
ln -s f "$T/link"; $PROG "$T/link"
ln -s /etc/passwd "$T/out"; $PROG "$T/out"
echo /build/source/show.c > "$T/paths"; $PROG "$T/paths"
"""
SHOW_BATS = rb"""@test "shows a file" {
  echo in > "$BATS_TEST_TMPDIR/in.txt"
  run show "$BATS_TEST_TMPDIR/in.txt"
  [ "$status" -eq 0 ]
}
@test "parallel calls" {
  for i in 1 2 3 4 5 6; do echo "$i" > "$BATS_TEST_TMPDIR/p$i"; (cd "$BATS_TEST_TMPDIR" && show "p$i") & done
  wait
}
"""
SHOW = {"show.c": SHOW_C, "Makefile": SHOW_MAKE, "tests/run-tests.sh": SHOW_CHECK, "tests/show.bats": SHOW_BATS}

ECHO_CLI = rb"""import os
import sys


def main(argv=None):
    for word in sys.argv[1:] if argv is None else argv:
        print(open(word).read() if os.path.isfile(word) else word)
    print(os.environ.get("ECHOES_MODE"), sys.stdin.read())
    return 3
"""
ECHO_TEST = rb"""import asyncio
import os
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

import pytest


def run(*words, **more):
    return subprocess.run([sys.executable, "-m", "echoes", *words], capture_output=True, **more)


def test_module(tmp_path):
    file = tmp_path / "in.txt"
    file.write_text("content")
    assert b"content" in run(str(file), stdin=subprocess.DEVNULL).stdout


@pytest.mark.parametrize("number", [1, 2])
def test_variable(number):
    done = run(f"n{number}", env={**os.environ, "ECHOES_MODE": "m", "UNRELATED": "1"}, input=b"in")
    assert done.stdout.endswith(b"m in\n")


def test_console():
    assert subprocess.run(["echoes", "console"], stdin=subprocess.DEVNULL).returncode == 3


def test_environment():
    place = os.environ["VIRTUAL_ENV"] + "/bin/"
    assert subprocess.run([place + "echoes", "placed"], stdin=subprocess.DEVNULL).returncode == 3
    assert subprocess.run([place + "python", "-m", "echoes", "by python"], stdin=subprocess.DEVNULL).returncode == 3


def test_options_of_the_interpreter():
    words = [sys.executable, "-Wignore", "-X", "utf8", "-m", "echoes", "-m", "late"]
    assert subprocess.run(words, stdin=subprocess.DEVNULL).returncode == 3


def test_another_program():
    assert subprocess.check_output([sys.executable, "-c", "print(1)"]) == b"1\n"


def test_chained(tmp_path):
    for text in ("first", "second"):
        (tmp_path / "state").write_text(text)
        run("state", cwd=tmp_path, input=b"")


def test_parallel(tmp_path):
    for n in range(4):
        (tmp_path / f"p{n}").write_text(str(n))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: run(f"p{n}", cwd=tmp_path, input=b""), range(4)))


def test_open_stdin():
    with subprocess.Popen(["echoes", "never"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as live:
        live.stdin.write(b"half")
        live.stdin.flush()
        live.kill()


class Old(unittest.TestCase):
    def test_unittest(self):
        self.assertEqual(run("unit", input=b"").returncode, 3)
"""
ECHOES = {
    "pyproject.toml": b'[project]\nname = "echoes"\nversion = "1"\n[project.scripts]\nechoes = "echoes.cli:main"\n',
    "src/echoes/__init__.py": b"",
    "src/echoes/__main__.py": b"from echoes.cli import main\n\nraise SystemExit(main())\n",
    "src/echoes/cli.py": ECHO_CLI,
    "tests/test_echoes.py": ECHO_TEST,
    "tests/test_inside.py": b"from echoes.cli import main\n\n\ndef test_inside(monkeypatch):\n"
    b"    monkeypatch.setattr('sys.stdin', open('/dev/null'))\n    assert main(['x']) == 3\n    assert main([]) == 3\n",
}
_ENTRIES = {
    "rust": ("shout", "rust-binary", ".", "cargo"),
    "go": ("talk", "go-main", ".", "go"),
    "c": ("show", "c-binary", "show", "make"),
    "python": ("echoes", "python-console-script", "echoes.cli:main", "python"),
}


@dataclass(frozen=True)
class Recorded:
    """What the recorder found in a suite: cases, counts, and the oracle to ask."""

    cases: list[MinedCase]
    skipped: dict[str, int]
    capture: Capture
    said: list[str]

    def replayed(self) -> dict[str, list[MinedCase]]:
        """Cases by whether the oracle, alone, answers as in the suite."""
        found: dict[str, list[MinedCase]] = {}
        for mined in self.cases:
            found.setdefault(agreement(mined.recorded, self.capture.run(mined.case)), []).append(mined)
        return found

    def by_argv(self, *words: bytes) -> list[MinedCase]:
        """Cases of this command line."""
        return [m for m in self.cases if m.case.argv == words]


def request(language: str) -> BuildRequest:
    """The request that builds the sample of a language."""
    tool, kind, target, system = _ENTRIES[language]
    entry = EntryPoint(tool=tool, kind=kind, target=target, how="sample")
    lock = Lock(
        name=tool, origin="x", commit="0" * 40, tree="0" * 64, files=1, licence="MIT", licences=(), language=language,
        build_system=system, code_lines=1, entry_points=(entry,),
    )  # fmt: skip
    return BuildRequest(
        toolchain=toolchains(RULES["toolchains"])[language],
        lock=lock,
        entry=entry,
        spec_build={},
        limits=Limits(**RULES["limits"]["build"]),
    )


def source(files: dict[str, bytes]) -> SourceTree:
    """A source of these files; those with a shebang are executable."""
    return SourceTree(
        FileEntry(name.encode(), "file", 0o755 if body.startswith(b"#!") else 0o644, body)
        for name, body in files.items()
    )


def record(files: dict[str, bytes], language: str, scratch: Path, **rule: object) -> Recorded:
    """Build a sample, record its suites. Close the capture's launcher."""
    asked, tree = request(language), source(files)
    built, oracle = build_source(tree, asked), scratch / "oracle"
    write_tree(os.fspath(oracle), built.install)
    facts = OracleFacts(
        tool=asked.entry.tool, program=built.program, language=language, exec_allowed=("/usr/bin/sh",), recipe=(),
        subcommands=(), options=(), version="", fingerprint="",
    )  # fmt: skip
    said: list[str] = []
    bench = Bench(
        say=said.append,
        request=asked,
        facts=facts,
        oracle=oracle,
        limits=Limits(**RULES["limits"]["suite"]),
        rule={**MINING["recorder"], **rule},
    )
    limits = MineLimits(**{name: MINING[name] for name in MineLimits.__dataclass_fields__})
    context = MineContext(tool=facts.tool, licence=lambda _: "MIT", limits=limits, bench=bench)
    cases = list(Recorder().mine(tree, context))
    launcher = open_launcher(run_view(asked.toolchain, facts.exec_allowed))
    capture = Capture(launcher, facts, oracle, Limits(**RULES["limits"]["capture"]))
    return Recorded(cases, {k: v for k, v in context.skipped.items() if v}, capture, said)
