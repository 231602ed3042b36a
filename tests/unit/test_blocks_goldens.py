from __future__ import annotations

from programsmith.blocks.goldens import _wanted, count_tests, licence_of
from programsmith.miners import MINERS
from programsmith.payload.verifier.model import Case
from programsmith.records.golden import MinedCase
from programsmith.records.lock import LicenceFact, Lock
from programsmith.rulebook.load import packaged_schema
from tests.samples.golden import golden


def locked(*facts):
    return Lock(
        name="x",
        origin="x",
        commit="0",
        tree="0",
        files=1,
        licence="MIT AND BSD-3-Clause",
        licences=facts,
        language="c",
        build_system="make",
        code_lines=1,
        entry_points=(),
    )


def test_a_case_carries_the_licence_of_the_nearest_folder_that_states_one():
    of = licence_of(
        locked(
            LicenceFact(path="LICENSE", expression="MIT", how="text"),
            LicenceFact(path="vendor/lib/COPYING", expression="BSD-3-Clause", how="text"),
        )
    )
    assert of(b"tests/a.yaml") == "MIT AND BSD-3-Clause"
    assert of(b"vendor/lib/tests/deep/a.yaml") == "BSD-3-Clause"
    assert of(b"vendor/a.yaml") == "MIT AND BSD-3-Clause"
    assert of(b"odd\xff/a.yaml") == "MIT AND BSD-3-Clause"


def test_all_miners_run_unless_the_spec_names_some():
    assert [*_wanted("auto"), "samples"] == list(MINERS)
    assert _wanted(["tables"]) == ["tables"]


def test_the_schema_knows_every_miner():
    (_, listed) = packaged_schema("spec")["properties"]["goldens"]["properties"]["miners"]["anyOf"]
    assert listed["items"]["enum"] == list(MINERS)


def test_the_invocations_that_are_tried_for_one_test_do_not_make_a_pool_thick():
    provenance = golden().provenance
    forms = [
        MinedCase(case=Case(argv=(b"%d" % n, t)), provenance=provenance, group="", template_set="s", source=f"t:{n}")
        for n in range(3)
        for t in (b"stdin", b"operand", b"-x")
    ]
    plain = [MinedCase(case=Case(argv=(b"a%d" % n,)), provenance=provenance, group="") for n in range(2)]
    assert count_tests([*forms, *plain]) == 5
