"""Small programs in C and Python, and requests to build them with the real rules in the real sandbox."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.records.lock import EntryPoint, LicenceFact, Lock
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.recipe import BuildRequest

ROOT = Path(__file__).parents[3]
RULE = yaml.safe_load((ROOT / "rules" / "toolchains.yaml").read_text("utf-8"))
LIMITS = yaml.safe_load((ROOT / "rules" / "limits.yaml").read_text("utf-8"))
KNOWN = toolchains(RULE)

GREET_C = b"""#include <stdio.h>
#include <string.h>
#include "words.h"
int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--help")) { puts("Usage: greet [--loud] [NAME]\\n  --loud  shout"); return 0; }
    if (argc > 1 && !strcmp(argv[1], "--version")) { puts("greet 1.2"); return 0; }
    printf("%s %s\\n", word(), argc > 1 ? argv[1] : "world");
    return 0;
}
"""
C_FILES = {
    "Makefile": b"prefix = /usr/local\nCFLAGS = -O2 -Wall\ngreet: greet.o words.o\n\t$(CC) -o $@ greet.o words.o\n"
    b"greet.o words.o: words.h\ninstall: greet\n\tmkdir -p $(DESTDIR)$(prefix)/bin $(DESTDIR)$(prefix)/share/man/man1\n"
    b"\tcp greet $(DESTDIR)$(prefix)/bin\n\tcp greet.1 $(DESTDIR)$(prefix)/share/man/man1\n",
    "greet.c": GREET_C,
    "words.h": b"const char *word(void);\n",
    "words.c": b'#include "words.h"\nconst char *word(void) { return "hello"; }\n',
    "greet.1": b".TH GREET 1\n.SH OPTIONS\n.TP\n.B \\-\\-loud\nshout\n",
    "README.md": b"# greet\nSee https://forge.example/owner/greet for more.\n",
    "LICENSE": b"MIT License\n",
}
PYTHON_FILES = {
    "pyproject.toml": b'[project]\nname = "greet"\nversion = "1.2"\nrequires-python = ">=3.8"\n'
    b'[project.scripts]\ngreet = "greet.cli:main"\n',
    "src/greet/__init__.py": b"",
    "src/greet/cli.py": b"import sys\nfrom importlib.metadata import version\ndef main():\n"
    b"    if sys.argv[1:] == ['--version']:\n        print('greet', version('greet'))\n        return 0\n"
    b"    if sys.argv[1:] == ['--help']:\n        print('Usage:', sys.argv[0], '[--loud] NAME')\n        return 0\n"
    b"    print('hello', *sys.argv[1:])\n    return 3\n",
    "tests/test_greet.py": b"assert True\n",
    "README.md": b"# greet\n",
    "LICENSE": b"MIT License\n",
}
SYSTEMS = {
    "c": "make",
    "cpp": "make",
    "go": "go",
    "java": "maven",
    "javascript": "npm",
    "python": "python",
    "rust": "cargo",
}
ENTRIES = {
    "c": EntryPoint(tool="greet", kind="c-binary", target="greet", how="Makefile target greet"),
    "go": EntryPoint(tool="greet", kind="go-command", target=".", how="package main in ."),
    "rust": EntryPoint(tool="greet", kind="rust-binary", target=".", how="Cargo.toml of .: src/main.rs"),
    "python": EntryPoint(tool="greet", kind="python-console-script", target="greet.cli:main", how="pyproject.toml"),
}


def tree(files: dict[str, bytes]) -> SourceTree:
    """A source tree; names that end with `.sh` or have a shebang are executable."""
    return SourceTree(
        FileEntry(name.encode(), "file", 0o755 if body.startswith(b"#!") else 0o644, body)
        for name, body in files.items()
    )


def lock(language: str, build_system: str = "", entry: EntryPoint | None = None, notes: tuple[str, ...] = ()) -> Lock:
    return Lock(
        name="greet",
        origin="https://forge.example/owner/greet",
        commit="0123456789abcdef0123456789abcdef01234567",
        tree="89abcdef" * 8,
        files=1,
        licence="MIT",
        licences=(LicenceFact(path="LICENSE", expression="MIT", how="text"),),
        language=language,
        build_system=build_system or SYSTEMS[language],
        code_lines=10,
        entry_points=(entry or ENTRIES[language],),
        notes=notes,
    )


def request(language: str, **changes: Any) -> BuildRequest:
    """A request for the tool greet; `build_system`, `entry` and `notes` go into its lock."""
    locked = lock(language, **{k: changes.pop(k) for k in ("build_system", "entry", "notes") if k in changes})
    return BuildRequest(
        toolchain=KNOWN[language],
        lock=locked,
        entry=locked.entry_points[0],
        limits=Limits(**LIMITS["build"]),
        **{"spec_build": {}, **changes},
    )


@pytest.fixture
def kit() -> SimpleNamespace:
    """The helpers of this module."""
    return SimpleNamespace(
        tree=tree, lock=lock, request=request, rule=RULE, limits=LIMITS, known=KNOWN, c=C_FILES, python=PYTHON_FILES,
        entries=ENTRIES, root=ROOT,
    )  # fmt: skip


@pytest.fixture
def autotools() -> tuple[str, ...]:
    """Packages that make a configure script; skips where they are absent."""
    if not all(map(shutil.which, ("autoreconf", "automake", "libtoolize"))):
        pytest.skip("autotools are absent; run: apt-get install -y autoconf automake libtool")
    return ("autoconf", "automake", "libtool")
