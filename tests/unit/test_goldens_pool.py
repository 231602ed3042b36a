from __future__ import annotations

import calendar
import dataclasses
import itertools
import shutil
from collections import Counter
from pathlib import Path

import pytest
import yaml

from programsmith.errors import InfraError
from programsmith.goldens.agreement import agreement
from programsmith.goldens.capture import Capture, expected_of, unsound
from programsmith.goldens.evidence import evidence
from programsmith.goldens.pool import Setting, cpu_class, make_pool
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import Case, FileEntry, Limits
from programsmith.records.golden import MinedCase, Provenance, Recorded
from programsmith.sandboxes import open_launcher
from programsmith.sandboxes.view import list_view
from tests.samples.golden import facts

ROOT = Path(__file__).parents[2]
RULE = yaml.safe_load((ROOT / "rules/goldens.yaml").read_bytes())
LIMITS = Limits(
    cpu_seconds=1, wall_seconds=60, memory_bytes=1 << 28, pids=16, output_bytes=4096, work_bytes=1 << 20, work_files=50
)
TOOL = b"""#!/bin/sh
case "$1" in
  twice) read -r line; echo "$line$line" ;;
  args) shift; echo "$# arguments: $*" ;;
  write) echo "made $2" > "$2" ;;
  cat) read -r line; echo "$line" ;;
  quiet) ;;
  where) echo "in /opt/oracle/tool" ;;
  year) echo 2031 ;;
  loop) while :; do :; done ;;
  flood) while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done ;;
  die) kill -9 $$ ;;
  secret) echo "a hidden constant" ;;
  *) echo "usage: tool WORD"; exit 2 ;;
esac
"""


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    oracle = tmp_path_factory.mktemp("oracle")
    (oracle / "tool").write_bytes(TOOL)
    for path in (oracle, oracle / "tool"):
        path.chmod(0o755)
    launcher = open_launcher(list_view(programs=["/bin/sh"]))
    yield Capture(launcher, facts(subcommands=("twice", "args")), oracle, LIMITS)
    launcher.close()
    shutil.rmtree(oracle)


def setting(**changes):
    values = {
        "facts": facts(subcommands=("twice", "args")),
        "rule": RULE,
        "public": 0.5,
        "held_out": 10,
        "docs": (FileEntry(b"help", content=b"usage: tool WORD\n"), FileEntry(b"man", content=b"twice args write")),
        "constants": frozenset({b"a hidden constant"}),
        "marks": {"oracle_path": [b"/opt/oracle"]},
        "clock": itertools.count(calendar.timegm((2031, 1, 1, 0, 0, 0))).__next__,
    }
    return Setting(**{**values, **changes})


def mined(*argv, recorded=Recorded(), template="", source="", **inputs):  # noqa: B008 - a frozen value
    return MinedCase(
        case=Case(argv=argv, **inputs),
        provenance=Provenance(miner="tables", path=b"t.yaml", line=1, blob="", licence="MIT"),
        group=source or repr((argv, inputs)),
        recorded=recorded,
        template_set="tables:t" if template else "",
        template=template,
        source=source,
    )


def test_each_gate_drops_its_case_under_its_word_and_the_rest_is_split(capture):
    good = [mined(b"twice", stdin=b"%d\n" % n, recorded=Recorded(stdout=b"%d%d" % (n, n))) for n in range(1000, 1012)]
    bad = [
        mined(b"cat", stdin=b"x\n"),
        mined(b"quiet"),
        mined(b"nothing"),
        mined(b"where"),
        mined(b"year"),
        mined(b"loop"),
        mined(b"flood"),
        mined(b"die"),
        mined(b"args", b"a" * (RULE["size"]["input_bytes"] + 1)),
        good[0],
    ]
    counts = {"tables": Counter()}
    pool = make_pool([*good, *bad], capture, setting())
    assert dict(pool.dropped) == {
        "null_stdin": 1,
        "null_silent": 1,
        "null_usage": 1,
        "leak_oracle_path": 1,
        "clock_unproven": 1,
        "limit_cpu": 1,
        "limit_output": 1,
        "signal": 1,
        "input_too_large": 1,
        "duplicate": 1,
        "no_template": 0,
    }
    assert {g.case for g in pool.goldens} == {m.case for m in good}
    assert {g.agreement for g in pool.goldens} == {"agree"}
    assert {g.family for g in pool.goldens} == {"twice"}
    assert (len(pool.split.public), len(pool.split.held_out), len(pool.split.reserve)) == (6, 6, 0)
    turned = make_pool([*good, *bad], capture, setting(clock_fault=None))
    assert {g.case.argv for g in turned.goldens} == {(b"twice",), (b"year",)}
    assert (turned.dropped["clock_unproven"], turned.dropped["clock_dependent"]) == (0, 0)
    said = evidence([*good, *bad], counts, pool, {"other_path": "does not build"})
    assert (said["kept"], said["families"]) == (12, {"twice": {"public": 6, "held_out": 6, "reserve": 0}})
    assert said["miners"] == {"tables": {"found": 21, "skipped": {}}}
    assert said["launches"] == pool.launches


def test_a_constant_that_nothing_else_shows_is_asked_in_public(capture):
    cases = [mined(b"args", b"%d" % n * 5) for n in range(8)] + [mined(b"secret")]
    pool = make_pool(cases, capture, setting())
    closed = {*pool.split.held_out, *pool.split.reserve}
    assert len(pool.goldens) == 9
    assert cases[-1].case.id in pool.split.public
    assert closed
    assert cases[-1].case.id not in closed


class Busy:
    """A launcher on a host that is too busy for the first launches: no real one can be made to be so."""

    name = "busy"

    def __init__(self, *results):
        self.results, self.walls = list(results), []

    def run(self, request):
        self.walls.append(request.limits.wall_seconds)
        return self.results.pop(0)


def test_a_launch_that_only_a_busy_host_ends_is_given_more_time():
    most = LIMITS.wall_seconds
    done = Result(started=True, exit_code=0, stdout=b"done", files=())
    slow = Result(started=True, limits_hit=frozenset({"wall"}), cpu_seconds=most, wall_seconds=most)
    asleep = dataclasses.replace(slow, cpu_seconds=0.01)
    for results, walls in (([slow, done], [most, 10 * most]), ([asleep], [most]), ([done], [most])):
        launcher = Busy(*results)
        found = Capture(launcher, facts(), Path("/nowhere"), LIMITS).run(Case(argv=(b"x",)))
        assert (found, launcher.walls) == (results[-1], walls)
    with pytest.raises(InfraError, match="too busy; run again"):
        Capture(Busy(slow, slow), facts(), Path("/nowhere"), LIMITS).run(Case(argv=(b"x",)))


def test_a_template_is_not_taken_for_what_expects_nothing(capture):
    silent = [
        mined(b"quiet", b"%d" % n, recorded=Recorded(stdout=b""), template="quiet", source=f"s:{n}") for n in range(40)
    ]
    words = [
        mined(b"quiet", b"w%d" % n, recorded=Recorded(stdout=b"w%d" % n), template="quiet", source=f"w:{n}")
        for n in range(20)
    ]
    pool = make_pool([*silent, *words], capture, setting())
    assert (pool.templates["tables:t"].taken, pool.templates["tables:t"].tried) == (None, {"quiet": (0, 5)})


def test_a_template_under_which_the_program_never_ends_is_tried_once(capture):
    asks = [
        mined(b"flood", b"%d" % n, recorded=Recorded(stdout=b"w"), template="asks", source=f"f:{n}") for n in range(9)
    ]
    pool = make_pool(asks, capture, setting())
    assert pool.templates["tables:t"].tried == {"asks": (0, 1)}
    assert pool.dropped["no_template"] == 9


def test_the_template_that_agrees_is_taken_and_a_set_without_one_is_dropped(capture):
    forms = [
        mined(*argv, recorded=Recorded(stdout=b"2 arguments: %d x\n" % n), template=template, source=f"t:{n}")
        for n in range(10, 20)
        for template, argv in (("bare", (b"%d" % n, b"x")), ("args", (b"args", b"%d" % n, b"x")))
    ]
    pool = make_pool(forms, capture, setting())
    assert pool.templates["tables:t"].taken == "args"
    assert pool.templates["tables:t"].tried == {"bare": (0, 5), "args": (10, 10)}
    assert len(pool.goldens) == 10
    lost = make_pool([dataclasses.replace(m, recorded=Recorded(stdout=b"else")) for m in forms], capture, setting())
    assert (lost.templates["tables:t"].taken, lost.goldens, lost.dropped["no_template"]) == (None, [], 10)


def test_a_file_that_the_case_makes_is_its_expected_side_and_an_untouched_directory_is_none(capture):
    made = capture.run(Case(argv=(b"write", b"new"), files=(FileEntry(b"d/old", content=b"o"),)))
    found = expected_of(Case(argv=(), files=(FileEntry(b"d/old", content=b"o"),)), made)
    assert {(f.path, f.content) for f in found.files if f.kind == "file"} == {(b"d/old", b"o"), (b"new", b"made new\n")}
    same = Case(argv=(b"args",), files=(FileEntry(b"d/old", content=b"o"),))
    assert expected_of(same, capture.run(same)).files is None


def test_a_launcher_that_fails_is_infra_and_never_a_result(tmp_path):
    launcher = open_launcher(list_view(programs=["/bin/sh"]))
    broken = Capture(launcher, facts(), tmp_path / "missing", LIMITS)
    with pytest.raises(InfraError, match="capture of c"):
        broken.run(Case(argv=()))
    launcher.close()


@pytest.mark.parametrize(
    ("result", "word"),
    [
        (Result(), "not_started"),
        (Result(started=True, exit_code=0, files=(), limits_hit=frozenset({"wall", "cpu"})), "limit_cpu"),
        (Result(started=True, signal=11, files=()), "signal"),
        (Result(started=True, exit_code=0), "files_unreadable"),
        (Result(started=True, exit_code=0, files=()), None),
    ],
)
def test_a_result_that_can_be_no_golden_is_named(result, word):
    assert unsound(result) == word


@pytest.mark.parametrize(
    ("recorded", "word"),
    [
        (Recorded(), "absent"),
        (Recorded(stdout=b'{"a": 1}'), "agree"),
        (Recorded(stdout=b'{"a":1}\n'), "disagree"),
        (Recorded(stdout=b'{"a":1}\n', match="json"), "agree"),
        (Recorded(stdout=b'{"a":2}\n', match="json"), "disagree"),
        (Recorded(stdout=b"not json", match="json"), "disagree"),
        (Recorded(stderr=b"boom"), "agree"),
        (Recorded(stderr=b"bang"), "disagree"),
        (Recorded(exit_code=3), "agree"),
        (Recorded(exit_code=0), "disagree"),
        (Recorded(fails=True), "agree"),
        (Recorded(fails=False), "disagree"),
        (Recorded(stdout=b'{"a": 1}', exit_code=4), "disagree"),
    ],
)
def test_a_record_agrees_only_where_everything_that_it_states_holds(recorded, word):
    result = Result(started=True, exit_code=3, stdout=b'{"a": 1}\n', stderr=b"boom\n", files=())
    assert agreement(recorded, result) == word


@pytest.mark.parametrize(
    ("got", "word"),
    [
        (b"<ul>\n<li>a  b</li></ul>\n", "agree"),
        (b"<ul> <li>\n\ta b </li>\n</ul>", "agree"),
        (b"<ul><li>ab</li></ul>", "disagree"),
        (b"<ul><li class=x>a b</li></ul>", "disagree"),
        (b"", "disagree"),
    ],
)
def test_how_tags_are_laid_out_in_lines_is_not_meant(got, word):
    recorded = Recorded(stdout=b"<ul>\n  <li>a b</li>\n</ul>\n", match="markup")
    assert agreement(recorded, Result(started=True, exit_code=0, stdout=got, files=())) == word


@pytest.mark.parametrize(
    ("seconds", "kept"), [(0.0, 0.2), (0.003, 0.2), (0.2, 0.2), (0.21, 0.4), (0.5, 0.8), (3.0, 3.2)]
)
def test_cpu_times_are_kept_in_classes_that_do_not_vary_with_the_machine(seconds: float, kept: float) -> None:
    assert cpu_class(seconds, 0.2) == pytest.approx(kept)
