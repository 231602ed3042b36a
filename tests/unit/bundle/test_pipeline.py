"""From goldens to dist/: a small program's bundle through every block of its revision."""

from __future__ import annotations

import dataclasses
import tomllib

from programsmith.blocks import create, export, images, sanity, static
from programsmith.compiler.plan import STEP
from programsmith.records import codec
from programsmith.records.outcome import Record, Word
from programsmith.records.verdict import Verdict


def test_a_small_task_goes_from_its_pool_to_its_shelf(toy):
    ran = {}
    for block, run in (("create", create.run), ("images", images.run), ("sanity", sanity.run), ("static", static.run)):
        job = toy.job(block)
        for path in job.outputs.values():
            if path.is_file():
                path.unlink()
        if block == "create":
            toy.bundle.rename(toy.folder / "earlier")
        outcome = run(job)
        assert outcome.word is Word.PASS, (block, outcome.reason)
        assert all(path.exists() for path in job.outputs.values())
        ran[block] = Record(
            block=block, outcome=outcome.word, reason=outcome.reason, evidence=outcome.evidence, inputs={}, seconds=0.0
        )
        assert job.spec.used == set(STEP[block].spec)
    seen = ran["images"].evidence
    place = {"kind": seen["kind"], "fingerprint": seen["fingerprint"]}
    codec.dump(
        toy.path("verdict.json"),
        Verdict(
            outcome=Word.DRAFT, q=None, b=1, v=1, h=None, not_s=None, revision=0, environments=(place,), reasons=("x",)
        ),
    )
    final = toy.folder / "dist" / "drafts" / "rot"
    final.parent.mkdir(parents=True)
    job = dataclasses.replace(toy.job("export"), outputs={"dist/": final}, records=ran)
    assert export.run(job).word is Word.EXPORTED
    said = tomllib.loads((final / "task.toml").read_text())["metadata"]["programsmith"]
    assert said["environments"] == [f"bubblewrap:{seen['fingerprint']}"]
    assert set(said["evidence"]) == {"create", "images", "sanity", "static"}
