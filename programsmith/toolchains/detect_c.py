"""Commands of a C or C++ source, as its build files declare them. Nothing is configured or run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from programsmith.records.lock import EntryPoint
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.detect_cmake import cmake_entry_points, meson_entry_points
from programsmith.toolchains.makefile import Makefile, Rule

MAIN = re.compile(rb"^[ \t]*(?:\w[\w*]*[ \t\n]+\*?){0,3}main[ \t\n]*\(", re.MULTILINE)
NOT_A_COMMAND = re.compile(rb"(.*/)?(tests?|testing|t|examples?|docs?)/.*")
PROGRAM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+/-]*")
OTHER_OUTPUT = re.compile(r".*\.(o|lo|a|la|so|c|h|d|1|in|am|ac|m4|txt|html|pdf|tar|gz|xz)|.*\.so\..*")
COMPILES = re.compile(r"\$[({](CC|CXX|LD|LINK\.c?|LINK)[)}]|\b(g?cc|c99|clang|ld)\b|\b(g|c|clang)\+\+(?!\w)|\$\(LINK")
COMPILER = re.compile(rb"\$\{?(CC|CXX)\b")
C_SUFFIXES = (b".c",)
CPP_SUFFIXES = (b".cc", b".cpp", b".cxx", b".c++")
PHONY = frozenset(
    {"all", "check", "clean", "default", "depend", "dist", "distclean", "doc", "docs", "everything", "help", "install"}
    | {"lint", "man", "test", "tests", "uninstall"}
)
MAKE_NAMES = (b"GNUmakefile", b"Makefile", b"makefile", b"Makefile.in")


def c_entry_points(tree: SourceTree) -> list[EntryPoint]:
    """Programs that the build installs or links; empty where no file outside tests defines `main`."""
    made = _made(tree, C_SUFFIXES)
    return made or (_generated(tree) if _mains(tree, C_SUFFIXES) else [])


def cpp_entry_points(tree: SourceTree) -> list[EntryPoint]:
    """The same of C++, whose builds are rather CMake's or Meson's."""
    suffixes = (*CPP_SUFFIXES, *C_SUFFIXES)
    return (_generated(tree) if _mains(tree, suffixes) else []) or _made(tree, suffixes)


def _generated(tree: SourceTree) -> list[EntryPoint]:
    """Programs of a root that CMake or Meson reads."""
    if tree.get(b"CMakeLists.txt") and (found := cmake_entry_points(tree)):
        return found
    return meson_entry_points(tree) if tree.get(b"meson.build") else []


def _made(tree: SourceTree, suffixes: tuple[bytes, ...]) -> list[EntryPoint]:
    if not _mains(tree, suffixes):
        return []
    automake = {e.tool: e for e in _automake(tree)}
    return list((automake or {e.tool: e for e in _make(tree, suffixes)}).values())


def _mains(tree: SourceTree, suffixes: tuple[bytes, ...]) -> set[bytes]:
    """Stems of the files that define main."""
    return {
        e.path.rpartition(b"/")[2].removesuffix(suffix)
        for suffix in suffixes
        for e in tree.files(suffix)
        if not NOT_A_COMMAND.fullmatch(e.path) and MAIN.search(e.content)
    }


def _entry(path: str, how: str) -> EntryPoint:
    return EntryPoint(tool=path.rpartition("/")[2], kind="c-binary", target=path, how=how)


def _automake(tree: SourceTree) -> Iterator[EntryPoint]:
    for e in tree.files(b"Makefile.am"):
        if NOT_A_COMMAND.fullmatch(e.path):
            continue
        folder = e.path.decode("utf-8", "surrogateescape").rpartition("/")[0]
        makefile = Makefile(e.content)
        for word in makefile.words("bin_PROGRAMS"):
            if PROGRAM.fullmatch(word):
                yield _entry(f"{folder}/{word}" if folder else word, f"{e.path.decode(errors='replace')} bin_PROGRAMS")


def _make(tree: SourceTree, suffixes: tuple[bytes, ...]) -> Iterator[EntryPoint]:
    found = next((e for name in MAKE_NAMES if (e := tree.get(name)) and e.kind == "file"), None)
    if found is None:
        return
    makefile = Makefile(found.content)
    stems = {m.decode("utf-8", "surrogateescape") for m in _mains(tree, suffixes)}
    phony = PHONY | {need for rule in makefile.rules if rule.target == ".PHONY" for need in rule.needs}
    for rule in makefile.rules:
        if _is_program(rule, phony) and (_links(rule, stems) or _links_by_script(rule, tree)):
            yield _entry(rule.target, f"{found.path.decode()} target {rule.target}")
    wanted = {need for rule in makefile.rules if rule.target == "all" for need in rule.needs}
    for need in sorted(wanted & stems - {rule.target for rule in makefile.rules}):
        yield _entry(need, f"{found.path.decode()} all")  # make's own rule links it


def _is_program(rule: Rule, phony: frozenset[str] | set[str]) -> bool:
    plain = PROGRAM.fullmatch(rule.target) is not None and OTHER_OUTPUT.fullmatch(rule.target) is None
    return plain and rule.target not in phony


def _links(rule: Rule, stems: set[str]) -> bool:
    """Whether the rule makes a program: it links with a recipe of its own, or by make's rule for its main file."""
    objects = _needs_code(rule)
    by_recipe = any(COMPILES.search(line) and " -c " not in f"{line} " for line in rule.recipe)
    shared = any("-shared" in line for line in rule.recipe)
    implied = not rule.recipe and objects and rule.target.rpartition("/")[2] in stems
    return (by_recipe and not shared and (objects or "-o" in " ".join(rule.recipe))) or implied


def _links_by_script(rule: Rule, tree: SourceTree) -> bool:
    """Whether the rule has a script of the source compile what it needs, as where a configuration says which files."""
    first = (next(iter(line.lstrip("@-").split()), "").removeprefix("./") for line in rule.recipe)
    scripts = (tree.get(os.fsencode(word)) for word in first)
    return _needs_code(rule) and any(s and s.kind == "file" and COMPILER.search(s.content) for s in scripts)


def _needs_code(rule: Rule) -> bool:
    return any(need.endswith((".o", ".c", ".cc", ".cpp", ".cxx", ".lo", ".a")) for need in rule.needs)
