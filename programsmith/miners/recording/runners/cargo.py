"""Integration tests of a crate: built once, then run one by one with the stand-in where the build left the program.

The test executables are started themselves: cargo would link the program anew over the stand-in. Every test is started
alone, so a call is known by the test that made it.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from programsmith.miners.base import Bench
from programsmith.miners.recording.log import Call
from programsmith.miners.recording.session import SOURCE, Needs, Session, Start
from programsmith.miners.recording.stand_in import StandIn
from programsmith.miners.recording.tests import own_files
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.recipe import Command

TEST = "PROGRAMSMITH_TEST"
_INTEGRATION = re.compile(rb"(^|/)tests/")
_LEFT_OUT = {
    "--release": 0,
    "--bin": 1,
    "--bins": 0,
}  # words of the build that tests are built without, and their values
_AT_ONCE = 40  # tests of one piece
_EACH = f'exe=$1; shift; for t; do {TEST}=$t timeout -k 5 120 "$exe" --exact "$t" --test-threads=1 </dev/null; done'


class Cargo:
    """The runner."""

    name = "cargo"
    in_process = re.compile(rb"#\[(\w+::)?test\]|\brgtest!")

    def tests(self, source: SourceTree, bench: Bench) -> list[FileEntry]:
        """Rust files below a folder `tests`."""
        if bench.request.toolchain.language != "rust":
            return []
        return [e for e in own_files(source) if e.path.endswith(b".rs") and _INTEGRATION.search(e.path)]

    def needs(self, _source: SourceTree, bench: Bench) -> Needs:
        """The program's path, as libraries of tests ask for it; what is built is no file of a case."""
        tool = bench.facts.tool
        env = {f"CARGO_BIN_EXE_{tool}": f"{SOURCE}/target/release/{tool}"}
        return Needs(env=env, drops=(TEST,), own=(f"{SOURCE}/target", f"{SOURCE}/vendor"), programs=("timeout",))

    def starts(self, session: Session, _tests: Sequence[FileEntry]) -> Iterator[Start]:
        """Tests in the order in which their executables list them, some at a time."""
        tool = session.bench.facts.tool
        said = session.ask(_built_tests(session.recipe.build), cpu_seconds=session.left)
        executables = list(_executables(said))
        session.stand([StandIn(path=f"{SOURCE}/target/{profile}/{tool}") for profile in ("release", "debug")])
        for path, test, folder in executables:
            names = _listed(session.ask((path, "--list", "--format", "terse"), cwd=folder))
            for first in range(0, len(names), _AT_ONCE):
                words = ("env", f"CARGO_MANIFEST_DIR={folder}", "sh", "-c", _EACH, "sh", path)
                yield Start(words=(*words, *names[first : first + _AT_ONCE]), test=test, cwd=folder)

    def place(self, call: Call, start: Start, tests: Mapping[bytes, FileEntry], /) -> tuple[bytes, str]:
        """The file of the test's module where there is one, else the executable's main file."""
        *modules, name = call.env.get(TEST.encode(), b"").split(b"::")
        folder = posixpath.dirname(start.test)
        for stem in reversed(modules):
            for path in (folder + b"/" + stem + b".rs", folder + b"/" + stem + b"/mod.rs"):
                if path in tests:
                    return path, name.decode("utf-8", "replace")
        return start.test, name.decode("utf-8", "replace")


def _built_tests(build: Sequence[Command]) -> tuple[str, ...]:
    """The build's own cargo command, building tests instead, with the profile that it has built already."""
    words = next((list(c.words) for c in build if c.words[:2] == ("cargo", "build")), ["cargo", "build", "--offline"])
    made, skip = ["cargo", "test", "--no-run", "--release", "--message-format=json"], 0
    for word in words[2:]:
        if skip:
            skip -= 1
        elif word in _LEFT_OUT:
            skip = _LEFT_OUT[word]
        else:
            made.append(word)
    return tuple(made)


def _executables(said: bytes) -> Iterator[tuple[str, bytes, str]]:
    """Executables of integration tests: path, main file below the source, folder of the package."""
    for line in said.splitlines():
        try:
            told: Any = json.loads(line)
            path, target = told["executable"], told["target"]
            main, manifest = target["src_path"], told["manifest_path"]
        except (ValueError, KeyError, TypeError):
            continue
        texts = (path, main, manifest)
        if all(isinstance(t, str) and t.startswith(f"{SOURCE}/") for t in texts) and target.get("kind") == ["test"]:
            yield path, os.fsencode(main.removeprefix(f"{SOURCE}/")), posixpath.dirname(manifest)


def _listed(said: bytes) -> list[str]:
    """Names of tests in a terse list."""
    lines = said.decode("utf-8", "replace").splitlines()
    return [line.removesuffix(": test") for line in lines if line.endswith(": test")]
