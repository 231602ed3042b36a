"""The repository that a build may ask: one commit, fixed dates, the same id everywhere."""

from __future__ import annotations

import os

import pytest

from programsmith.errors import InputError
from programsmith.sources.synthetic_git import synthetic_git


def test_a_build_can_ask_for_the_version(kit, tmp_path):
    synthetic_git(kit.lay(tmp_path / "toy", kit.program), "toy-1.2")
    assert kit.git(tmp_path / "toy", "describe", "--tags", "--dirty") == "toy-1.2"
    assert kit.git(tmp_path / "toy", "describe") == "toy-1.2"
    assert kit.git(tmp_path / "toy", "rev-list", "--count", "HEAD") == "1"
    assert kit.git(tmp_path / "toy", "log", "-1", "--format=%an %aI") == "source 2000-01-01T00:00:00+00:00"


def test_the_same_files_make_the_same_commit_whatever_the_user_configured(kit, tmp_path, monkeypatch):
    ids = set()
    for name in ("one", "two"):
        folder = kit.lay(tmp_path / name, {**kit.program, ".gitignore": "*.o\n", "x.o": "kept", "c": "a\r\n"})
        config = tmp_path / "config"
        config.write_text(f"[user]\nname = {name}\nemail = {name}@x\n[core]\nautocrlf = {name == 'one'}\n")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
        os.utime(folder / "toy.py", (len(ids), len(ids)))
        synthetic_git(folder, "v1")
        ids.add(kit.git(folder, "rev-parse", "v1"))
        assert "x.o" in kit.git(folder, "ls-files").split()
    assert len(ids) == 1


def test_hooks_of_a_template_do_not_run(kit, tmp_path, monkeypatch):
    hook = (
        kit.lay(tmp_path / "template", {"hooks/pre-commit": f"#!/bin/sh\ntouch {tmp_path}/ran\n"}) / "hooks/pre-commit"
    )
    hook.chmod(0o755)
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(tmp_path / "template"))
    synthetic_git(kit.lay(tmp_path / "toy", kit.program), "v1")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("version", ["", "a b", "-x..y", "a~1"])
def test_a_version_that_is_no_tag_is_wrong_input(kit, tmp_path, version):
    with pytest.raises(InputError, match="cannot be named"):
        synthetic_git(kit.lay(tmp_path / "toy", kit.program), version)


def test_a_callers_own_repository_is_left_alone(kit, tmp_path, monkeypatch):
    mine = kit.repository(tmp_path / "mine", {"a": "1"})
    before = kit.git(mine, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(mine / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(mine / ".git/index"))
    synthetic_git(kit.lay(tmp_path / "toy", kit.program), "v1")
    monkeypatch.undo()
    assert kit.git(mine, "rev-parse", "HEAD") == before
    assert kit.git(tmp_path / "toy", "describe") == "v1"
