"""Submissions with a known verdict: each gets it from the verifier, and every mutant of the verifier fails at one."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from programsmith.adversaries.cut import Choice, cut
from programsmith.adversaries.mutants import MUTANTS, differences, mutate
from programsmith.blocks import create
from programsmith.bundle.controls import pack
from programsmith.bundle.sides import read_sides
from programsmith.bundle.submissions import (
    INDEX,
    SEALED,
    archive,
    archive_clear,
    difference,
    read_submissions,
    scale_of,
    verdict,
)
from programsmith.bundle.tree import read_bundle
from programsmith.bundle.verdicts import Material, submissions
from programsmith.errors import InfraError
from programsmith.payload.verifier.words import BuildWord, CaseWord
from programsmith.records import codec
from programsmith.records.golden import Kills

KINDS = {
    *("accepted", "partial", "wrong", "output_liar", "exit_liar", "files_liar", "stderr_liar"),
    *("slow", "crash", "flood", "null", "unbuilt", "not_started", "cheat"),
}
SOON = {"cpu_floor_seconds": 0.4, "cpu_factor": 1, "output_extra_bytes": 65536}  # limits that are cheap to pass


@dataclasses.dataclass
class Few:
    """A bundle of a few cases with limits that are soon passed, and the submissions made for it."""

    bundle: object
    sides: object
    environment: object
    submissions: dict

    def differences(self, names, scratch, bundle=None):
        wanted = [self.submissions[name] for name in names]
        return differences(bundle or self.bundle, self.sides, wanted, self.environment, scratch)


@pytest.fixture(scope="module")
def few(toys, tmp_path_factory):
    """Cuts of the toy tasks, each made once."""
    made = {}

    def get(language):
        if language not in made:
            toy = toys(language, language)
            folder = tmp_path_factory.mktemp("few") / language
            sides = cut(read_sides(toy.bundle), toy.bundle, Choice(count=7, limits=SOON), folder)
            given = Material(held_out=sides.held_out, public=(), policy=sides.policy, language=language)
            found = {one.id: one for one in submissions(given)}
            made[language] = Few(folder, sides, toy.path("r/environments.json"), found)
        return made[language]

    return get


def material(toy, **more):
    sides = read_sides(toy.bundle)
    given = Material(
        held_out=sides.held_out, public=sides.public, policy=sides.policy, language=toy.manifest.target_language
    )
    return dataclasses.replace(given, **more)


@pytest.mark.parametrize("language", ["python", "c", "javascript"])
def test_every_submission_gets_the_verdict_that_it_must(few, language, tmp_path):
    if language == "javascript" and shutil.which("node") is None:
        pytest.skip("node is absent; run: apt-get install -y nodejs")
    one = few(language)
    assert len(one.submissions) >= 20
    assert one.differences(one.submissions, tmp_path / "s") == {}


def test_shipped_ones_get_theirs_on_the_whole_bundle(toys, tmp_path):
    toy = toys("python", "python")
    names = {"accepted", "partial_first_half", "mutant_1", "mixes_up_stderr", "null_most_frequent", "cheat_forges"}
    some = [one for one in read_submissions(toy.bundle) if one.id in names]
    assert len(some) == len(names)
    environment = toy.path("r/environments.json")
    assert differences(toy.bundle, read_sides(toy.bundle), some, environment, tmp_path / "s") == {}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_of_the_verifier_gives_a_submission_another_verdict(few, mutant, tmp_path):
    one = few("python")
    telling = MUTANTS[mutant][1]
    mutated = mutate(one.bundle, mutant, tmp_path / "mutant")
    assert set(one.differences([telling], tmp_path / "s", mutated)) == {telling}


def test_there_are_nine_mutants_and_none_is_another_by_a_second_name():
    assert len(MUTANTS) == len({module for module, _ in MUTANTS.values()}) == 9


def test_a_bundle_carries_every_kind_and_opens_them_as_they_were_made(toys):
    toy = toys("python", "python")
    found = read_submissions(toy.bundle)
    made = submissions(material(toy, killers=[m.killers for m in toy_kills(toy)]))
    assert [dataclasses.replace(one, files=tuple(sorted(one.files))) for one in made] == list(found)
    assert {one.kind for one in found} == KINDS
    assert len(found) >= 12
    assert {telling for _, telling in MUTANTS.values()} <= {one.id for one in found}


def toy_kills(toy):
    return codec.load(toy.path("kills.json"), Kills).mutants


def test_what_a_killed_mutant_gets_wrong_is_wrong_and_nothing_else(toys):
    toy = toys("python", "python")
    [mutant] = [one for one in read_submissions(toy.bundle) if one.id.startswith("mutant_")]
    assert set(mutant.words) == set(toy_kills(toy)[0].killers)


def test_without_kills_no_mutant_is_made_up(toys):
    assert not [s for s in submissions(material(toys("python", "python"))) if s.id.startswith("mutant_")]


def test_the_index_says_what_each_must_get(toys):
    toy = toys("python", "python")
    clear = archive_clear(toy.bundle)
    index = json.loads(clear[clear.index(b'{\n "submissions"') :].split(b"\n}\n")[0] + b"\n}")
    rows = {row["id"]: row for row in index["submissions"]}
    scale = scale_of(read_sides(toy.bundle))
    for one in read_submissions(toy.bundle):
        must = verdict(one, scale)
        assert rows[one.id]["must"]["reward"] == must.reward
        assert rows[one.id]["must"]["families"]["held_out"] == {
            n: list(r) for n, r in must.families["held_out"].items()
        }
    assert rows["accepted"]["must"]["reward"] == 1
    assert rows["sick_host"]["must"]["reward"] is None
    assert 0 < rows["partial_first_half"]["must"]["fraction"] < 1


def test_the_archive_is_the_same_for_the_same_cases_and_holds_each_file_once(toys):
    toy = toys("python", "python")
    scale = scale_of(read_sides(toy.bundle))
    once, again = (archive(submissions(material(toy)), scale, pack) for _ in range(2))
    assert once == again
    files = [e.content for one in submissions(material(toy)) for e in one.files]
    assert max(Counter(files).values()) > 10
    assert len(once) < sum(map(len, files))


def test_nobody_reads_them_without_the_solutions_key(toy):
    everything = {path: e.content for path, e in read_bundle(toy.bundle).items()}
    clear = archive_clear(toy.bundle)
    assert INDEX.encode() in clear
    for marker in (
        b"submissions.yaml",
        b"partial_first_half",
        *[k.encode() for k in read_submissions(toy.bundle)[4].words],
    ):
        assert marker in clear
        assert marker not in everything[SEALED]
    assert not [path for path in everything if "submissions" in path and not path.startswith("solution/")]
    (toy.bundle / "solution/seal.json").write_bytes((toy.bundle / "tests/seal.json").read_bytes())
    with pytest.raises(InfraError, match="do not open"):
        read_submissions(toy.bundle)


def test_an_owner_seals_them_too(toy):
    toy.spec["seal"] = "owner"
    toy.owner_secret = bytes(range(32))
    subprocess.run(["rm", "-rf", toy.bundle], check=True)
    create.run(toy.job("create"))
    assert {one.id for one in read_submissions(toy.bundle, toy.owner_secret)} >= {"accepted", "burns"}
    with pytest.raises(InfraError, match="sealed by its owner"):
        read_submissions(toy.bundle)


def test_the_bundles_own_opener_lays_them_out(toy, tmp_path):
    script = toy.bundle / "solution" / "open.py"
    subprocess.run([sys.executable, "-I", str(script), str(tmp_path), "submissions"], check=True)
    index = json.loads((tmp_path / INDEX).read_bytes())
    assert all((tmp_path / f["file"]).is_file() for row in index["submissions"] for f in row["files"].values())


def graded(few, **changes):
    """Details as a verifier leaves them for the submission with one case wrong, then changed."""
    must = verdict(few.submissions["one_case"], scale_of(few.sides))
    details = {
        "word": must.word,
        "reward": must.reward,
        "fraction": must.fraction,
        "cases": {"held_out": dict(must.words["held_out"]), "public": {}},
        "families": {
            side: {n: {"passed": p, "total": t} for n, (p, t) in rows.items()} for side, rows in must.families.items()
        },
    }
    return must, {**details, **changes}


@pytest.mark.parametrize(
    "changes",
    [
        {"word": "AC"},
        {"reward": 1.0},
        {"fraction": 1.0},
        {"cases": {"held_out": {}, "public": {}}},
        {"cases": {"held_out": {"c0": "SIGNAL"}, "public": {}}},
        {"families": {"held_out": {}, "public": {}}},
    ],
)
def test_anything_else_than_the_verdict_is_a_difference(few, changes):
    must, details = graded(few("python"))
    assert difference(must, details) == ""
    must, details = graded(few("python"), **changes)
    assert difference(must, details) != ""
    assert "wanted 0.0" in difference(must, None)


def test_words_of_a_submission_are_words_of_the_verifier(toys):
    for one in read_submissions(toys("c", "c").bundle):
        assert set(one.words.values()) <= {w.value for w in CaseWord} - {"AC", "INFRA"}
        assert one.built in {"", *(w.value for w in BuildWord)}


@pytest.fixture
def program(monkeypatch):
    """benchmarks/verdicts.py."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "benchmarks"))
    import verdicts

    yield verdicts
    for name in ("verdicts", "bars"):
        del sys.modules[name]


@pytest.mark.parametrize("wrong", [False, True])
def test_the_program_that_tries_a_bundle_says_how_many_verdicts_and_mutants_are_as_they_must(
    toys, program, monkeypatch, capsys, wrong
):
    toy = toys("python", "python")
    some = {one.id: one for one in read_submissions(toy.bundle)}
    told = dataclasses.replace(some["says_nul"], words={}) if wrong else some["says_nul"]
    monkeypatch.setattr(program, "read_submissions", lambda *_: [told, some["nothing"]])
    monkeypatch.setattr(program, "MUTANTS", {"strips_nul": MUTANTS["strips_nul"]})
    assert program.main([str(toy.bundle.parent), "--quick", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["figures"] == {
        "submissions": 2,
        "unexpected": int(wrong),
        "mutants_caught": int(not wrong),
        "tell_strips_nul": int(not wrong),
    }
    assert found["bars"] == {"submissions": False, "unexpected": not wrong, "mutants_caught": False}


def test_what_a_comparator_forgives_is_no_lie(toys):
    toy = toys("python", "python")
    whole = material(toy)
    [before] = [s for s in submissions(whole) if s.id == "says_less"]
    victim = min(before.words)

    def loose(cases):
        return tuple(
            dataclasses.replace(c, compare=(("stdout", "tokens"),)) if c.case.id == victim else c for c in cases
        )

    given = dataclasses.replace(whole, held_out=loose(whole.held_out), public=loose(whole.public))
    [after] = [s for s in submissions(given) if s.id == "says_less"]
    assert victim not in after.words
    assert set(before.words) - {victim} <= set(after.words)
