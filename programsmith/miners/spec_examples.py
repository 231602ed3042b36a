"""Examples of a format's specification: an input, a line with a dot, and what a converter should make of it.

Either inside a fence that is called `example`, where `→` stands for a tab and a further dot sets options apart, or
between lines of one dot each. How the tool is called otherwise, as it stands or with one of its options, the file does
not say: that is settled by agreement with the oracle.
A file that is under other terms than its source is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from programsmith.miners.base import MineContext, show
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

_SUFFIXES = (b".txt", b".md", b".markdown")
_FENCE = re.compile(rb"(`{3,}|~{3,}) *example\b[^\n`]*")
_TAB = "→".encode()
_AT = b"example.txt"
_MIN = 5  # examples of a file
_MOST_OPTIONS = 40
_OWN_TERMS = re.compile(rb"CC[- ]BY[- ]SA|creativecommons\.org/licenses/by-sa", re.IGNORECASE)
_HEAD = 4096


@dataclass(frozen=True, slots=True)
class Example:
    """One example: where it starts, what goes in, what comes out, and the options that it states."""

    line: int
    subject: bytes
    output: bytes
    options: tuple[bytes, ...] = ()


class SpecExamples:
    """The miner."""

    name = "spec_examples"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every text file that holds at least five examples."""
        for suffix in _SUFFIXES:
            for entry in tree.files(suffix):
                examples = read_examples(entry.content)
                if len(examples) < _MIN:
                    continue
                if _OWN_TERMS.search(entry.content[:_HEAD]):
                    context.skipped["other_terms"] += len(examples)
                    continue
                for example in examples:
                    yield from self._forms(entry, example, context)

    def _forms(self, entry: FileEntry, example: Example, context: MineContext) -> Iterator[MinedCase]:
        """The ways in which the example may be handed over, the plain ones first."""
        where = f"{show(entry.path)}:{example.line}"
        forms = {
            "stdin": Case(argv=example.options, stdin=example.subject),
            "operand": Case(argv=(*example.options, _AT), files=(FileEntry(_AT, "file", 0o644, example.subject),)),
        }
        for option in () if example.options else context.options[:_MOST_OPTIONS]:
            forms[f"stdin {option}"] = Case(argv=(option.encode(),), stdin=example.subject)
        for template, case in forms.items():
            yield MinedCase(
                case=case,
                provenance=context.provenance(self.name, entry, example.line),
                group=where,
                recorded=Recorded(stdout=example.output, match="trimmed"),
                template_set=f"{self.name}:{show(entry.path)}" + (":options" if example.options else ""),
                template=template,
                source=where,
            )


def read_examples(text: bytes) -> list[Example]:
    """The examples of a file, in order, in whichever of the two forms it has them."""
    lines = text.replace(b"\r\n", b"\n").split(b"\n")
    return list(_fenced(lines)) or list(_dotted(lines))


def _fenced(lines: list[bytes]) -> Iterator[Example]:
    at = 0
    while at < len(lines):
        opened = _FENCE.fullmatch(lines[at].rstrip())
        at += 1
        if opened is None or opened[1] not in lines[at:]:
            continue
        end = lines.index(opened[1], at)
        body = lines[at:end]
        if b"." in body:
            dot = body.index(b".")
            output, options = _parted(body[dot + 1 :])
            yield Example(at, _text(body[:dot]).replace(_TAB, b"\t"), _text(output).replace(_TAB, b"\t"), options)
        at = end + 1


def _parted(lines: list[bytes]) -> tuple[list[bytes], tuple[bytes, ...]]:
    """The output, and the options that a further dot sets apart where nothing but options follows it."""
    if b"." in lines:
        dot = lines.index(b".")
        words = b" ".join(lines[dot + 1 :]).split()
        if words and all(word.startswith(b"-") for word in words):
            return lines[:dot], tuple(words)
    return lines, ()


def _dotted(lines: list[bytes]) -> Iterator[Example]:
    """Three lines of one dot hold an example; anything may stand between examples. An odd rest is none."""
    dots = [n for n, line in enumerate(lines) if line == b"."]
    if len(dots) % 3:
        return
    for first, second, third in zip(dots[::3], dots[1::3], dots[2::3], strict=True):
        yield Example(first + 1, _text(lines[first + 1 : second]), _text(lines[second + 1 : third]))


def _text(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)
