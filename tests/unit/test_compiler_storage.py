from __future__ import annotations

from pathlib import Path

import pytest

from programsmith.compiler.compile import Compiler
from programsmith.compiler.paths import Project, Spot
from programsmith.compiler.plan import STEP
from programsmith.compiler.turn import Turn
from programsmith.store.keys import SIGNING_KEY

SPEC = "version: 1\nname: rot\nsource: {path: src}\n"


def test_a_job_signs_with_the_users_key_which_is_made_when_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv(SIGNING_KEY, raising=False)
    for folder in ("specs", "src"):
        (tmp_path / folder).mkdir()
    (tmp_path / "specs" / "rot.yaml").write_text(SPEC)
    subject = Compiler().subject(Project(tmp_path), tmp_path / "specs" / "rot.yaml")
    turn = Turn(subject=subject, step=STEP["export"], spot=Spot(revision=0), reads=(), records={})
    job = turn.job({}, tmp_path, print)
    kept = tmp_path / "config" / "programsmith" / "signing.key"
    assert not kept.exists()
    seed = job.signing_key()
    assert seed is not None
    assert kept.read_text().strip() == seed.hex()
    monkeypatch.setenv(SIGNING_KEY, "0d" * 32)
    assert job.signing_key() == b"\r" * 32
