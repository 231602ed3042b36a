from __future__ import annotations

from pathlib import Path

import pytest

from programsmith.compiler.paths import BEFORE, Project, Spot, former, part
from programsmith.records.trial import Assignment

FOLDER = Project(Path("/p")).folder("tally")
TRIAL = Spot(1, 2, Assignment(agent="command", model="a/b", index=3, batch=2, ceiling=False))
CEILING = Spot(0, 0, Assignment(agent="scripted", model="port", index=0, batch=0, ceiling=True))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (FOLDER.record("ingest", BEFORE), "/p/cache/tally/ingest.json"),
        (FOLDER.record("gate", Spot(0)), "/p/cache/tally/r0/gate.json"),
        (FOLDER.artifact("lock.json", BEFORE), "/p/cache/tally/lock.json"),
        (FOLDER.artifact("r/bundle/", Spot(2)), "/p/cache/tally/r2/bundle"),
        (FOLDER.artifact("next/bundle/", Spot(2)), "/p/cache/tally/r3/bundle"),
        (FOLDER.artifact("t/artifact.tar", TRIAL), "/p/cache/tally/r1/trials/command-a-b/3/artifact.tar"),
        (FOLDER.artifact("r/static.ok", TRIAL), "/p/cache/tally/r1/static.ok"),
        (FOLDER.record("trial", TRIAL), "/p/cache/tally/r1/trials/command-a-b/3/trial.json"),
        (FOLDER.record("trial", CEILING), "/p/cache/tally/r0/trials/ceiling/scripted-port/0/trial.json"),
        (FOLDER.record("triage", Spot(0, 1)), "/p/cache/tally/r0/b1/triage.json"),
        (FOLDER.log("grade", TRIAL), "/p/cache/tally/logs/r1.b2.grade.command-a-b.3.log"),
        (FOLDER.database, "/p/cache/tally/.doit.db"),
        (FOLDER.lock, "/p/cache/tally/lock"),
        (FOLDER.verdict, "/p/cache/tally/verdict.json"),
        (FOLDER.log("ingest", BEFORE), "/p/cache/tally/logs/ingest.log"),
        (FOLDER.log("gate", Spot(0)), "/p/cache/tally/logs/r0.gate.log"),
        (FOLDER.exported("ship"), "/p/dist/tally"),
        (FOLDER.exported("draft"), "/p/dist/drafts/tally"),
        (FOLDER.exported("shelve_easy"), "/p/dist/easy/tally"),
        (FOLDER.exported("shelve_hard"), "/p/dist/hard/tally"),
        (part(Path("/p/x.json")), "/p/x.json.part"),
        (former(Path("/p/x")), "/p/x.former"),
    ],
)
def test_paths(path: Path, expected: str) -> None:
    assert str(path) == expected


def test_tasks_are_named_by_spec_revision_and_block() -> None:
    assert FOLDER.task("ingest", BEFORE) == "tally:ingest"
    assert FOLDER.task("create", Spot(0)) == "tally:r0:create"
    assert FOLDER.task("triage", Spot(0, 1)) == "tally:r0:b1:triage"
    assert FOLDER.task("trial", TRIAL) == "tally:r1:b2:trial:command:a-b:3"
    assert FOLDER.task("trial", CEILING) == "tally:r0:b0:trial:ceiling:scripted:port:0"
