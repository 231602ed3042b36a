"""Dependencies of a Java source by Maven, without a plugin, a parent or an extension of the source being loaded.

In: pom.xml or a Gradle build, read as data. Out: jars that a run needs below vendor/, and those that only a build needs
below build/. Maven reads one file that is written here, in an empty folder: fixed versions in a registry, resolved with
all that they need by one plugin of a pinned version. Refuses (BuildRefusedError `needs_network_build`) by name what has
no fixed version or lies elsewhere.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from pathlib import Path

from programsmith.errors import InfraError, PrerequisiteError
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.outcome import Word
from programsmith.sandboxes.scratch import scratch
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.detect_java import gradle_lines
from programsmith.toolchains.java_manifest import Dependency, Pom, gradle
from programsmith.toolchains.recipe import BuildRefusedError, BuildRequest

NAME = re.compile(r"[A-Za-z0-9_.-]+")
FIXED = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
RUN, BUILD = frozenset({"compile", "runtime"}), frozenset({"provided"})
NO_NETWORK = re.compile(r"Unknown ?[Hh]ost|Connection refused|timed out|Network is unreachable|transfer failed")
COORDINATES = re.compile(r"\(?\s*[\"']([\w.-]+):([\w.-]+):([\w.+-]+)[\"']\s*\)?")
CONFIGURATIONS = {
    "implementation": "compile",
    "api": "compile",
    "compile": "compile",
    "runtimeOnly": "runtime",
    "runtime": "runtime",
    "compileOnly": "provided",
    "annotationProcessor": "provided",
}
OF_TESTS = re.compile(r"test|androidTest|jmh", re.IGNORECASE)
LAST = 15


def fetch_maven(source: SourceTree, request: BuildRequest) -> tuple[FileEntry, ...]:
    """Entries below vendor/ and build/. Raises BuildRefusedError, PrerequisiteError, InfraError."""
    if request.spec_build.get("fetch"):
        raise BuildRefusedError(Word.UNBUILDABLE, "build.fetch: java takes what pom.xml or the Gradle build names")
    pom = Pom(source)
    wanted = [
        *(_plain(d) for d in pom.dependencies() if d.scope != "test"),
        *_of_gradle(gradle(source) if not pom.artifact else ""),
    ]
    if not wanted:
        return ()
    with scratch("fetch") as folder:
        (folder / "pom.xml").write_bytes(project(wanted, managed(pom)))
        for part, scope, scopes in (("vendor", "runtime", RUN), ("build", "provided", BUILD)):
            if any(d.scope in scopes for d in wanted):
                _copy(folder, folder / part, scope, request)
        return tuple(sorted({e.path: e for part in ("build", "vendor") for e in _jars(folder / part, part)}.values()))


def _plain(d: Dependency) -> Dependency:
    """The dependency, where it names something in a registry. Raises BuildRefusedError."""
    name = f"{d.group}:{d.artifact}"
    if d.scope not in RUN | BUILD:
        raise _refused(f"{name} has the scope {d.scope!r}: it lies in the repository, not in a registry")
    if not NAME.fullmatch(d.group) or not NAME.fullmatch(d.artifact) or d.kind not in ("jar", "bundle"):
        raise _refused(f"{name} is no jar in a registry")
    if (d.version and not FIXED.fullmatch(d.version)) or d.version.endswith("-SNAPSHOT"):
        raise _refused(f"{name}: {d.version!r} is no fixed version")
    return d


def _of_gradle(text: str) -> Iterator[Dependency]:
    """Dependencies of a Gradle build that are plain coordinates. Raises BuildRefusedError for any other."""
    for configuration, rest in gradle_lines(text):
        if OF_TESTS.match(configuration):
            continue
        found = COORDINATES.fullmatch(rest)
        if configuration not in CONFIGURATIONS or not found:
            raise _refused(f"Gradle's {configuration} {rest[:80]!r} is no plain group:artifact:version")
        yield Dependency(
            group=found[1], artifact=found[2], version=found[3], scope=CONFIGURATIONS[configuration], kind="jar",
            classifier="", optional=False, exclusions=(),
        )  # fmt: skip


def managed(pom: Pom) -> list[Dependency]:
    """What states versions: the source's own statements, and its parent's, which is asked of the registry."""
    own = [d for d in pom.dependencies(managed=True) if FIXED.fullmatch(d.version) and NAME.fullmatch(d.artifact)]
    group, artifact, version = pom.parent
    if group and artifact and FIXED.fullmatch(version) and not version.endswith("-SNAPSHOT"):
        own.append(
            Dependency(group=group, artifact=artifact, version=version, scope="import", kind="pom", classifier="",
                       optional=False, exclusions=())
        )  # fmt: skip
    return own


def project(wanted: Iterable[Dependency], stated: Iterable[Dependency]) -> bytes:
    """The one pom.xml that Maven reads."""
    root = ET.Element("project", xmlns="http://maven.apache.org/POM/4.0.0")
    for name, text in (("modelVersion", "4.0.0"), ("groupId", "fetched"), ("artifactId", "fetched"), ("version", "0")):
        ET.SubElement(root, name).text = text
    _list(ET.SubElement(ET.SubElement(root, "dependencyManagement"), "dependencies"), stated)
    _list(ET.SubElement(root, "dependencies"), wanted)
    return ET.tostring(root)


def _list(at: ET.Element, listed: Iterable[Dependency]) -> None:
    for d in listed:
        e = ET.SubElement(at, "dependency")
        fields = {"groupId": d.group, "artifactId": d.artifact, "version": d.version, "scope": d.scope, "type": d.kind,
                  "classifier": d.classifier}  # fmt: skip
        for name, text in fields.items():
            if text:
                ET.SubElement(e, name).text = text
        out = ET.SubElement(e, "exclusions") if d.exclusions else e
        for group, artifact in d.exclusions:
            x = ET.SubElement(out, "exclusion")
            ET.SubElement(x, "groupId").text, ET.SubElement(x, "artifactId").text = group, artifact


def _copy(folder: Path, into: Path, scope: str, request: BuildRequest) -> None:
    mvn, rule = shutil.which("mvn"), request.toolchain.fetch
    assert rule is not None
    if mvn is None:
        raise PrerequisiteError("java: mvn brings the dependencies and is not on PATH; run: apt-get install -y maven")
    clean = ("env", "-u", "MAVEN_OPTS", "-u", "MAVEN_ARGS", "-u", "JAVA_TOOL_OPTIONS", "-u", "JDK_JAVA_OPTIONS")
    words = [*clean, mvn, *rule.options, f"-Dmaven.repo.local={folder}/repository", PLUGIN, f"-DincludeScope={scope}",
             f"-DoutputDirectory={into}", "-Dmdep.prependGroupId=true"]  # fmt: skip
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=request.limits.wall_seconds,
        )
    except subprocess.TimeoutExpired as late:
        raise InfraError(f"mvn: no end after {late.timeout:.0f} s") from late
    if done.returncode:
        log = (done.stdout + done.stderr).decode("ascii", "backslashreplace").splitlines()
        told = [line for line in log if "ERROR" in line][:LAST] or log[-LAST:]
        if NO_NETWORK.search("\n".join(told)):
            raise InfraError(f"mvn: {told[0]}")
        raise _refused(f"mvn cannot bring the dependencies: {told[0]}", told)


def _jars(folder: Path, part: str) -> Iterator[FileEntry]:
    for file in sorted(folder.glob("*.jar")):
        if file.is_file() and not file.is_symlink():
            yield FileEntry(f"{part}/{file.name}".encode(), "file", 0o644, file.read_bytes())


def _refused(why: str, log: list[str] | None = None) -> BuildRefusedError:
    return BuildRefusedError(Word.UNBUILDABLE, f"needs_network_build: {why}", {"log": log} if log else None)
