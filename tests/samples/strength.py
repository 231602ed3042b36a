"""Small programs of one behaviour, one per language, built for real, with goldens captured from them."""

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
JAVASCRIPT_FILES = {
    "package.json": b'{"name": "adder", "version": "1.0.0", "bin": "cli.js"}\n',
    "sum.js": b"""exports.sumTo = (n) => {
  let total = 0;
  while (n !== 0) {
    total += n;
    n -= 1;
  }
  return total;
};
""",
    "cli.js": b"""const fs = require("fs");
const { sumTo } = require("./sum");

const [word, number] = process.argv.slice(2);
if (word === undefined) {
  console.error("no word");
  process.exit(2);
}
if (word === "sum") {
  console.log(sumTo(Number(number)));
}
if (word === "write") {
  fs.writeFileSync("sub/made", process.env.WHO);
}
if (word === "copy") {
  process.stdout.write(fs.readFileSync(0));
}
process.exitCode = 0;
""",
}
JAVA_FILES = {
    "Sum.java": b"""final class Sum {
  static int to(int n) {
    int total = 0;
    while (n != 0) {
      total += n * 1;
      n--;
    }
    return total;
  }
}
""",
    "Adder.java": b"""import java.nio.file.Files;
import java.nio.file.Path;

public final class Adder {
  public static void main(String[] args) throws Exception {
    if (args.length < 1) {
      System.err.println("no word");
      System.exit(2);
    }
    if (args[0].equals("sum")) {
      System.out.println(Sum.to(Integer.parseInt(args[1])));
    }
    if (args[0].equals("write")) {
      Files.writeString(Path.of("sub/made"), System.getenv("WHO"));
    }
    if (args[0].equals("copy")) {
      System.in.transferTo(System.out);
    }
    System.out.flush();
  }
}
""",
}
GO_FILES = {
    "go.mod": b"module forge.example/owner/adder\n\ngo 1.19\n",
    "sum/sum.go": b"""package sum

func To(n int) int {
	total := 0
	for n != 0 {
		total += n * 1
		n--
	}
	return total
}
""",
    "main.go": b"""package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"

	"forge.example/owner/adder/sum"
)

var held [][]byte

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "no word")
		os.Exit(2)
	}
	if os.Args[1] == "sum" {
		n, _ := strconv.Atoi(os.Args[2])
		fmt.Println(sum.To(n))
	}
	if os.Args[1] == "write" {
		os.WriteFile("sub/made", []byte(os.Getenv("WHO")), 0644)
	}
	if os.Args[1] == "copy" {
		io.Copy(os.Stdout, os.Stdin)
	}
	if len(os.Args) > 9 {
		syscall.Kill(0, 0)
	}
	end()
}

func end() {
	held = nil
}
""",
}
RUST_FILES = {
    "Cargo.toml": b'[package]\nname = "adder"\nversion = "1.0.0"\nedition = "2021"\n',
    "Cargo.lock": b'version = 3\n\n[[package]]\nname = "adder"\nversion = "1.0.0"\n',
    "src/sum.rs": b"""pub fn to(mut n: i64) -> i64 {
    let mut total = 0;
    while n != 0 {
        total += n * 1;
        n -= 1;
    }
    total
}
""",
    "src/main.rs": b"""mod sum;
use std::io::Write;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.len() < 2 {
        eprintln!("no word");
        std::process::exit(2);
    }
    match args[1].as_str() {
        "sum" => println!("{}", sum::to(args[2].parse().unwrap())),
        "write" => std::fs::write("sub/made", std::env::var("WHO").unwrap()).unwrap(),
        "copy" => {
            let mut all = Vec::new();
            std::io::copy(&mut std::io::stdin(), &mut all).unwrap();
            std::io::stdout().write_all(&all).unwrap();
        }
        _ => {}
    }
    end();
}

fn end() {
    let _held: Vec<Vec<u8>> = Vec::new();
}
""",
}
FILES = {
    "c": C_FILES,
    "go": GO_FILES,
    "java": JAVA_FILES,
    "javascript": JAVASCRIPT_FILES,
    "python": PYTHON_FILES,
    "rust": RUST_FILES,
}
ALL_FILES = {name: text for files in FILES.values() for name, text in files.items()}
KINDS = {
    "c": ("c-binary", "adder"),
    "go": ("go-command", "."),
    "java": ("java-main", "Adder"),
    "javascript": ("node-script", "cli.js"),
    "python": ("python-console-script", "adder:main"),
    "rust": ("rust-binary", "."),
}
SYSTEMS = {"c": "make", "go": "go", "java": "maven", "javascript": "npm", "python": "python", "rust": "cargo"}
NEEDS = {  # a program that must be there, and its packages
    "c": ("gcc", "gcc"),
    "go": ("go", "golang-go"),
    "java": ("javac", "openjdk-17-jdk-headless"),
    "javascript": ("node", "nodejs"),
    "python": ("python3", "python3"),
    "rust": ("cargo", "cargo rustc"),
}
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
        text = ALL_FILES[path]
        assert text.count(before) == 1
        start = text.index(before)
        return Mutation(path, text[:start].count(b"\n") + 1, start, start + len(before), "test", after)


def line_of(path: str, text: bytes) -> str:
    """`path:line` of the one line that holds `text`."""
    (at,) = [n for n, line in enumerate(ALL_FILES[path].split(b"\n"), 1) if text in line]
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
    files = FILES[language]
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
