from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest

from programsmith.errors import InputError
from programsmith.goldens.yields import write_yields
from programsmith.records import codec
from programsmith.records.outcome import Record, Word
from tests.samples.golden import golden


def finished(root, name="demo", seconds=0.1):
    """What a finished build leaves, as far as yields read it."""
    cache = root / "cache" / name
    (cache / "r0").mkdir(parents=True)
    verdict = {"outcome": "draft", "b": 1.0, "v": 1.0, "not_s": None, "revision": 0, "reasons": ["no rollouts"]}
    (cache / "verdict.json").write_text(json.dumps(verdict))
    (cache / "split.json").write_text("{}")
    codec.dump_lines(cache / "pool.jsonl", [replace(golden(b"secret"), cpu_seconds=seconds)])
    for folder, block, found in (
        (cache, "goldens", {"kept": 7, "public": 3, "held_out": 4, "miners": {"tables": {"found": 9}}, "seconds": 1.5}),
        (cache / "r0", "strength", {"mutation_score": 0.8, "interval": [0.7, 0.9], "mutants": 150}),
    ):
        record = Record(block=block, outcome=Word.PASS, reason="", evidence=found, inputs={}, seconds=1.0)
        codec.dump(folder / f"{block}.json", record)
    return root / "specs" / f"{name}.yaml"


def test_a_yield_holds_counts_strength_and_digests_and_no_case(tmp_path):
    spec = finished(tmp_path)
    written = list(write_yields(tmp_path, [spec]))
    assert written == [tmp_path / "docs/yield/demo.json", tmp_path / "docs/yield.md"]
    found = json.loads(written[0].read_bytes())
    assert [found[key] for key in ("name", "outcome", "kept", "b", "not_s")] == ["demo", "draft", 7, 1.0, None]
    assert found["strength"] == {"mutation_score": 0.8, "interval": [0.7, 0.9], "mutants": 150}
    assert found["command"] == "programsmith build spec=specs/demo.yaml"
    assert set(found["digests"]) == {"split.json", "pool"}
    assert "seconds" not in found["counts"]
    assert base64.b64encode(b"secret").decode() not in written[0].read_text()


def test_the_digest_of_the_pool_does_not_know_how_long_cases_took(tmp_path):
    digests = []
    for root, seconds in ((tmp_path / "a", 0.1), (tmp_path / "b", 0.2)):
        written = list(write_yields(root, [finished(root, seconds=seconds)]))
        digests.append(json.loads(written[0].read_bytes())["digests"])
    assert digests[0] == digests[1]


def test_the_table_lists_every_yield_and_the_same_build_gives_the_same_bytes(tmp_path):
    first, second = finished(tmp_path), finished(tmp_path, "other")
    *_, table = write_yields(tmp_path, [first, second])
    text = table.read_bytes()
    assert b"| demo | draft | - | 9 | 7 | 3 | 4 | 0.800 | 0.700 to 0.900 | 1.000 | 1.000 | - |" in text
    assert b"| other |" in text
    *_, table = write_yields(tmp_path, [first])
    assert table.read_bytes() == text


def test_a_spec_that_was_never_built_is_refused_with_the_command(tmp_path):
    with pytest.raises(InputError, match="programsmith build spec=demo"):
        list(write_yields(tmp_path, [tmp_path / "specs/demo.yaml"]))
