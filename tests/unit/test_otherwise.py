"""Each text that a test of minutes replaces in our own sources is there, once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.samples.otherwise import EDITS, ROOT


@pytest.mark.parametrize("name", sorted(EDITS))
def test_an_edit_of_our_sources_finds_its_text_and_leaves_a_module_that_compiles(name: str, tmp_path: Path) -> None:
    edit = EDITS[name]
    file = tmp_path / edit.path
    file.parent.mkdir(parents=True)
    shutil.copy(ROOT / edit.path, file)
    edit.apply(tmp_path)
    assert file.read_text() != (ROOT / edit.path).read_text()
    compile(file.read_bytes(), edit.path, "exec")
