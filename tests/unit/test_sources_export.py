"""The rules that every source passes: links, clashes, pointers, subfolders, plain modes."""

from __future__ import annotations

import pytest

from programsmith.errors import InputError
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.export import LinkTree, settle
from programsmith.sources.origin import RefusedError


def link(path: bytes, target: bytes) -> FileEntry:
    return FileEntry(path, "link", 0o777, target)


FILES = [FileEntry(b"a/x"), FileEntry(b"b/y")]


@pytest.mark.parametrize(
    ("links", "fault"),
    [
        ({b"l": b"a/x"}, None),
        ({b"l": b"a"}, None),
        ({b"a/l": b"../b/y"}, None),
        ({b"l": b"m", b"m": b"b/y"}, None),
        ({b"l": b"m/y", b"m": b"b"}, None),
        ({b"l": b"l"}, "loop"),
        ({b"l": b"m", b"m": b"l"}, "loop"),
        ({b"l": b"."}, "loop"),
        ({b"a/l": b"../a"}, "loop"),
        ({b"l": b"/a/x"}, "outside"),
        ({b"l": b"../a/x"}, "outside"),
        ({b"l": b"m", b"m": b"../x"}, "outside"),
        ({b"a/l": b"../../x"}, "outside"),
        ({b"l": b"none"}, "dangling"),
    ],
)
def test_a_link_is_resolved_without_a_file_system(links, fault):
    path = next(iter(links))
    assert LinkTree([*FILES, *(link(p, t) for p, t in links.items())]).fault(path) == fault


def test_a_dangling_link_is_kept_and_noted():
    kept, notes = settle([*FILES, link(b"l", b"none")], (), "")
    assert link(b"l", b"none") in kept
    assert notes == ["symlink_kept: l -> none (dangling)"]


@pytest.mark.parametrize("other", [FileEntry(b"a"), link(b"a", b"b"), FileEntry(b"a/x")])
def test_a_path_that_is_two_things_is_refused(other):
    with pytest.raises(RefusedError, match=r"both a file and a folder|is there twice"):
        settle([*FILES, other], (), "")


def test_modes_become_plain():
    kept, _ = settle([FileEntry(b"a", mode=0o4711), FileEntry(b"b", mode=0o600)], (), "")
    assert [e.mode for e in kept] == [0o755, 0o644]


def test_only_links_are_empty():
    with pytest.raises(RefusedError, match="no file"):
        settle([link(b"l", b"none")], (), "")


def test_subdir_moves_the_root_and_takes_the_nearest_licence():
    entries = [FileEntry(b"LICENSE", content=b"far"), FileEntry(b"p/LICENSE", content=b"near"), FileEntry(b"p/q/x")]
    kept, _ = settle(entries, [b"LICENSE"], "p/q")
    assert {e.path: e.content for e in kept} == {b"x": b"", b"LICENSE": b"near"}


@pytest.mark.parametrize("subdir", ["../a", "none", "a/../b"])
def test_a_subdir_that_is_not_inside_is_wrong_input(subdir):
    with pytest.raises(InputError, match=r"source\.subdir"):
        settle(FILES, (), subdir)


def test_what_is_left_out_is_nowhere_and_told():
    entries = [FileEntry(b"p/gpl/a"), FileEntry(b"p/gpl.c"), FileEntry(b"p/x"), link(b"p/l", b"gpl/a")]
    kept, notes = settle(entries, (), "p", ["gpl"])
    assert {e.path for e in kept} == {b"gpl.c", b"x", b"l"}
    assert notes == ["symlink_kept: l -> gpl/a (dangling)", "left_out: gpl"]
    assert {e.path for e in settle(entries, (), "p", ["gpl/", "gpl.c"])[0]} == {b"x", b"l"}


@pytest.mark.parametrize("path", ["none", "p/gp", "../p", ""])
def test_to_leave_out_what_is_not_there_is_wrong_input(path):
    with pytest.raises(InputError, match=r"source\.leave"):
        settle([FileEntry(b"p/gpl/a")], (), "", [path])


def test_a_link_out_of_the_subdir_is_dropped():
    _, notes = settle([*FILES, link(b"a/l", b"../b/y")], (), "a")
    assert notes == ["symlink_dropped: l -> ../b/y (outside)"]


def test_a_text_that_mentions_lfs_is_no_pointer():
    long = b"version https://git-lfs.github.com/spec/v1\n" + b"x" * 2000
    assert len(settle([FileEntry(b"doc", content=long)], (), "")[0]) == 1
