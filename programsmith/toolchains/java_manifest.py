"""A pom.xml as data: coordinates, commands, dependencies. Read, never run; one that cannot be read says nothing.

In: a source tree. Out: plain values, properties filled in. Only the root's file is read: what a parent says is asked
of the registry, never of the repository.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass

from programsmith.sources.tree import SourceTree

POM = b"pom.xml"
GRADLE = (b"build.gradle", b"build.gradle.kts")
MOST = 1 << 20  # bytes of a file that is read
_PROPERTY = re.compile(r"\$\{([\w.-]+)\}")
_DEEP = 8  # properties that name properties


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """One dependency as declared; `version` is empty where something else manages it."""

    group: str
    artifact: str
    version: str
    scope: str
    kind: str
    classifier: str
    optional: bool
    exclusions: tuple[tuple[str, str], ...]


class Pom:
    """The root's pom.xml. Everything is empty where there is none."""

    def __init__(self, tree: SourceTree) -> None:
        self._root = _parsed(tree)
        own = {_name(e): (e.text or "").strip() for p in self._all("properties") for e in p}
        parent = self._child(self._root, "parent")
        self.parent = tuple(self._text(parent, f) for f in ("groupId", "artifactId", "version"))
        self.artifact = self._text(self._root, "artifactId")
        self.version = self._text(self._root, "version") or self.parent[2]
        group = self._text(self._root, "groupId") or self.parent[0]
        known = {"artifactId": self.artifact, "version": self.version, "groupId": group}
        known["name"] = self._text(self._root, "name") or self.artifact
        self.properties = {**own, **{f"{p}{k}": v for p in ("project.", "pom.") for k, v in known.items()}}
        self.modules = [self.filled(e.text or "") for m in self._all("modules") for e in m]

    def filled(self, text: str) -> str:
        """A text with its properties filled in; what nobody declares stays as it is."""
        for _ in range(_DEEP):
            text, before = _PROPERTY.sub(lambda m: self.properties.get(m[1], m[0]), text), text
            if text == before or len(text) > MOST:
                break
        return text.strip()

    def texts(self, *names: str) -> list[str]:
        """What elements of these names hold, in their order, wherever they stand."""
        found = self._root.iter() if self._root is not None else ()
        return [self.filled(e.text or "") for e in found if _name(e) in names and (e.text or "").strip()]

    def dependencies(self, *, managed: bool = False) -> Iterator[Dependency]:
        """Declared dependencies, or those that `dependencyManagement` states. Profiles do not count."""
        at = self._child(self._root, "dependencyManagement") if managed else self._root
        listed = self._child(at, "dependencies")
        for e in listed if listed is not None else ():
            out = self._child(e, "exclusions")
            yield Dependency(
                group=self._text(e, "groupId"),
                artifact=self._text(e, "artifactId"),
                version=self._text(e, "version"),
                scope=self._text(e, "scope") or "compile",
                kind=self._text(e, "type") or "jar",
                classifier=self._text(e, "classifier"),
                optional=self._text(e, "optional") == "true",
                exclusions=tuple(
                    (self._text(x, "groupId"), self._text(x, "artifactId")) for x in (out if out is not None else ())
                ),
            )

    def _all(self, name: str) -> Iterator[ET.Element]:
        for e in self._root if self._root is not None else ():
            if _name(e) == name:
                yield e

    def _child(self, at: ET.Element | None, name: str) -> ET.Element | None:
        return next((e for e in at if _name(e) == name), None) if at is not None else None

    def _text(self, at: ET.Element | None, name: str) -> str:
        found = self._child(at, name)
        text = (found.text or "").strip() if found is not None else ""
        return self.filled(text) if hasattr(self, "properties") else text


def _parsed(tree: SourceTree) -> ET.Element | None:
    entry = tree.get(POM)
    if (
        entry is None
        or entry.kind != "file"
        or len(entry.content) > MOST
        or b"<!" in entry.content.replace(b"<!--", b"").replace(b"<![CDATA[", b"")
    ):
        return None
    try:
        return ET.fromstring(entry.content)  # noqa: S314 - without declarations there is nothing to expand
    except ET.ParseError:
        return None


def _name(element: ET.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def gradle(tree: SourceTree) -> str:
    """The text of the root's Gradle build; empty where there is none."""
    found = next((e for name in GRADLE if (e := tree.get(name)) and e.kind == "file"), None)
    return found.content[:MOST].decode("utf-8", "replace") if found else ""
