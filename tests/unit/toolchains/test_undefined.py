"""A case of a C program that shows what C leaves undefined is dropped by the oracle's other builds; no other one is."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
import yaml

from programsmith.goldens.capture import Capture, Variation, expected_of
from programsmith.goldens.gates.undefined import UNPROVEN, undefined_reason
from programsmith.goldens.observe import Observer
from programsmith.goldens.pool import Setting, make_pool
from programsmith.goldens.variance import Allowance
from programsmith.goldens.variants import SANITIZED, WRAPPER, variants
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import Case, Expected, FileEntry, Limits
from programsmith.payload.verifier.tree import write_tree
from programsmith.records.golden import MinedCase, Provenance
from programsmith.sandboxes import open_launcher
from programsmith.toolchains.build import build_source
from programsmith.toolchains.views import run_view
from tests.samples.golden import facts

ROOT = Path(__file__).parents[3]
RULE = yaml.safe_load((ROOT / "rules/goldens.yaml").read_bytes())
PROGRAM = (ROOT / "tests/samples/undefined/undefined.c").read_bytes()
UNDEFINED = [(b"stack", b"3"), (b"heap",), (b"freed",), (b"overflow", b"2147483647"), (b"bound", b"6")]
DEFINED = [(b"stack", b"4"), (b"overflow", b"2147483646"), (b"leak",), (b"plain", b"4"), (b"plain", b"5")]

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc: apt install gcc make")


@pytest.fixture
def made(kit, tmp_path):
    """A capture of the program with all of its forms, and what could not be built."""
    source = kit.tree({"Makefile": b"CFLAGS = -O2\ngreet: greet.c\n", "greet.c": PROGRAM})
    request = kit.request("c")
    built = build_source(source, request)
    known = facts(tool="greet", program=built.program, subcommands=("stack", "heap", "freed", "overflow", "bound"))
    tree = tmp_path / "oracle"
    write_tree(os.fspath(tree), built.install)
    with ExitStack() as open_things:

        def launcher_of(programs):
            return open_things.enter_context(closing(open_launcher(run_view(request.toolchain, programs))))

        other = variants(known, tree, tmp_path, launcher_of, (source, request))
        yield Capture(launcher_of([]), known, tree, Limits(**kit.limits["capture"]), other.forms), other.absent


def test_what_is_undefined_is_dropped_which_the_watching_build_alone_sees_too(made):
    capture, absent = made
    assert (absent, set(capture.forms)) == ({}, {"release", WRAPPER, "other_path", SANITIZED})
    where = Provenance(miner="tables", path=b"t", line=1, blob="", licence="MIT")
    mined = [MinedCase(case=Case(argv=argv), provenance=where, group=repr(argv)) for argv in (*UNDEFINED, *DEFINED)]
    setting = Setting(
        facts=facts(tool="greet"),
        rule={**RULE, "one_outcome_least": 99},
        public=0.5,
        held_out=9,
        docs=(FileEntry(b"d", content=b"stack heap freed overflow bound leak plain"),),
        constants=frozenset(),
        marks={},
    )
    pool = make_pool(mined, capture, setting)
    assert {g.case.argv for g in pool.goldens} == set(DEFINED)
    dropped = {word: n for word, n in pool.dropped.items() if n}
    assert set(dropped) <= {"undefined_behaviour", "over_strict", "flaky", "depends_on_surroundings"}
    assert dropped["undefined_behaviour"] >= 2
    assert pool.unproven == 0
    for argv in UNDEFINED:
        case = Case(argv=argv)
        plain, watched = (capture.vary(case, Variation(form=form)) for form in ("release", SANITIZED))
        assert undefined_reason(case, expected_of(case, plain), watched, Allowance()) == "undefined_behaviour", argv


def test_the_watching_build_stands_for_a_launch_of_what_it_shows_alike_and_of_nothing_else(made):
    capture, _ = made
    observer = Observer(capture, (), repeats=RULE["repeats"]["waverer"], rare_share=RULE["repeats"]["rare_share"])
    for argv in DEFINED:
        before = capture.launches
        seen = observer.observe(Case(argv=argv))
        assert (seen.defined, seen.dropped, seen.runs, capture.launches - before) == (True, None, 2, 4), argv
    assert not any(observer.observe(Case(argv=argv)).defined for argv in UNDEFINED)


@pytest.mark.parametrize(
    "result",
    [
        Result(started=True, exit_code=None, signal=9, limits_hit=frozenset({"memory"})),
        Result(started=True, exit_code=86, stderr=b"==1==ERROR: AddressSanitizer: stack-overflow on address", files=()),
    ],
)
def test_a_watching_build_without_room_proves_nothing(result):
    assert undefined_reason(Case(argv=()), Expected(exit_code=0), result, Allowance()) == UNPROVEN


def test_what_does_not_build_with_sanitizers_is_noted_and_refused_nowhere(kit, tmp_path):
    makefile = b'CFLAGS = -O2\ngreet: greet.c\n\tcase "$$(cat $$(command -v $(CC)))" in *sanitize*) exit 1 ;; esac\n'
    source = kit.tree({"Makefile": makefile + b"\t$(CC) -o $@ greet.c\n", "greet.c": PROGRAM})
    request = kit.request("c")
    with closing(open_launcher(run_view(request.toolchain))) as launcher:
        found = variants(facts(tool="greet"), tmp_path, tmp_path, lambda _: launcher, (source, request))
    assert set(found.absent) == {SANITIZED}
    assert WRAPPER in found.forms
