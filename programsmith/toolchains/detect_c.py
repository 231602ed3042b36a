"""Commands of a C source, as its automake or make files declare them. Nothing is configured or run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from programsmith.records.lock import EntryPoint
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.makefile import Makefile, Rule

MAIN = re.compile(rb"^[ \t]*(?:\w[\w*]*[ \t\n]+\*?){0,3}main[ \t\n]*\(", re.MULTILINE)
NOT_A_COMMAND = re.compile(rb"(.*/)?(tests?|testing|t|examples?|docs?)/.*")
PROGRAM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+/-]*")
OTHER_OUTPUT = re.compile(r".*\.(o|lo|a|la|so|c|h|d|1|in|am|ac|m4|txt|html|pdf|tar|gz|xz)|.*\.so\..*")
COMPILES = re.compile(r"\$[({](CC|LD|LINK\.c?|LINK)[)}]|\b(g?cc|c99|clang|ld)\b|\$\(LINK")
PHONY = frozenset(
    {"all", "check", "clean", "default", "depend", "dist", "distclean", "doc", "docs", "everything", "help", "install"}
    | {"lint", "man", "test", "tests", "uninstall"}
)
MAKE_NAMES = (b"GNUmakefile", b"Makefile", b"makefile", b"Makefile.in")


def c_entry_points(tree: SourceTree) -> list[EntryPoint]:
    """Programs that the build installs or links; empty where no file outside tests defines `main`."""
    if not _mains(tree):
        return []
    automake = {e.tool: e for e in _automake(tree)}
    return list((automake or {e.tool: e for e in _make(tree)}).values())


def _mains(tree: SourceTree) -> set[bytes]:
    """Stems of the files that define main."""
    return {
        e.path.rpartition(b"/")[2].removesuffix(b".c")
        for e in tree.files(b".c")
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


def _make(tree: SourceTree) -> Iterator[EntryPoint]:
    found = next((e for name in MAKE_NAMES if (e := tree.get(name)) and e.kind == "file"), None)
    if found is None:
        return
    makefile = Makefile(found.content)
    stems = {m.decode("utf-8", "surrogateescape") for m in _mains(tree)}
    phony = PHONY | {need for rule in makefile.rules if rule.target == ".PHONY" for need in rule.needs}
    for rule in makefile.rules:
        if _is_program(rule, phony) and _links(rule, stems):
            yield _entry(rule.target, f"{found.path.decode()} target {rule.target}")
    wanted = {need for rule in makefile.rules if rule.target == "all" for need in rule.needs}
    for need in sorted(wanted & stems - {rule.target for rule in makefile.rules}):
        yield _entry(need, f"{found.path.decode()} all")  # make's own rule links it


def _is_program(rule: Rule, phony: frozenset[str] | set[str]) -> bool:
    plain = PROGRAM.fullmatch(rule.target) is not None and OTHER_OUTPUT.fullmatch(rule.target) is None
    return plain and rule.target not in phony


def _links(rule: Rule, stems: set[str]) -> bool:
    """Whether the rule makes a program: it links with a recipe of its own, or by make's rule for its main file."""
    objects = any(need.endswith((".o", ".c", ".lo", ".a")) for need in rule.needs)
    by_recipe = any(COMPILES.search(line) and " -c " not in f"{line} " for line in rule.recipe)
    shared = any("-shared" in line for line in rule.recipe)
    implied = not rule.recipe and objects and rule.target.rpartition("/")[2] in stems
    return (by_recipe and not shared and (objects or "-o" in " ".join(rule.recipe))) or implied
