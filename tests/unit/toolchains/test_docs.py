"""Documentation is what source and oracle say; upstream's addresses go, everything else stays byte for byte."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import pytest

from programsmith.checks.no_upstream_pointer import pointers
from programsmith.payload.verifier.launcher import Result
from programsmith.records.lock import EntryPoint
from programsmith.toolchains.docs import licences, manuals, said, written
from programsmith.toolchains.help_text import options, subcommands
from programsmith.toolchains.redact import redacted

HELP = b"""usage: greet [-h] [--loud] [-n N] {hello,good-bye} ...

positional arguments:
  {hello,good-bye}
    hello      say hello

options:
  -h, --help   show this
  --style {plain,bold}
  -n N         an e-mail like a-b or a <https://x.example/y-z> is no option
"""
GO_HELP = b"""Greet people.

Available Commands:
  hello       say hello
  help        about any command

Flags:
      --loud   shout
"""


def test_options_are_read_from_lines_that_list_them():
    assert options(HELP) == ("--help", "--loud", "--style", "-h", "-n")
    assert options(b"Usage: figlet [ -kS ] [ -d fontdirectory ]\n") == ("-S", "-d", "-k")
    assert options(b"prose about --nothing at all\n") == ()


def test_options_are_read_from_the_source_of_a_manual_page():
    page = b'.TP\n\\fB\\-\\-loud\\fR, \\fB-l\\fR\nshout\n.B \\-w\n.IP "-q"\n    -1\n'
    assert options(page, manual=True) == ("--loud", "-l", "-q", "-w")


def test_subcommands_are_choices_or_stand_below_a_heading():
    assert subcommands(HELP) == ("good-bye", "hello")
    assert subcommands(GO_HELP) == ("hello", "help")
    assert subcommands(b"usage: greet NAME\n") == ()


@pytest.mark.parametrize(
    "text",
    [
        b"https://forge.example/owner/greet", b"git@forge.example:owner/greet.git", b"forge.example/owner/greet/wiki",
        b"owner/greet", b"https://owner.pages.example/greet/", b"www.greet.org", b"commit 0123456",
        b"commit 0123456789abcdef01",
    ],
)  # fmt: skip
def test_each_pointer_to_upstream_is_replaced(kit, text):
    shown = redacted(b"See " + text + b" now", kit.lock("c"), "greet", "[gone]")
    assert b"[gone]" in shown
    assert b"owner" not in shown
    assert b"0123456" not in shown


@pytest.mark.parametrize(
    "text", [b"https://json.example/spec", b"greet --help", b"0123457", b"greeting/owner", b"a.b@c.d"]
)
def test_what_does_not_lead_to_upstream_stays(kit, text):
    assert redacted(text, kit.lock("c"), "greet", "[gone]") == text


def test_a_folder_that_is_called_as_its_tool_points_nowhere(kit):
    lock = replace(
        kit.lock("c"), origin="welcome", entry_points=(EntryPoint(tool="welcome", kind="", target="", how=""),)
    )
    assert redacted(b"welcome greets", lock, "welcome", "[gone]") == b"welcome greets"
    assert redacted(b"welcome greets", lock, "greet", "[gone]") == b"[gone] greets"
    assert "welcome" not in pointers(lock)
    assert "welcome" in pointers(replace(lock, entry_points=()))


def test_documents_are_named_files_documentation_folders_and_manuals(kit):
    files = {
        "README.md": b"r", "docs/use.md": b"u", "docs/logo.png": b"\x89PNG", "docs/data.txt": b"a\0b",
        "src/greet.1": b"m", "docs.md": b"n", "lib/use.md": b"n", "tests/README": b"n",
    }  # fmt: skip
    found = {e.path for e in written(kit.tree(files), kit.rule["docs"])}
    assert found == {b"README.md", b"docs/use.md", b"src/greet.1"}


def test_documents_that_are_too_large_are_left_out(kit):
    rule = {**kit.rule["docs"], "max_file_bytes": 10, "max_bytes": 12}
    files = {"README": b"x" * 8, "FAQ": b"x" * 11, "docs/a.md": b"x" * 4, "docs/b.md": b"x"}
    assert {e.path for e in written(kit.tree(files), rule)} == {b"README", b"docs/a.md"}


def test_only_the_tools_own_manual_counts_for_its_options(kit):
    pages = list(kit.tree({"greet.1": b"", "greetd.1": b"", "a/greet.1.prebuilt": b"", "greet.txt": b""}))
    assert {e.path for e in manuals(pages, "greet", kit.rule["docs"])} == {b"greet.1", b"a/greet.1.prebuilt"}


def test_licence_texts_and_their_attribution_travel_along(kit):
    vendor = [
        dataclasses.replace(e, path=b"vendor/" + e.path) for e in kit.tree({"words.dist-info/LICENSE": b"theirs"})
    ]
    found = {e.path: e.content for e in licences(kit.tree(kit.c), kit.lock("c"), vendor)}
    assert found[b"licences/LICENSE"] == b"MIT License\n"
    assert found[b"licences/vendor/words.dist-info/LICENSE"] == b"theirs"
    assert b"LICENSE: MIT (text)" in found[b"licences/ATTRIBUTION"]


def answer(table: dict[tuple[bytes, ...], tuple[int, bytes, bytes]]):
    """A scripted program: known calls answer, others complain."""

    def call(words):
        code, out, err = table.get(tuple(words), (2, b"", b"unknown\n"))
        return Result(started=True, exit_code=code, stdout=out, stderr=err)

    return call


def test_the_oracle_is_asked_for_help_of_itself_and_its_subcommands_and_for_its_version(kit):
    table = {
        (b"--help",): (0, HELP, b""),
        (b"hello", b"--help"): (0, b"usage: greet hello [--twice]\n", b""),
        (b"--version",): (0, b"greet 1.2.3\n", b""),
        (b"-v",): (1, b"1.2.3\n", b""),
    }
    found = said(answer(table), kit.rule["docs"], ())
    assert {e.path for e in found.files} == {b"help/--help.txt", b"help/hello_--help.txt", b"help/--version.txt"}
    assert found.version == "1.2.3"
    assert "--twice" in found.options
    assert found.subcommands == ("good-bye", "hello")


def test_equal_answers_are_kept_once_and_complaints_not_at_all(kit):
    table = {
        (b"--help",): (1, b"", b"Usage: greet\n"),
        (b"-h",): (1, b"", b"Usage: greet\n"),
        (b"help",): (0, b"HELP!\n", b""),
    }
    found = said(answer(table), kit.rule["docs"], ())
    assert [(e.path, e.content) for e in found.files] == [(b"help/--help.txt", b"Usage: greet\n")]
    assert found.version == ""
