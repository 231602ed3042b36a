"""Commands of a Java source: main classes that its pom.xml or Gradle build names, else classes with a main method.

In: the tree. Out: entry points of the kind `java-main`, whose target is the class. Read, never run. Refuses
(RefusedError `no_build_system`) builds that only their own program can read: several modules, Gradle with more than
plain dependencies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

from programsmith.payload.verifier.model import FileEntry
from programsmith.records.lock import EntryPoint
from programsmith.sources.origin import RefusedError
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.java_manifest import Pom, gradle

MAIN = re.compile(rb"\bpublic\s+static\s+void\s+main\s*\(\s*(?:final\s+)?String\b")
PACKAGE = re.compile(rb"(?m)^\s*package\s+([\w.]+)\s*;")
CLASS = re.compile(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*")
TOOL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
NOT_MAIN = re.compile(
    rb"(.*/)?(tests?|testing|it|integration-?tests?|docs?|examples?|samples?|benchmarks?|jmh|\.[^/]+)/.*"
    rb"|(.*/)?\w*Tests?\.java|(.*/)?(module|package)-info\.java"
)
ROOT = b"src/main/java/"
GRADLE_MAIN = re.compile(r"(?:mainClass(?:Name)?|Main-Class)\b[^\n\w]*(?:set\()?[\"' =:(]*([A-Za-z_][\w.$]*)")
STARTED = ("mainClass", "Main-Class", "exec.mainClass", "main.class")


def main_sources(tree: SourceTree) -> list[FileEntry]:
    """What is compiled: the files below src/main/java, else every one outside tests and examples."""
    found = [e for e in tree.files(b".java") if not NOT_MAIN.fullmatch(e.path.removeprefix(ROOT))]
    return [e for e in found if e.path.startswith(ROOT)] or found


def java_entry_points(tree: SourceTree) -> list[EntryPoint]:
    """Declared main classes that are in the source, else all that have a main method. Raises RefusedError."""
    pom, build = Pom(tree), gradle(tree)
    if pom.modules:
        raise RefusedError(
            "no_build_system",
            f"a Maven build of {len(pom.modules)} modules; source.subdir can choose one that stands alone",
        )
    mains = {class_of(e): e for e in main_sources(tree) if MAIN.search(e.content)}
    named = [("pom.xml", name) for name in pom.texts(*STARTED)]
    named += [("Gradle build", name) for name in GRADLE_MAIN.findall(build)]
    declared = dict.fromkeys((name, how) for how, name in named if name in mains)
    if declared:
        names = pom.texts("finalName") if len(declared) == 1 else []
        plain = [n for n in (*names, pom.artifact, _gradle_name(tree)) if TOOL.fullmatch(n)]
        return _entries(declared, plain)
    plain = [pom.artifact] if TOOL.fullmatch(pom.artifact) else []
    return _entries([(name, "main method") for name in sorted(mains)], plain)


def class_of(entry: FileEntry) -> str:
    """The full name of a file's public class."""
    name = entry.path.rpartition(b"/")[2].removesuffix(b".java").decode("utf-8", "replace")
    package = PACKAGE.search(entry.content)
    return f"{package[1].decode('ascii', 'replace')}.{name}" if package else name


def _entries(named: Collection[tuple[str, str]], plain: list[str]) -> list[EntryPoint]:
    """An entry per class, each with a name of its own: of two that would have the same, the package goes first."""
    tools = {name: _tool(name, plain, single=len(named) == 1) for name, _ in named}
    often = Counter(tools.values())
    for name, tool in tools.items():
        if often[tool] > 1 and "." in name:
            tools[name] = f"{name.rsplit('.', 2)[-2]}-{tool}"
    return [EntryPoint(tool=tools[name], kind="java-main", target=name, how=how) for name, how in named]


def _tool(name: str, plain: list[str], *, single: bool) -> str:
    """The project's name where it has one command, else the class's."""
    if single and plain:
        return plain[0]
    return name.rpartition(".")[2].lower()


def _gradle_name(tree: SourceTree) -> str:
    for path in (b"settings.gradle", b"settings.gradle.kts"):
        entry = tree.get(path)
        found = re.search(rb"rootProject\.name\s*=\s*[\"']([\w.-]+)[\"']", entry.content) if entry else None
        if found:
            return found[1].decode("ascii", "replace")
    return ""


def gradle_lines(text: str) -> Iterator[tuple[str, str]]:
    """(configuration, rest of the line) of what a Gradle build's `dependencies` blocks hold, in their order."""
    text = re.sub(r"/\*.*?\*/|(?m:(?<!:)//.*$)", "", text, flags=re.DOTALL)
    for block in re.findall(r"(?m)^dependencies\s*\{(.*?)^\}", text, re.DOTALL):
        for line in block.splitlines():
            found = re.match(r"\s*(\w+)\b\s*(.*)$", line)
            if found:
                yield found[1], found[2].strip()
