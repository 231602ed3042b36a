"""Two small programs of one behaviour, in C and in Python, built for real, with goldens captured from them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from programsmith.goldens.capture import Capture, expected_of, unsound
from programsmith.goldens.strength.operators import Mutation
from programsmith.goldens.strength.pool import Material
from programsmith.goldens.strength.subject import Bench, limits_of
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.payload.verifier.tree import write_tree
from programsmith.records.golden import Golden, Provenance
from programsmith.records.lock import EntryPoint, Lock, OracleFacts
from programsmith.sandboxes import open_launcher
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.build import build_source
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.recipe import BuildRequest
from programsmith.toolchains.views import run_view

ROOT = Path(__file__).parents[2]
RULES = {
    name: yaml.safe_load((ROOT / "rules" / f"{name}.yaml").read_text("utf-8"))
    for name in ("toolchains", "limits", "goldens")
}
C_FILES = {
    "Makefile": b"prefix = /usr/local\nCFLAGS = -O2\nadder: main.o sum.o\n\t$(CC) -o $@ main.o sum.o\n"
    b"install: adder\n\tmkdir -p $(DESTDIR)$(prefix)/bin\n\tcp adder $(DESTDIR)$(prefix)/bin\n",
    "sum.c": b"""int sum(int n) {
    int total = 0;
    while (n != 0) {
        total += n * 1;
        n--;
    }
    return total;
}
""",
    "main.c": b"""#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int sum(int n);
int main(int argc, char **argv) {
    if (argc < 2) {
        fputs("no word\\n", stderr);
        return 2;
    }
    if (!strcmp(argv[1], "sum"))
        printf("%d\\n", sum(atoi(argv[2])));
    if (!strcmp(argv[1], "write")) {
        FILE *out = fopen("sub/made", "w");
        fputs(getenv("WHO"), out);
        fclose(out);
    }
    if (!strcmp(argv[1], "copy")) {
        int c;
        while ((c = getchar()) != EOF)
            putchar(c);
    }
    return 0;
}
""",
}
PYTHON_FILES = {
    "pyproject.toml": b'[project]\nname = "adder"\nversion = "1"\n[project.scripts]\nadder = "adder:main"\n',
    "adder.py": b"""import os
import sys


def sum_to(n):
    total = 0
    while n != 0:
        total += n
        n -= 1
    return total


def main():
    if len(sys.argv) < 2:
        print("no word", file=sys.stderr)
        return 2
    if sys.argv[1] == "sum":
        print(sum_to(int(sys.argv[2])))
    if sys.argv[1] == "write":
        with open("sub/made", "w") as out:
            out.write(os.environ["WHO"])
    if sys.argv[1] == "copy":
        sys.stdout.buffer.write(sys.stdin.buffer.read())
    return 0
""",
}
KINDS = {"c": ("c-binary", "adder"), "python": ("python-console-script", "adder:main")}
SYSTEMS = {"c": "make", "python": "python"}
CASES = {
    "sum": Case(argv=(b"sum", b"4")),
    "none": Case(argv=()),
    "write": Case(argv=(b"write",), env=((b"WHO", b"me"),), files=(FileEntry(b"sub/kept", "file", 0o644, b"x"),)),
    "copy": Case(argv=(b"copy",), stdin=b"in\0\xff" * 40000),
}


@dataclass(frozen=True, kw_only=True)
class Adder:
    """The program of one language, installed, and what measures it."""

    material: Material
    bench: Bench
    request: BuildRequest

    def golden(self, case: Case) -> Golden:
        """What the installed program does with a case, captured as goldens are."""
        bench = self.bench
        result = Capture(bench.launcher, bench.facts, self.material.tree, bench.limits).run(case)
        assert unsound(result) is None
        return Golden(
            id=case.id,
            case=case,
            expected=expected_of(case, result),
            provenance=Provenance(miner="tables", path=b"t", line=1, blob="", licence="MIT"),
            family=case.argv[0].decode() if case.argv else "plain",
            group=case.id,
            agreement="absent",
            cpu_seconds=0.01,
        )

    def mutation(self, path: str, before: bytes, after: bytes) -> Mutation:
        """The edit of the one place in a file that holds `before`."""
        text = (C_FILES | PYTHON_FILES)[path]
        assert text.count(before) == 1
        start = text.index(before)
        return Mutation(path, text[:start].count(b"\n") + 1, start, start + len(before), "test", after)


def line_of(path: str, text: bytes) -> str:
    """`path:line` of the one line that holds `text`."""
    (at,) = [n for n, line in enumerate((C_FILES | PYTHON_FILES)[path].split(b"\n"), 1) if text in line]
    return f"{path}:{at}"


def request_of(language: str) -> BuildRequest:
    """How the program of a language is built."""
    kind, target = KINDS[language]
    entry = EntryPoint(tool="adder", kind=kind, target=target, how="test")
    lock = Lock(
        name="adder",
        origin="adder",
        commit="0" * 40,
        tree="0" * 64,
        files=3,
        licence="MIT",
        licences=(),
        language=language,
        build_system=SYSTEMS[language],
        code_lines=10,
        entry_points=(entry,),
    )
    limits = limits_of(RULES["limits"]["build"])
    toolchain = toolchains(RULES["toolchains"])[language]
    return BuildRequest(toolchain=toolchain, lock=lock, entry=entry, spec_build={}, limits=limits)


@contextmanager
def adder(language: str, folder: Path) -> Iterator[Adder]:
    """Build, install below `folder`, open a launcher."""
    files = C_FILES if language == "c" else PYTHON_FILES
    source = SourceTree(FileEntry(name.encode(), "file", 0o644, body) for name, body in files.items())
    request, tree = request_of(language), folder / "oracle"
    built = build_source(source, request)
    write_tree(os.fspath(tree), built.install)
    facts = OracleFacts(
        tool="adder",
        program=built.program,
        language=language,
        exec_allowed=(),
        recipe=built.recipe,
        subcommands=(),
        options=(),
        version="1",
        fingerprint="",
    )
    launcher = open_launcher(run_view(request.toolchain))
    bench = Bench(launcher=launcher, facts=facts, limits=limits_of(RULES["limits"]["capture"]))
    known = {"lock": request.lock, "entry": request.entry, "facts": facts, "spec_build": {}}
    try:
        yield Adder(material=Material(source=source, tree=tree, rules=RULES, **known), bench=bench, request=request)
    finally:
        launcher.close()
