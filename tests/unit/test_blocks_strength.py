"""The block that judges a bundle's held-out cases."""

from dataclasses import replace

import pytest

from programsmith.blocks import strength
from programsmith.bundle.manifest import Manifest
from programsmith.compiler.plan import STEP
from programsmith.errors import InfraError
from programsmith.job import Job, Rules, Tracked
from programsmith.payload.verifier.model import Case, Expected, FileEntry
from programsmith.records import codec
from programsmith.records.golden import Discovery, Golden, Kills, Mutant, Provenance
from programsmith.records.outcome import Word
from programsmith.rulebook.load import Rulebook
from programsmith.sources.tree import write_tar

WHERE = Provenance(miner="m", path=b"t", line=1, blob="", licence="MIT")


def golden(name, stdout, stdin=b""):
    return Golden(
        id=name,
        case=Case(argv=(name.encode(),), stdin=stdin),
        expected=Expected(exit_code=0, stdout=stdout),
        provenance=WHERE,
        family="plain",
        group="g",
        agreement="absent",
        cpu_seconds=0.01,
    )


POOL = [golden("h1", b"one\n"), golden("h2", b"two\n"), golden("p1", b"three\n"), golden("n1", b"in\n", b"in\n")]


def kills(mutants, alive=0):
    drawn = tuple(
        Mutant(
            id=f"m{n}",
            path="a.py",
            line=n % 10 + 1,
            operator="swap",
            diff="",
            killers=() if n < alive else ("h1", "p1"),
        )
        for n in range(mutants)
    )
    lines = {g.id: tuple(range(10)) for g in POOL}
    return Kills(
        mutants=drawn, line_table=tuple(f"a.py:{n}" for n in range(1, 11)), lines=lines, scope_lines=20, skipped={}
    )


@pytest.fixture
def run(tmp_path):
    def start(measured, held_out=("h1", "h2"), docs=(), needs=None, pool=POOL):
        (tmp_path / "r").mkdir(exist_ok=True)
        manifest = Manifest(
            tree="",
            files={},
            public=("p1",),
            held_out=tuple(held_out),
            families={},
            tool="t",
            target_language="python",
            exec_allowed=(),
            solution="source",
            waived="",
        )
        codec.dump(tmp_path / "r" / "manifest.json", manifest)
        codec.dump(tmp_path / "kills.json", measured)
        codec.dump_lines(tmp_path / "pool.jsonl", pool)
        asked = {
            g.id: Discovery(needs=(needs or {}).get(g.id, ()), shows=(b"shown",), options=(), open_only=False)
            for g in POOL
        }
        codec.dump(tmp_path / "discovery.json", asked)
        write_tar(tmp_path / "docs.tar", [FileEntry(b"help.txt", "file", 0o644, text) for text in docs])
        step = STEP["strength"]
        job = Job(
            spec=Tracked("spec field", {}, step.spec),
            rules=Rules(Rulebook(None).load, step.rules),
            inputs={name: tmp_path / name for name in step.reads},
            outputs={},
            scratch=tmp_path,
            project=tmp_path,
            store=tmp_path,
            dist=tmp_path,
        )
        return strength.run(job)

    return start


def test_a_strong_choice_passes_with_every_figure(run):
    outcome = run(kills(120, alive=30))
    assert outcome.word is Word.PASS
    assert outcome.evidence["mutation_score"] == 0.75
    assert outcome.evidence["interval"] == [0.6656, 0.8189]
    assert outcome.evidence["mutants"] == 120
    assert outcome.evidence["pool_coverage"] == 1
    assert outcome.evidence["scope_coverage"] == 0.5
    assert outcome.evidence["public_kill_ratio"] == 1
    assert set(outcome.evidence["null_scores"].values()) == {0.0}
    assert outcome.reason == "mutation score 0.75 [0.6656, 0.8189] of 120 mutants"


def test_what_only_cases_sought_for_survivors_kill_is_counted(run):
    assert run(kills(120, alive=30)).evidence["killed_as_sought"] == 0
    sought = replace(WHERE, miner="survivors")
    found = [replace(g, provenance=sought) if g.id == "h1" else g for g in POOL]
    evidence = run(kills(120, alive=30), pool=found).evidence
    assert (evidence["killed_as_sought"], evidence["mutation_score"]) == (90, 0.75)
    both = [replace(m, killers=("h1", "h2")) for m in kills(120).mutants]
    assert run(replace(kills(120), mutants=tuple(both)), pool=found).evidence["killed_as_sought"] == 0


def test_a_low_score_is_too_weak_and_says_what_was_wanted(run):
    outcome = run(kills(120, alive=60))
    assert outcome.word is Word.TOO_WEAK
    assert outcome.reason == "mutation score 0.50 [0.41, 0.59] of 120 mutants, wanted 0.7 (mutation_score)"


def test_few_mutants_are_too_weak(run):
    assert run(kills(119)).reason == "119 mutants, wanted 120 (mutants_min)"


def test_cases_that_a_null_program_passes_are_too_weak(run):
    outcome = run(kills(120), held_out=("h1", "n1"))
    assert outcome.word is Word.TOO_WEAK
    assert outcome.evidence["null_scores"]["null_stdin"] == 0.5


def test_a_case_that_is_the_help_text_counts_as_null(run):
    outcome = run(kills(120), docs=(b"two\n",))
    assert outcome.evidence["null_scores"]["null_usage"] == 0.5


def test_a_held_out_case_outside_of_the_pool_is_infra(run):
    with pytest.raises(InfraError, match="wanted held-out cases of the pool, got gone"):
        run(kills(120), held_out=("gone",))


def test_a_held_out_case_that_asks_what_nothing_shows_is_too_weak(run):
    outcome = run(kills(120), needs={"h1": (b"shown",), "h2": (b"shown", b"a word of its own")})
    assert outcome.word is Word.TOO_WEAK
    assert outcome.reason == "1 held-out cases ask what nothing shows, the first is h2"
    assert outcome.evidence["undiscoverable"] == ["h2"]
    assert run(kills(120), needs={"h1": (b"shown",)}).word is Word.PASS
