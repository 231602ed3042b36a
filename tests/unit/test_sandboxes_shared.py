"""The shared folder: content-addressed, made once; and what a host that cannot isolate is told."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest

from programsmith.errors import PrerequisiteError
from programsmith.sandboxes import config, shared


def test_a_folder_is_made_once_and_never_half(tmp_path: Path) -> None:
    name = f"test-{uuid.uuid4().hex}"
    calls = []

    def build(place: Path) -> None:
        calls.append(place)
        (place / "f").write_text("x")
        if len(calls) == 1:
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        shared.publish(name, build)
    assert not (shared.shared_root() / name).exists()
    first = shared.publish(name, build)
    assert shared.publish(name, build) == first
    assert len(calls) == 2
    assert not any(place.exists() for place in calls)
    (first / "f").unlink()
    first.rmdir()


def test_the_shared_folder_is_entered_by_others_only_as_root() -> None:
    root = shared.shared_root()
    assert root.is_dir()
    assert os.access(root, os.W_OK)
    if os.geteuid() == 0:
        assert root.stat().st_mode & 0o005 == 0o005


def test_a_bwrap_that_is_named_must_be_one(tmp_path: Path) -> None:
    old = tmp_path / "bwrap"
    old.write_text("#!/bin/sh\necho bubblewrap 0.4.1\n")
    old.chmod(0o755)
    config.prefer_bwrap(str(old))
    try:
        with pytest.raises(PrerequisiteError, match=r"wanted bwrap 0\.8"):
            config.find_bwrap()
    finally:
        config._preferred.clear()
        config.find_bwrap.cache_clear()


def test_refused_namespaces_are_told_with_the_setting(tmp_path: Path) -> None:
    refusing = tmp_path / "bwrap"
    refusing.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo bubblewrap 0.9.0 && exit\necho "bwrap: No permissions" >&2\nexit 1\n'
    )
    refusing.chmod(0o755)
    tmp_path.chmod(0o755)
    config.prefer_bwrap(str(refusing))
    config.require_namespaces.cache_clear()
    try:
        with pytest.raises(PrerequisiteError, match="refuses user namespaces"):
            config.require_namespaces()
    finally:
        config._preferred.clear()
        config.find_bwrap.cache_clear()
        config.require_namespaces.cache_clear()


def test_the_setting_at_fault_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setting = tmp_path / "apparmor_restrict_unprivileged_userns"
    setting.write_text("1\n")
    monkeypatch.setattr(config, "_SETTINGS", ((str(setting), "1", "sysctl -w it=0"),))
    assert config._remedy() == f"{setting} is 1: sysctl -w it=0"
    setting.write_text("0\n")
    assert "container" in config._remedy()


def test_equal_files_are_kept_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text("the same")
    digest = uuid.uuid4().hex
    kept = shared.keep_file(str(tmp_path / "one"), digest, 0o644)
    assert shared.keep_file(str(tmp_path / "two"), digest, 0o644) == kept
    assert kept.read_text() == "the same"
    assert shared.keep_file(str(tmp_path / "one"), digest, 0o755).stat().st_mode & 0o777 == 0o755
    for left in kept.parent.glob(f"{digest}-*"):
        left.unlink()
