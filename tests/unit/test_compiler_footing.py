"""What all stamps stand on: any change of code, rules, host or circumstances is another footing, a touch is none."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from programsmith.compiler.early import known_footing
from programsmith.compiler.footing import footing
from programsmith.compiler.paths import Project

SECRET = "PROGRAMSMITH_SECRET"


class Place:
    """A project, a package of blocks, host files, and the footing that they give."""

    def __init__(self, root: Path) -> None:
        self.root = root / "project"
        self.code = root / "forge"
        self.host = root / "host"
        for name in ("project/cache", "project/rules/prompts", "forge/blocks", "forge/payload/cart", "host/lib"):
            (root / name).mkdir(parents=True)
        (self.root / "rules" / "soap.yaml").write_text("kind: mild\n")
        (self.root / "rules" / "prompts" / "ask.md").write_text("ask\n")
        (self.code / "blocks" / "dig.py").write_text("DEPTH = 1\n")
        (self.code / "payload" / "cart" / "wheel").write_text("round\n")
        (self.host / "lib" / "libc.so.6").write_text("libc\n")
        time.sleep(0.02)

    @property
    def patterns(self) -> list[str]:
        return [f"{self.host}/li*/libc.so.*", f"{self.host}/bin/cc"]

    def digest(self) -> bytes | None:
        """What a build finds, which it keeps."""
        found = footing(Project(self.root), "toy", self.code, self.patterns)
        return found.fields[0] if found else None

    def known(self) -> bytes | None:
        """What a start knows without a look at content."""
        found = known_footing(str(self.root), "toy")
        return found.fields[0] if found else None


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_it_is_known_once_it_was_found(place: Place) -> None:
    assert place.known() is None
    found = place.digest()
    assert found is not None
    assert place.known() == place.digest() == found


CHANGES = {
    "module edited": lambda place: (place.code / "blocks" / "dig.py").write_text("DEPTH = 2\n"),
    "module added": lambda place: (place.code / "blocks" / "wash.py").write_text(""),
    "module gone": lambda place: (place.code / "blocks" / "dig.py").unlink(),
    "payload edited": lambda place: (place.code / "payload" / "cart" / "wheel").write_text("oval\n"),
    "rule edited": lambda place: (place.root / "rules" / "soap.yaml").write_text("kind: harsh\n"),
    "rule added": lambda place: (place.root / "rules" / "odd.yaml").write_text("x: 1\n"),
    "prompt edited": lambda place: (place.root / "rules" / "prompts" / "ask.md").write_text("beg\n"),
    "rules gone": lambda place: shutil.rmtree(place.root / "rules"),
    "host file edited": lambda place: (place.host / "lib" / "libc.so.6").write_text("musl\n"),
    "host file added": lambda place: (place.host / "lib" / "libc.so.7").write_text("libc\n"),
    "host folder added": lambda place: _another(place.host / "lib64"),
    "host file that was looked for": lambda place: _compiler(place.host / "bin"),
}


def _another(folder: Path) -> None:
    folder.mkdir()
    (folder / "libc.so.6").write_text("libc\n")


def _compiler(folder: Path) -> None:
    folder.mkdir()
    (folder / "cc").write_text("cc\n")


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_another_footing(place: Place, change: str) -> None:
    before = place.digest()
    CHANGES[change](place)
    assert place.known() is None
    time.sleep(0.02)
    after = place.digest()
    assert after is not None
    assert after != before


def _rewritten(place: Place) -> None:
    path = place.code / "blocks" / "dig.py"
    text = path.read_bytes()
    path.unlink()
    path.write_bytes(text)


SAME = {
    "touched": lambda place: os.utime(place.code / "blocks" / "dig.py"),
    "written anew": _rewritten,
    "mode of a folder": lambda place: (place.code / "blocks").chmod(0o700),
    "beside the host's files": lambda place: (place.host / "lib" / "libm.so.6").write_text("libm\n"),
}


@pytest.mark.parametrize("change", SAME)
def test_equal_content_is_the_same_footing(place: Place, change: str) -> None:
    before = place.digest()
    SAME[change](place)
    time.sleep(0.02)
    assert place.digest() == place.known() == before


def test_what_compiling_leaves_is_not_noticed(place: Place) -> None:
    before = place.digest()
    (place.code / "blocks" / "__pycache__").mkdir()
    (place.code / "blocks" / "__pycache__" / "dig.pyc").write_bytes(b"code")
    assert place.known() == before


def test_a_module_reached_through_a_link_counts(place: Place, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.py").write_text("DEPTH = 1\n")
    (place.code / "blocks" / "far.py").symlink_to(tmp_path / "elsewhere.py")
    time.sleep(0.02)
    before = place.digest()
    (tmp_path / "elsewhere.py").write_text("DEPTH = 9\n")
    assert place.known() is None
    time.sleep(0.02)
    assert place.digest() != before


def test_a_folder_that_links_to_itself_ends(place: Place) -> None:
    (place.code / "again").symlink_to(place.code)
    time.sleep(0.02)
    assert place.digest() == place.known()


def test_circumstances_count(place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place.digest()
    assert known_footing(str(place.root), "") is None
    monkeypatch.setenv(SECRET, "00ff")
    assert place.known() is None
    monkeypatch.delenv(SECRET)
    assert place.known() is not None
    monkeypatch.setenv("HOME", str(tmp_path))
    assert place.known() is None


def test_a_moved_project_has_none(place: Place, tmp_path: Path) -> None:
    place.digest()
    place.root = place.root.rename(tmp_path / "moved")
    assert place.known() is None


def test_a_cache_that_went_elsewhere_has_none(place: Place, tmp_path: Path) -> None:
    place.digest()
    (place.root / "cache").rename(tmp_path / "cache")
    (place.root / "cache").symlink_to(tmp_path / "cache")
    assert place.known() is None


def test_a_pattern_that_depends_on_the_current_folder_has_none(place: Place) -> None:
    assert footing(Project(place.root), "toy", place.code, ["lib/libc.so.*"]) is None


def test_the_secret_is_not_kept(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET, "c0ffee" * 8)
    place.digest()
    assert b"c0ffee" not in (place.root / "cache" / ".footing").read_bytes()
