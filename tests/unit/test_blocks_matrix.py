"""Candidates: one per entry point and target language, ranked by how long a task each would be."""

import dataclasses
import types

import pytest

from programsmith.blocks import matrix
from programsmith.compiler.plan import STEP, asking
from programsmith.errors import InputError
from programsmith.job import Job, Rules, Tracked
from programsmith.payload.verifier.model import FileEntry
from programsmith.records import codec
from programsmith.records.lock import Candidate, EntryPoint, Lock
from programsmith.records.outcome import Word
from programsmith.rulebook.load import Rulebook
from programsmith.sources.tree import write_tar
from programsmith.spec.unavailable import TARGETS
from tests.samples.played import Played

SMALL = EntryPoint(tool="small", kind="python-script", target="small.py", how="shebang")
LARGE = EntryPoint(tool="large", kind="python-script", target="large.py", how="shebang")
SOURCE = {
    b"small.py": b"import sys\n",
    b"large.py": b"import part\np.add_argument('--all')\np.add_argument('--width')\ns.add_parser('list')\n",
    b"part.py": b"x = 1\n\n" * 100,
}


def lock(*entries):
    return Lock(
        name="t",
        origin="t",
        commit="c",
        tree="t",
        files=3,
        licence="MIT",
        licences=(),
        language="python",
        build_system="python",
        code_lines=110,
        entry_points=entries,
    )


@pytest.fixture
def run(tmp_path):
    def start(entries=(SMALL, LARGE), languages=("python",), description="", model=None):
        codec.dump(tmp_path / "lock.json", lock(*entries))
        write_tar(tmp_path / "source.tar", [FileEntry(p, "file", 0o644, c) for p, c in SOURCE.items()])
        asked = list(languages) if isinstance(languages, tuple) else languages
        values = {"task": {"target_languages": asked}, "description": description}
        values["models"] = {"matrix": "a/b" if model else None}
        step = asking(STEP["matrix"], values)
        job = Job(
            spec=Tracked("spec field", values, step.spec),
            rules=Rules(Rulebook(None).load, step.rules),
            inputs={name: tmp_path / name for name in step.reads},
            outputs={name: tmp_path / name for name in step.writes},
            scratch=tmp_path,
            project=tmp_path,
            store=tmp_path,
            dist=tmp_path,
            complete=model,
        )
        (tmp_path / "candidates.json").unlink(missing_ok=True)
        outcome = matrix.run(job)
        found = tmp_path / "candidates.json"
        left = codec.load(found, tuple[Candidate, ...]) if found.exists() else ()
        assert job.spec.used == set(step.spec)
        return types.SimpleNamespace(outcome=outcome, found=left, bytes=found.read_bytes() if left else b"")

    return start


def test_the_longer_task_comes_first_with_its_facts(run):
    done = run()
    assert done.outcome.word is Word.PASS
    assert [c.tool for c in done.found] == ["large", "small"]
    best = done.found[0]
    assert (best.code_lines, best.options, best.scope) == (104, 2, "program")
    assert best.score == round(0.5 * 104 / 5000 + 0.3 * 2 / 40 + 0.1 * 1 / 8, 4)
    assert best.reasons[0] == "lines 104: 0.010 of 0.5"


def test_each_target_language_is_a_candidate_in_the_order_of_the_spec(run):
    done = run(languages=("python", "c"))
    assert [(c.tool, c.target_language) for c in done.found] == [
        ("large", "python"),
        ("large", "c"),
        ("small", "python"),
        ("small", "c"),
    ]
    assert {c.source_language for c in done.found} == {"python"}


def test_any_language_is_one_candidate_per_entry_point(run):
    assert [c.target_language for c in run(languages="any").found] == ["any", "any"]


def test_no_language_means_that_of_the_source(run):
    assert {c.target_language for c in run(languages=None).found} == {"python"}


def test_a_description_that_names_the_command_steers(run):
    assert run(description="Only the smallest part.").found[0].tool == "large"
    assert run(description="Take `small`, please.").found[0].tool == "small"


def test_the_same_inputs_give_the_same_bytes(run):
    assert run().bytes == run().bytes


def test_no_line_in_scope_is_no_candidate(run):
    done = run(entries=(dataclasses.replace(SMALL, target="gone.py"),))
    assert done.outcome.word is Word.NONE_FIT
    assert done.found == ()


def test_the_weights_of_the_rule_add_up_to_one():
    assert sum(fact["weight"] for fact in Rulebook(None).load("candidates").values()) == pytest.approx(1)


@pytest.mark.parametrize("language", sorted(TARGETS))
def test_a_task_can_be_in_what_the_static_checks_speak(run, language):
    assert {c.target_language for c in run(languages=(language,)).found} == {language}


def test_a_language_that_no_task_can_be_in_is_refused_by_name(run):
    with pytest.raises(InputError, match=r"task.target_languages: wanted some of c, .*, got 'cobol'"):
        run(languages=("python", "cobol"))


SMALL_FIRST = {
    "candidates": [
        {"tool": "small", "target_language": "python", "why": "it is odd"},
        {"tool": "large", "target_language": "python", "why": "it is long"},
        {"tool": "small", "target_language": "python", "why": "said twice"},
    ]
}


def test_a_model_orders_the_candidates_and_what_is_counted_stays(run):
    done, by_rule = run(model=Played(SMALL_FIRST)), {c.tool: c for c in run().found}
    assert [c.tool for c in done.found] == ["small", "large"]
    for found in done.found:
        rule = by_rule[found.tool]
        assert dataclasses.replace(found, reasons=()) == dataclasses.replace(rule, reasons=())
        assert found.reasons[:-1] == rule.reasons
    assert done.found[0].reasons[-1] == "proposed: it is odd"
    assert done.outcome.evidence["model"]["used"] is True


@pytest.mark.parametrize(
    "pair", [("curl", "python"), ("small", "cobol"), ("small", "c"), ("../small", "python"), ("SMALL", "python")]
)
def test_a_proposal_that_lock_and_spec_do_not_have_leaves_it_to_the_rule(run, pair):
    bad = {"candidates": [{"tool": pair[0], "target_language": pair[1], "why": "x"}, *SMALL_FIRST["candidates"]]}
    done = run(model=Played(bad, bad, bad))
    assert done.found == run().found
    assert done.outcome.evidence["model"]["used"] is False
    assert repr(pair[0]) in done.outcome.evidence["model"]["fault"]


def test_one_candidate_is_nothing_to_ask_about(run):
    played = Played()
    assert len(run(entries=(SMALL,), model=played).found) == 1
    assert played.asked == []
