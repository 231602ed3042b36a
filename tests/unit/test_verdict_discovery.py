"""What a held-out case asks that nothing on the agent's side shows."""

from programsmith.records.golden import Discovery, Kills, Mutant
from programsmith.verdict.discovery import lacks


def asks(*needs, shows=()):
    return Discovery(needs=needs, shows=shows, options=(), open_only=False)


def mutant(name, line, *killers):
    return Mutant(id=name, path="a.c", line=line, operator="swap", diff="", killers=killers)


def kills(*mutants, **lines):
    table = ("a.c:1", "a.c:2", "a.c:3")
    return Kills(mutants=mutants, line_table=table, lines=lines, scope_lines=3, skipped={})


FOUND = {"p": asks(b"-x", shows=(b"-x", b"a text")), "h": asks(b"-x", b"a text"), "i": asks(b"-y", b"a text")}


def test_what_public_cases_show_is_known_and_what_a_case_needs_alone_is_not():
    assert lacks({"p"}, {"h", "i"}, FOUND, kills()).unshown == {"i": (b"-y",)}
    assert lacks(set(), {"h"}, FOUND, kills()).unshown == {"h": (b"-x", b"a text")}


def test_a_public_case_lacks_nothing():
    assert lacks({"p", "i"}, (), FOUND, kills()).unshown == {}


def test_a_mutant_on_a_line_that_no_public_case_runs_and_kills_is_unseen():
    found = kills(
        mutant("alone", 3, "h"), mutant("killed", 3, "p", "i"), mutant("on-a-run-line", 1, "i"), p=(0,), h=(0, 2)
    )
    assert lacks({"p"}, {"h", "i"}, FOUND, found).unseen == {"h": ("alone",)}


def test_a_reserve_case_shows_nothing():
    assert lacks({"p"}, {"h"}, FOUND, kills(mutant("m", 2, "h", "r"), r=(1,))).unseen == {"h": ("m",)}
