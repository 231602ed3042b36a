"""What a held-out case asks that nothing on the agent's side shows: options, words, constants of the oracle."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from programsmith.goldens.capture import outputs_of
from programsmith.goldens.constants import fold
from programsmith.goldens.families import call_of
from programsmith.payload.verifier.model import Case, Expected, FileEntry
from programsmith.records.golden import Golden
from programsmith.records.lock import OracleFacts

_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]+")
_OPTION = re.compile(rb"(?<![\w-])--?[A-Za-z0-9][\w-]*")
_ROFF = re.compile(rb"\\(-|f[BIRP]|fB|e)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a case needs to be shown elsewhere: option and subcommand names, directive words, constants."""

    names: frozenset[bytes]
    constants: frozenset[bytes]

    @property
    def all(self) -> frozenset[bytes]:
        """Both kinds."""
        return self.names | self.constants


class Shown:
    """Everything that documentation and help show, as bytes with folded blanks."""

    def __init__(self, docs: Iterable[FileEntry]) -> None:
        text = b"\n".join(
            _ROFF.sub(lambda m: b"-" if m[1] == b"-" else b"", e.content) for e in docs if e.kind == "file"
        )
        self._text = fold(text)
        self._words = frozenset(_WORD.findall(text)) | frozenset(_OPTION.findall(text))

    def names(self, name: bytes) -> bool:
        """Whether the docs show an option, subcommand or word of this name."""
        return name in self._words or (name.startswith(b"-") and _shows_bundled(name, self._text))

    def holds(self, constant: bytes) -> bool:
        """Whether the docs hold a constant as it stands, blanks folded."""
        return constant in self._text

    def holds_exactly(self, text: bytes) -> bool:
        """Whether the docs hold a text line by line, blanks folded."""
        return fold(text) in self._text


class Discoverability:
    """Reads needs of cases against the docs and the public cases."""

    def __init__(self, facts: OracleFacts, docs: Shown, constants: frozenset[bytes], *, with_constants: bool) -> None:
        self._facts = facts
        self._docs = docs
        self._constants = constants if with_constants else frozenset()
        self._directives = frozenset(c for c in constants if _WORD.fullmatch(c))

    def need(self, golden: Golden) -> Need:
        """What of a case the docs do not show: it must be in public cases, or the case may not be held out."""
        names = {n for n in self._names(golden.case) if not self._docs.names(n)}
        held = {c for c in self._held(golden) if not self._docs.holds(c)}
        return Need(names=frozenset(names), constants=frozenset(held))

    def shows(self, golden: Golden) -> frozenset[bytes]:
        """What a case shows when it is public: everything that it uses, and the constants in its expected side."""
        return frozenset(self._names(golden.case)) | self._in(_shown_text(golden.expected))

    def _names(self, case: Case) -> set[bytes]:
        call = call_of(case, self._facts)
        names = {o.encode() for o in call.options} | ({call.subcommand.encode()} if call.subcommand else set())
        texts = (*case.argv, case.stdin, *(n for n, _ in case.env))
        return names | {w for t in texts for w in _WORD.findall(t) if w in self._directives}

    def _held(self, golden: Golden) -> frozenset[bytes]:
        brought = fold(b"\n".join((*golden.case.argv, golden.case.stdin, *(f.content for f in golden.case.files))))
        return frozenset(c for c in self._in(_shown_text(golden.expected)) if c not in brought)

    def _in(self, text: bytes) -> frozenset[bytes]:
        return frozenset(c for c in self._constants if c in text)


def _shown_text(expected: Expected) -> bytes:
    return fold(outputs_of(expected).replace(b"\0", b"\n"))


def _shows_bundled(name: bytes, text: bytes) -> bool:
    """A one-letter option may be shown in a bundle such as `[-cklnoprstvxDELNRSWX]`."""
    if len(name) != len(b"-x"):
        return False
    return re.search(rb"(?<![\w-])-[A-Za-z0-9]*" + re.escape(name[1:]), text) is not None
