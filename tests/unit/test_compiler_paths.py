from __future__ import annotations

from pathlib import Path

import pytest

from programsmith.compiler.paths import Project, former, part

FOLDER = Project(Path("/p")).folder("tally")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (FOLDER.record("ingest", None), "/p/cache/tally/ingest.json"),
        (FOLDER.record("gate", 0), "/p/cache/tally/r0/gate.json"),
        (FOLDER.artifact("lock.json", 0), "/p/cache/tally/lock.json"),
        (FOLDER.artifact("r/bundle/", 2), "/p/cache/tally/r2/bundle"),
        (FOLDER.database, "/p/cache/tally/.doit.db"),
        (FOLDER.lock, "/p/cache/tally/lock"),
        (FOLDER.verdict, "/p/cache/tally/verdict.json"),
        (FOLDER.log("ingest", None), "/p/cache/tally/logs/ingest.log"),
        (FOLDER.log("gate", 0), "/p/cache/tally/logs/r0.gate.log"),
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
    assert FOLDER.task("ingest", None) == "tally:ingest"
    assert FOLDER.task("create", 0) == "tally:r0:create"
