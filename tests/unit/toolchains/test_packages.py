"""Lists of files become the fewest paths that show exactly them; packages come with what they need."""

from __future__ import annotations

import pytest

from programsmith.errors import PrerequisiteError
from programsmith.toolchains.packages import closure, database_exists, files_of, fold, matching, prefer_archives

needs_database = pytest.mark.skipif(not database_exists(), reason="no dpkg here; run on a Debian system")


def test_a_folder_stands_for_its_files_only_where_it_holds_nothing_else(tmp_path):
    for name in ("whole/a", "whole/deep/b", "part/c", "part/other"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    wanted = [f"{tmp_path}/{name}" for name in ("whole/a", "whole/deep/b", "part/c")]
    assert fold(wanted) == (f"{tmp_path}/part/c", f"{tmp_path}/whole")


def test_a_listed_folder_stands_for_all_that_it_holds(tmp_path):
    (tmp_path / "folder/deep").mkdir(parents=True)
    (tmp_path / "folder/deep/file").touch()
    (tmp_path / "other").touch()
    assert fold([f"{tmp_path}/folder", f"{tmp_path}/folder/deep/file"]) == (f"{tmp_path}/folder",)
    assert fold([]) == ()


def test_a_shared_library_gives_way_to_its_archive():
    assert prefer_archives(["/l/libx.a", "/l/libx.so", "/l/liby.so"]) == ("/l/libx.a", "/l/liby.so")


@needs_database
def test_a_package_brings_what_it_depends_on_and_stops_where_told():
    found = closure(["gcc"])
    assert "gcc" in found
    assert any(name.startswith("cpp-") for name in found)
    assert "libc6" in found
    assert "libc6" not in closure(["gcc"], stop=["libc6"])


@needs_database
def test_files_are_those_that_the_host_has_at_their_real_place():
    files = files_of(("libc6-dev",))
    assert "/usr/include/stdio.h" in files
    assert not any(f.startswith("/lib/") for f in files)


@needs_database
def test_patterns_match_installed_names_only():
    assert "libc6-dev" in matching(["libc6-*"])
    assert matching(["no-such-package*"]) == ()


@needs_database
def test_an_absent_package_names_the_command_that_installs_it():
    with pytest.raises(PrerequisiteError, match="apt-get install -y absent-one absent-two"):
        closure(["absent-two", "gcc", "absent-one"])
