from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from programsmith.store.budget import Budget
from programsmith.store.ledger import Ledger
from programsmith.store.twin import twinned


@pytest.fixture
def names(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "cache" / "tally" / "ledger.jsonl", tmp_path / "cache" / "ledger" / "tally.jsonl"


def test_a_file_is_made_under_both_names(names: tuple[Path, Path]) -> None:
    own, twin = names
    twinned(own, twin)
    own.write_text("one\n")
    assert twin.read_text() == "one\n"
    twinned(own, twin)
    assert os.path.samefile(own, twin)


@pytest.mark.parametrize("lost", [0, 1])
def test_either_name_gives_the_other_back(names: tuple[Path, Path], lost: int) -> None:
    twinned(*names)
    names[0].write_text("one\n")
    shutil.rmtree(names[lost].parent)
    twinned(*names)
    assert [name.read_text() for name in names] == ["one\n"] * 2


def test_two_files_become_one_that_holds_the_lines_of_both_once(names: tuple[Path, Path]) -> None:
    own, twin = names
    for name in names:
        name.parent.mkdir(parents=True)
    own.write_text("one\ntwo\nthree")
    twin.write_text("one\nthree\ncut of")
    twinned(own, twin)
    assert own.read_text() == "one\ntwo\nthree\n"
    assert os.path.samefile(own, twin)
    assert [p.name for p in twin.parent.iterdir()] == [twin.name]


def test_a_link_is_not_followed(names: tuple[Path, Path], tmp_path: Path) -> None:
    own, twin = names
    own.parent.mkdir(parents=True)
    (tmp_path / "elsewhere").write_text("of somebody else\n")
    own.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        twinned(own, twin)
    assert not twin.exists()
    assert (tmp_path / "elsewhere").read_text() == "of somebody else\n"


def test_what_was_spent_counts_after_the_folder_is_gone(names: tuple[Path, Path]) -> None:
    own, twin = names
    twinned(own, twin)
    budget = Budget(ledger=Ledger(own), usd=1.0)
    with budget.reserved("tally:r0:trial", "key", 0.7) as took:
        took.append(0.6)
    shutil.rmtree(own.parent)
    twinned(own, twin)
    assert float(Ledger(own).account().spent) == 0.6
