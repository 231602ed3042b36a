"""No check is alarmed by a program that is honest and odd: what it prints, leaves and is given is nobody's offence."""

from __future__ import annotations

import pytest

from programsmith.blocks import create, images, static
from programsmith.bundle.sides import read_sides
from programsmith.checks.registry import CHECKS
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records import codec
from programsmith.records.golden import Golden, Split
from programsmith.records.outcome import Word
from tests.unit.bundle.conftest import make

WAYS = (b"-lots", b"-noise", b"-files", b"-octets", b"-nests", b"-claims", b"-dies", b"-mute")
NAMES = (b"with two  spaces", "\u00e9\u4e2d\U0001f600".encode(), b".\xff\xfe\n\t", b"x" * 255)
WORDS = (b"one", b"\xff other")
OTHERS = (b".gitignore", b".git", b"CVS", b"CANARY", b"docker-compose.yaml", b"Dockerfile", b"a.pyc", b".dockerignore")
"""Names that mean something to version control, to builders and to us."""
MARKS = (b"-|", b"-`", b"-<b>", b"-\\", b"--a=b|c", "-\u00e9".encode())
"""Two cases of each kind: one side of the bundle has the first, the other one the second."""


def named(way, name, word):
    return Case(argv=(way, name), files=(FileEntry(name, content=word), FileEntry(b"d/" + name, content=b"")))


def cases(word):
    """One case of every kind."""
    yield Case(argv=(), stdin=b"")
    yield Case(argv=(), stdin=word * 100_000)
    yield from (Case(argv=(way, word)) for way in WAYS)
    yield from (named(b"-names", name, word) for name in (*NAMES, *OTHERS))
    yield named(b"-takes", NAMES[0], word)
    yield from (Case(argv=(mark, word)) for mark in MARKS)
    many = tuple(FileEntry(b"%s%d" % (word, number)) for number in range(300))
    yield Case(argv=(b"-names", b"n"), files=(*many, FileEntry(b"n")))
    yield Case(argv=(b"-claims", word, b"", b" ", b"\xff" * 4000), env=((b"ODD NAME", b"\xfe="), (b"LANG", b"")))


def quiet(word):
    """Cases of which none prints a byte."""
    yield from (Case(argv=(way, word)) for way in (b"-files", b"-mute", b"-none"))
    yield from (named(b"-takes", name, word) for name in NAMES)


def bundle(folder, target, kind):
    """A task of the odd program: public cases of one word, held-out ones of the other."""
    public, held_out = (list(kind(word)) for word in WORDS)
    toy = make(folder, "python", target, "odd", list({c.id: c for c in public + held_out}.values()))
    known, shown = [golden.id for golden in codec.load_lines(toy.path("pool.jsonl"), Golden)], {c.id for c in public}
    split = Split(
        public=tuple(i for i in known if i in shown), held_out=tuple(i for i in known if i not in shown), reserve=()
    )
    codec.dump(toy.path("split.json"), split)
    create.run(toy.job("create"))
    images.run(toy.job("images"))
    return toy


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("python", cases),
        pytest.param("c", cases, marks=pytest.mark.adversary),
        pytest.param("python", quiet, marks=pytest.mark.adversary),
    ],
)
def test_every_check_passes_on_the_bundle_of_an_honest_program_of_odd_habits(tmp_path, target, kind):
    toy = bundle(tmp_path, target, kind)
    sides = read_sides(toy.bundle)
    assert min(len(sides.public), len(sides.held_out)) >= len(set(NAMES))
    outcome = static.run(toy.job("static"))
    assert outcome.word is Word.PASS, outcome.reason
    assert {row["id"] for row in outcome.evidence["checks"]} == set(CHECKS)
