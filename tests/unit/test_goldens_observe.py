from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from programsmith.goldens.axes import axes_of, vary
from programsmith.goldens.capture import Capture, Form
from programsmith.goldens.families import call_of
from programsmith.goldens.observe import FLAKY, Observation, Observer
from programsmith.goldens.pool import Setting, make_pool
from programsmith.goldens.strength.hunt import differs
from programsmith.goldens.suspects import Watched, chances, probe, pursue
from programsmith.goldens.variance import Allowance
from programsmith.goldens.variants import OTHER_PATH, WRAPPER, wrapper
from programsmith.payload.verifier.launcher import Mount, Result
from programsmith.payload.verifier.model import Case, Expected, FileEntry, Limits
from programsmith.records.golden import MinedCase, Provenance
from programsmith.sandboxes import open_launcher
from programsmith.sandboxes.view import list_view
from tests.samples.golden import facts, golden

ROOT = Path(__file__).parents[2]
WAVERS = ROOT / "tests/samples/wavers"
RULE = yaml.safe_load((ROOT / "rules/goldens.yaml").read_bytes())
LIMITS = Limits(
    cpu_seconds=10,
    wall_seconds=20,
    memory_bytes=1 << 29,
    pids=64,
    output_bytes=1 << 20,
    work_bytes=1 << 24,
    work_files=100,
)
FILES = tuple(FileEntry(name) for name in (b"a", b"b", b"c"))
AXES = axes_of(RULE["axes"])


def observer(capture):
    return Observer(capture, AXES, repeats=RULE["repeats"]["waverer"], rare_share=RULE["repeats"]["rare_share"])


@pytest.fixture(scope="module")
def launcher():
    opened = open_launcher(list_view(programs=["/usr/bin/python3", "/bin/sh"]))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def scripted(launcher, tmp_path_factory):
    """A capture of the Python program, with both honest variants."""
    folder = tmp_path_factory.mktemp("scripted")
    for place in ("oracle", "other/elsewhere"):
        (folder / place).mkdir(parents=True)
        shutil.copyfile(WAVERS / "wavers.py", folder / place / "tool")
        (folder / place / "tool").chmod(0o755)
    other = Form(
        launcher=launcher,
        program="/opt/oracle/elsewhere/tool",
        mounts=(Mount(source=str(folder / "other"), target="/opt/oracle"),),
    )
    forms = {WRAPPER: wrapper(facts(), folder / "oracle", folder / "wrapper", launcher), OTHER_PATH: other}
    for shown in (folder, folder / "oracle", folder / "other", folder / "other/elsewhere"):
        shown.chmod(0o755)
    return Capture(launcher, facts(), folder / "oracle", LIMITS, forms)


@pytest.fixture
def compiled(launcher, tmp_path):
    """A capture of the C program whose every launch has the next number."""
    oracle = tmp_path / "oracle"
    oracle.mkdir()
    oracle.chmod(0o755)
    subprocess.run(["cc", "-O1", "-o", oracle / "tool", WAVERS / "turn.c"], check=True)
    turn = oracle / "turn"
    turn.write_text("0")

    class Counting(Capture):
        def vary(self, case, variation):
            turn.write_text(str(self.launches + 1))
            return super().vary(case, variation)

    forms = {WRAPPER: wrapper(facts(), oracle, tmp_path / "wrapper", launcher)}
    return Counting(launcher, facts(), oracle, LIMITS, forms)


@pytest.mark.parametrize("axis", [a for a in AXES if a.cause != "over_strict"], ids=lambda a: a.name)
def test_a_planted_dependence_is_dropped_under_its_own_cause(scripted, axis):
    seen = observer(scripted).observe(Case(argv=(axis.name.encode(),), files=FILES))
    assert seen.dropped == axis.cause


def test_a_case_that_holds_still_costs_four_launches(scripted):
    before = scripted.launches
    seen = observer(scripted).observe(Case(argv=(b"steady",), files=FILES))
    assert (seen.dropped, seen.expected.stdout, seen.expected.files) == (None, b"steady\n", None)
    assert scripted.launches - before == 4


def test_a_variable_that_the_case_sets_itself_is_no_axis(scripted):
    seen = observer(scripted).observe(Case(argv=(b"columns",), env=((b"COLUMNS", b"7"),)))
    assert (seen.dropped, seen.expected.stdout) == (None, b"xxxxxxx\n")


def test_a_case_that_shows_its_build_path_fails_an_honest_variant(scripted):
    assert observer(scripted).observe(Case(argv=(b"over_strict",))).dropped == "over_strict"


def test_a_case_that_shows_how_it_was_started_fails_an_honest_variant(compiled):
    assert observer(compiled).observe(Case(argv=(b"name",))).dropped == "over_strict"


def test_a_case_that_never_repeats_is_flaky_and_suspects_nobody(scripted):
    seen = observer(scripted).observe(Case(argv=(b"always",)))
    assert (seen.dropped, seen.rare) == (FLAKY, False)


def test_a_flake_of_four_percent_takes_its_whole_family_and_nobody_else(compiled):
    cases = [Case(argv=(b"-f", b"%d" % n)) for n in range(8)] + [Case(argv=(b"-a", b"%d" % n)) for n in range(8)]
    watching = observer(compiled)
    watched = [Watched(case=c, call=call_of(c, facts()), seen=watching.observe(c)) for c in cases]
    assert 1 <= sum(w.seen.rare for w in watched) <= 3
    pursue(watched, watching.again, RULE["repeats"], 1)
    assert [w.seen.dropped for w in watched] == [FLAKY] * 8 + [None] * 8


def still(case, dropped=None, *, rare=False):
    expected = Expected(exit_code=0)
    return Watched(
        case=case,
        call=call_of(case, facts()),
        seen=Observation(expected=expected, cpu_seconds=0, runs=2, dropped=dropped, rare=rare),
    )


def counted(calls):
    def again(case, seen, times):
        calls.append((case.argv, times))
        return seen

    return again


def test_suspects_are_the_cases_that_share_an_option_or_subcommand_with_a_rare_waverer():
    calls = []
    watched = [
        still(Case(argv=(b"add", b"-a")), FLAKY, rare=True),
        still(Case(argv=(b"add", b"-b"))),
        still(Case(argv=(b"list", b"-a"))),
        still(Case(argv=(b"list", b"-b"))),
        still(Case(argv=())),
    ]
    pursue(watched, counted(calls), RULE["repeats"], 1)
    assert sorted(calls) == [((b"add", b"-b"), 110), ((b"list", b"-a"), 110)]


def test_nobody_is_a_suspect_of_a_case_that_differs_every_time():
    calls = []
    pursue([still(Case(argv=(b"1",)), FLAKY), still(Case(argv=(b"2",)))], counted(calls), RULE["repeats"], 1)
    assert calls == []


def test_probes_visit_one_case_per_family_as_far_as_launches_last():
    calls = []
    watched = [still(Case(argv=(option, b"%d" % n))) for option in (b"-a", b"-b", b"-c") for n in range(4)]
    probe(watched, counted(calls), RULE["repeats"], 45, 1)
    assert len(calls) == len({argv[0] for argv, _ in calls}) == 2
    probe(watched, counted(calls), RULE["repeats"], -5, 1)
    assert len(calls) == 2


def test_the_chance_of_missing_a_flake_is_stated_as_computed():
    stated = chances([still(Case(argv=(b"%d" % n,))) for n in range(50)], RULE["repeats"])
    assert stated["missed_in_lone_case"] == pytest.approx(0.96**4 + 0.04**4, abs=1e-4)
    assert stated["missed_in_suspect"] == pytest.approx(0.96**114, abs=1e-4)
    assert stated["missed_in_suspect"] < 0.01
    assert stated["missed_in_every_case"] == pytest.approx(0.96**200, rel=0.01)


def test_axes_turn_all_at_once_and_alone():
    both = [vary(AXES, setting) for setting in (0, 1)]
    alone = vary([a for a in AXES if a.name == "cwd"], 1)
    assert [v.form for v in both] == [WRAPPER, OTHER_PATH]
    assert both[0].surroundings.cwd != both[1].surroundings.cwd
    assert (alone.env, alone.surroundings.cwd, alone.form) == ((), both[1].surroundings.cwd, "release")


def allowing(capture, **compare):
    rule = RULE["repeats"]
    return Observer(capture, AXES, repeats=rule["waverer"], rare_share=rule["rare_share"], allowed=Allowance(compare))


FLOAT = '{"abs": 0.001, "kind": "float"}'
MASK = r'{"kind": "mask", "pattern": "\\d{4}"}'


@pytest.mark.parametrize(
    ("word", "compare", "dropped", "varies"),
    [
        ("shuffled", {"stdout": "lines_unordered"}, None, {"stdout"}),
        ("shuffled", {"stdout": "tokens"}, FLAKY, set()),
        ("jitter", {"stdout": FLOAT}, None, {"stdout"}),
        ("jitter", {"stdout": "lines_unordered"}, FLAKY, set()),
        ("stamp", {"stdout": MASK}, None, {"stdout"}),
        ("sometimes", {"stderr": "ignore"}, None, {"stderr"}),
        ("steady", {"stdout": MASK, "stderr": "ignore"}, None, set()),
        ("tz", {"stdout": "lines_unordered", "stderr": "ignore"}, "depends_on_tz", set()),
        ("listing", {"stdout": "lines_unordered"}, "depends_on_directory_order", set()),
    ],
)
def test_a_case_may_waver_as_its_spec_compares_and_gets_that_comparator_only_where_it_does(
    scripted, word, compare, dropped, varies
):
    watching = allowing(scripted, **compare)
    for _ in range(20):  # of two outcomes, four launches show one alone in an eighth of all tries
        seen = watching.observe(Case(argv=(word.encode(),), files=FILES))
        assert seen.dropped == dropped
        if seen.varies == varies:
            return
    pytest.fail(f"never {varies}")


def test_a_suspect_that_wavers_as_it_may_is_no_flake(scripted):
    case = Case(argv=(b"shuffled",))
    first = Observation(expected=Expected(exit_code=0, stdout=b"a\nb\nc\nd\ne\nf\ng\nh\n"), cpu_seconds=0, runs=1)
    lax, strict = allowing(scripted, stdout="lines_unordered"), observer(scripted)
    assert lax.again(case, first, 4).varies == {"stdout"}
    assert strict.again(case, first, 4).dropped == FLAKY


def test_a_pool_holds_the_comparator_of_cases_that_waver_and_no_case_that_it_makes_lax(scripted):
    where = Provenance(miner="tables", path=b"t", line=1, blob="", licence="MIT")
    mined = [
        MinedCase(case=Case(argv=argv, files=FILES), provenance=where, group=repr(argv))
        for argv in ((b"stamp",), (b"stamp", b"1999"), (b"steady", b"more"))
    ]

    shown = (FileEntry(b"d", content=b"stamp steady more 1999"),)
    plain = Setting(facts=facts(), rule=RULE, public=0.5, held_out=9, docs=shown, constants=frozenset(), marks={})

    def pool_of(pattern):
        mask = json.dumps({"kind": "mask", "pattern": pattern})
        return make_pool(mined, scripted, replace(plain, allowed=Allowance({"stdout": mask})))

    kept = {g.case.argv: g.compare for g in pool_of(r"run \d{4}").goldens}
    assert set(kept) == {m.case.argv for m in mined}
    assert {argv for argv, compare in kept.items() if compare} == {(b"stamp",), (b"stamp", b"1999")}
    assert pool_of(r"[a-z0-9 ]+").dropped["lax"] == 2


def test_a_killer_must_differ_otherwise_than_the_oracle_does():
    one = golden(b"x", stdout=b"a\nb\n")
    loose = replace(one, compare=(("stdout", "lines_unordered"),))
    other = Result(started=True, exit_code=0, stdout=b"b\na\n", files=())
    assert differs(other, one)
    assert not differs(other, loose)
    assert differs(replace(other, stdout=b"b\nb\n"), loose)
    assert differs(replace(other, exit_code=1), loose)
