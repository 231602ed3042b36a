"""Which licence governs a source: every licence file, manifest and source header, the most restrictive wins.

In: the tree, rules/licenses.yaml. Out: one accepted SPDX expression and the facts behind it. Refused by file: a
licence that the rule does not accept wherever it lies, words around a licence text that nobody has read, none at all.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from programsmith.payload.verifier.model import FileEntry
from programsmith.records.lock import LicenceFact
from programsmith.sources.export import LinkTree
from programsmith.sources.manifests import claims
from programsmith.sources.origin import RefusedError, show
from programsmith.sources.spdx import (
    UNKNOWN,
    choose,
    explain,
    expression_of,
    family,
    ids_in,
    is_choice,
    modern,
    squeezed,
)
from programsmith.sources.tree import SourceTree

LICENCE_NAME = re.compile(rb"((un)?licen[cs]es?|copying|copyright)([-_.].*)?|notice(\.(md|txt|rst))?", re.IGNORECASE)
NOTICE_NAME = re.compile(rb"(notice|copyright).*", re.IGNORECASE)  # what names owners as well
NOT_TEXT = re.compile(rb".*\.(py|c|h|js|ts|go|rs|java|json|toml|ya?ml|sh|html?|png|svg)", re.IGNORECASE)
LICENCE_FOLDER = b"LICENSES/"
COPYRIGHT_LINE = re.compile(
    r"^[^\w\n]*(copyright|\(c\)|©|all rights reserved|portions copyright|spdx-).{0,120}$", re.IGNORECASE | re.MULTILINE
)
SPDX_LINE = re.compile(rb"SPDX-License-Identifier:[ \t]*([^\r\n]+)")
COMMENT_MARKS = re.compile(r"[*#/;%!\"'<>|-]+")
HEAD = 4096
CLASSIFIED_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Ruling:
    """The accepted expression and every statement that was found."""

    expression: str
    facts: tuple[LicenceFact, ...]


def is_licence_name(name: bytes) -> bool:
    """Whether a file of this name states a licence."""
    return LICENCE_NAME.fullmatch(name) is not None and NOT_TEXT.fullmatch(name) is None


def judge(tree: SourceTree, rule: Mapping[str, Any]) -> Ruling:
    """The licence of the whole. Raises RefusedError `no_licence` or `licence`, naming the file and the reason."""
    facts = [*_texts(tree, rule), *_manifests(tree, rule), *_headers(tree, rule)]
    root = [f for f in facts if f.how != "header" and ("/" not in f.path or f.path.startswith("LICENSES/"))]
    if not root:
        raise RefusedError(
            "no_licence", "no licence file or manifest at the root says under what terms this may be used"
        )
    offered = {family(i) for f in root if f.how == "manifest" and is_choice(f.expression) for i in ids_in(f.expression)}
    allowed = frozenset(rule["allowed"])
    taken: list[str] = []
    for fact in facts:
        if fact in root and fact.how == "text" and family(fact.expression) in offered:
            continue  # the text of one side of the choice that the manifest offers
        if " WITH " in fact.expression and fact.how == "header":
            continue
        choice = choose(fact.expression, allowed)
        if choice.taken is None:
            raise _refusal(fact, choice.refused or UNKNOWN, rule)
        taken.append(choice.taken)
    parts = sorted({part for t in taken for part in t.split(" AND ")})
    return Ruling(" AND ".join(parts), tuple(facts))


def _refusal(fact: LicenceFact, identifier: str, rule: Mapping[str, Any]) -> RefusedError:
    kind, reason = explain(identifier, rule)
    way_out = "; source.leave can name it where the build does without" if "/" in fact.path else ""
    return RefusedError(
        "licence",
        f"{fact.path} is {identifier} ({kind}, by its {fact.how}): {reason}{way_out}",
        path=fact.path,
        expression=fact.expression,
        licence_class=kind,
    )


def _decoded(content: bytes) -> str:
    """Licence text: UTF-8, else Latin-1, which never fails."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _texts(tree: SourceTree, rule: Mapping[str, Any]) -> Iterator[LicenceFact]:
    """Facts of every licence file; one that only points at others which are there adds none."""
    links = LinkTree(tree)
    read: list[tuple[str, list[LicenceFact]]] = []
    for entry in tree:
        name = entry.path.rpartition(b"/")[2]
        if not (is_licence_name(name) or entry.path.startswith(LICENCE_FOLDER)):
            continue
        end = links.resolve(entry.path)
        target = tree.get(end) if isinstance(end, bytes) else None
        if target is not None and target.kind == "file":
            text = _decoded(target.content[:CLASSIFIED_BYTES])
            strict = NOTICE_NAME.fullmatch(name) is None
            read.append((text, list(_text_facts(show(entry.path), text, rule, strict=strict))))
    told = [f for _, facts in read for f in facts if not f.expression.startswith(UNKNOWN)]
    for text, facts in read:
        if [f.expression for f in facts] != [UNKNOWN] or not _only_points(text, told, rule):
            yield from facts


def _only_points(text: str, told: Sequence[LicenceFact], rule: Mapping[str, Any]) -> bool:
    """Whether a short text names licences, or files, that others have stated, and none besides."""
    kinds = {part for r in rule["refused"] for i in r["ids"] if (part := i.strip("-*").removeprefix("LicenseRef-"))}
    names = {part for f in told for i in ids_in(f.expression) for part in (i, i.removesuffix("-2.0"))}
    files = {f.path.rpartition("/")[2] for f in told}

    def holds(word: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None

    return any(map(holds, names | files)) and not any(map(holds, kinds - names))


def _text_facts(path: str, text: str, rule: Mapping[str, Any], *, strict: bool) -> Iterator[LicenceFact]:
    """Facts of one licence file. `strict`: words that are no recognised text make it unknown."""
    from licenseclassifier import identify_license

    matches = identify_license(text, 0.0)
    residue, at = "", 0
    for match in matches:
        residue, at = residue + text[at : match.start] + "\n", max(at, match.end)
    residue += text[at:]
    named = [s.decode("latin-1").strip() for s in SPDX_LINE.findall(text.encode("latin-1", "replace"))]
    found = dict.fromkeys([*(modern(m.id) for m in matches), *(expression_of(n, rule["aliases"]) for n in named)])
    hidden = next((r["id"] for r in rule["restrictions"] if r["phrase"] in squeezed(residue)), None)
    if hidden is None and strict:
        hidden = _unread(residue, rule, recognised=bool(found))
    if hidden == "" and not found:
        found[expression_of(COPYRIGHT_LINE.sub("", residue), rule["aliases"])] = None
    if hidden:
        found[hidden] = None
    yield from (LicenceFact(path=path, expression=e, how="text") for e in found)


def _unread(residue: str, rule: Mapping[str, Any], *, recognised: bool) -> str | None:
    """UNKNOWN and a digest where the residue is long and nobody reviewed it; empty where it is all that there is."""
    residue = COPYRIGHT_LINE.sub("", residue)
    letters = sum(c.isalpha() for c in residue)
    reviewed = {r["residue"] for r in rule["reviewed"]}
    digest = residue_digest(residue)
    if letters >= rule["residue_letters"] and digest not in reviewed:
        return f"{UNKNOWN}-{digest}"
    return None if recognised else ""


def residue_digest(residue: str) -> str:
    """What names a review: 32 hexadecimal digits of the SHA-256 of the words, whatever their case and blanks."""
    return hashlib.sha256(squeezed(residue).encode()).hexdigest()[:32]


def _manifests(tree: SourceTree, rule: Mapping[str, Any]) -> Iterator[LicenceFact]:
    from licenseclassifier import identify_license

    for entry in tree:
        for claim in claims(entry):
            expression = expression_of(claim, rule["aliases"])
            if expression == UNKNOWN:
                expression = " AND ".join(dict.fromkeys(modern(m.id) for m in identify_license(claim))) or UNKNOWN
            yield LicenceFact(path=show(entry.path), expression=expression, how="manifest")


def _headers(tree: SourceTree, rule: Mapping[str, Any]) -> Iterator[LicenceFact]:
    """One fact per licence that source headers state, at the first file that does, sorted by path."""
    seen: set[str] = set()
    suffixes = tuple(s.encode() for s in rule["header_suffixes"])
    for entry in tree.files():
        if not entry.path.endswith(suffixes) and not entry.content.startswith(b"#!"):
            continue
        for expression in _header(entry, rule):
            if expression not in seen:
                seen.add(expression)
                yield LicenceFact(path=show(entry.path), expression=expression, how="header")


def _header(entry: FileEntry, rule: Mapping[str, Any]) -> Iterator[str]:
    head = entry.content[:HEAD]
    for hit in SPDX_LINE.findall(head):
        claim = hit.decode("latin-1").strip().removesuffix("*/").removesuffix("-->").strip()
        yield expression_of(claim, rule["aliases"])
    words = squeezed(COMMENT_MARKS.sub(" ", head.decode("latin-1")))
    stated = next((r["id"] for r in rule["headers"] if r["phrase"] in words), None)
    if stated is None:
        return
    excepted = next((r["id"] for r in rule["exceptions"] if r["phrase"] in words), None)
    yield f"{stated} WITH {excepted}" if excepted else stated
