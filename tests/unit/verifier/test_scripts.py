"""What of a built tree counts as a script, and how its executable is started."""

from __future__ import annotations

from dataclasses import replace

import pytest

from programsmith.payload.verifier.cases import Subject
from programsmith.payload.verifier.launcher import Mount
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import Policy
from programsmith.payload.verifier.scripts import MOST, scripts, start, subject

LINE = b"#!/usr/bin/python3 -IS\n"
PLACE = "/app/submission/executable"


def tree(content: bytes, mode: int = 0o755, path: bytes = b"executable") -> tuple[FileEntry, ...]:
    return (FileEntry(path, "file", mode, content), FileEntry(b"lib", "dir", 0o755))


@pytest.mark.parametrize(
    ("content", "mode", "counts"),
    [
        (LINE + b"print(1)\n", 0o755, True),
        (LINE + "print('\u00e9\t\x1b[1m')\n".encode(), 0o755, True),
        (LINE + b"print(1)\n", 0o644, False),
        (b"print(1)\n", 0o755, False),
        (b"\x7fELF\x02\x01\x01", 0o755, False),
        (LINE + b"'''\0'''\n", 0o755, False),
        (LINE + b"# \xe9\n", 0o755, False),
        (LINE + b"PK\x03\x04", 0o755, False),
        (b"", 0o755, False),
    ],
)
def test_a_script_is_a_text_that_names_its_interpreter(content: bytes, mode: int, counts: bool) -> None:
    assert scripts(tree(content, mode)) == ((PLACE,) if counts else ())


def test_a_link_and_a_folder_are_no_scripts() -> None:
    assert scripts([FileEntry(b"a", "link", 0o777, LINE), FileEntry(b"b", "dir", 0o755, LINE)]) == ()


def test_scripts_are_named_by_their_place() -> None:
    assert scripts(tree(LINE, path=b"\xff/in")) == ("/app/submission/\udcff/in",)


def test_of_too_many_scripts_those_nearest_to_the_top_are_executed_by_name() -> None:
    many = [FileEntry(b"a/%d" % n, "file", 0o755, LINE) for n in range(MOST)]
    found = scripts([*many, *tree(LINE), FileEntry(b"x" * 250 + b"/y" * 1500, "file", 0o755, LINE)])
    assert len(found) == MOST
    assert PLACE in found
    assert max(map(len, found)) < 100


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (LINE + b"print(1)\n", None),
        (LINE + b"PK\x03\x04", (b"/usr/bin/python3", b"-IS", PLACE.encode())),
        (b"#! \t/usr/bin/python3\nPK\x03\x04", (b"/usr/bin/python3", PLACE.encode())),
        (b"#!/usr/bin/env  python3 -I \n\0", (b"/usr/bin/env", b"python3 -I", PLACE.encode())),
        (b"#!/usr/bin/python3\0", None),
        (b"#!/usr/bin/env\0 x\nprint(1)\n", None),
        (b"#!\n\0", None),
        (b"#!   ", None),
        (b"PK\x03\x04", None),
        (b"", None),
    ],
)
def test_an_executable_that_is_no_text_is_started_as_the_kernel_would(content: bytes, words: tuple[bytes, ...]) -> None:
    assert start(tree(content)) == words


def test_a_compiled_tree_is_run_as_it_is_and_another_as_scripts(policy: Policy) -> None:
    whole = Mount(source="/made", target="/app/submission")
    assert subject(tree(LINE), "/made", policy) == Subject(program=PLACE, mounts=(whole,))
    held = replace(policy, compiled=False)
    shown = replace(whole, scripts=(PLACE,))
    assert subject(tree(LINE), "/made", held) == Subject(program=PLACE, mounts=(shown,))
    zipped = subject(tree(LINE + b"PK\x03\x04"), "/made", held)
    assert (zipped.program, zipped.mounts) == ("/usr/bin/python3", (replace(whole, scripts=()),))
