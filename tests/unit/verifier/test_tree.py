"""Trees from hostile folders: what is taken, what is left out by name, what is refused, what can be written."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import ReceiptRule
from programsmith.payload.verifier.receive import receive
from programsmith.payload.verifier.tree import LONGEST, Caps, TreeError, read_tree, tree_digest, write_tree

CAPS = Caps(files=50, bytes=10_000, depth=4)


def taken(root: Path, caps: Caps = CAPS) -> dict[bytes, bytes]:
    return {e.path: e.content for e in read_tree(str(root), caps).entries if e.kind == "file"}


def test_regular_files_and_directories_are_taken_with_their_execute_bit(tmp_path: Path) -> None:
    (tmp_path / "d" / "empty").mkdir(parents=True)
    (tmp_path / "d" / "run").write_bytes(b"\xff\0")
    (tmp_path / "d" / "run").chmod(0o4755)
    (tmp_path / "plain").write_bytes(b"")
    found = read_tree(str(tmp_path), CAPS)
    assert found.left_out == []
    assert found.entries == [
        FileEntry(b"d", "dir", 0o755),
        FileEntry(b"d/empty", "dir", 0o755),
        FileEntry(b"d/run", "file", 0o755, b"\xff\0"),
        FileEntry(b"plain", "file", 0o644, b""),
    ]


def test_names_are_any_bytes(tmp_path: Path) -> None:
    names = [b"\xff\xfe", b"a\nb", b"-rf", b" ", b"\x1b[0m", b"n" * 255, b"...", b"\\", b"'"]
    for name in names:
        (tmp_path / os.fsdecode(name)).write_bytes(name)
    assert taken(tmp_path) == {name: name for name in names}


def test_links_and_special_files_are_left_out_by_name(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    root = tmp_path / "root"
    root.mkdir()
    (root / "absolute").symlink_to("/etc/passwd")
    (root / "up").symlink_to("../outside")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "fifo")
    os.mknod(root / "null", 0o600 | 0o020000, os.makedev(1, 3))
    os.link(outside / "secret", root / "hard")
    found = read_tree(str(root), CAPS)
    assert found.entries == []
    assert dict(found.left_out) == {
        b"absolute": "symlink",
        b"up": "symlink",
        b"loop": "symlink",
        b"fifo": "fifo",
        b"null": "character device",
        b"hard": "hard link with a name outside the tree",
    }


def test_hard_links_within_the_tree_are_copied(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    os.link(tmp_path / "a", tmp_path / "b")
    assert taken(tmp_path) == {b"a": b"1", b"b": b"1"}


def test_a_path_that_no_system_call_takes_is_refused(tmp_path: Path) -> None:
    at = os.open(tmp_path, os.O_RDONLY)
    for level in range(12):
        name = "d" * (250 if level < 11 else LONGEST - 11 * 251)
        os.mkdir(name, dir_fd=at)
        inner = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    caps = Caps(files=50, bytes=10, depth=32)
    assert max(len(e.path) for e in read_tree(str(tmp_path), caps).entries) == LONGEST
    os.mkfifo("f", dir_fd=at)  # not only what is taken is named
    os.close(at)
    with pytest.raises(TreeError, match=f"a path of more than {LONGEST} bytes"):
        read_tree(str(tmp_path), caps)


def test_a_root_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(OSError, match="link"):
        read_tree(str(tmp_path / "link"), CAPS)


def test_more_entries_than_allowed_are_refused(tmp_path: Path) -> None:
    for number in range(51):
        (tmp_path / str(number)).touch()
    with pytest.raises(TreeError, match="more than 50 files"):
        read_tree(str(tmp_path), CAPS)


def test_more_bytes_than_allowed_are_refused_without_reading_a_sparse_file(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as out:
        out.truncate(1 << 40)
    with pytest.raises(TreeError, match="more than 10000 bytes"):
        read_tree(str(tmp_path), CAPS)


def test_bytes_are_counted_over_all_files(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / str(number)).write_bytes(bytes(4000))
    with pytest.raises(TreeError, match="bytes"):
        read_tree(str(tmp_path), CAPS)


def test_deep_trees_are_refused_without_recursion(tmp_path: Path) -> None:
    at = os.open(tmp_path, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=at)
        inner = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)
    with pytest.raises(TreeError, match="deeper than 4"):
        read_tree(str(tmp_path), CAPS)
    subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)  # neither shutil nor pytest can


def test_what_is_skipped_by_name_is_said(tmp_path: Path) -> None:
    (tmp_path / "p" / "__pycache__").mkdir(parents=True)
    (tmp_path / "p" / "__pycache__" / "m.pyc").write_bytes(b"x")
    found = read_tree(str(tmp_path), CAPS, skip=frozenset({b"__pycache__"}))
    assert [path for path, _ in found.left_out] == [b"p/__pycache__"]
    assert taken(tmp_path / "p" / "__pycache__") == {b"m.pyc": b"x"}


def test_a_written_tree_reads_back_equal(tmp_path: Path) -> None:
    entries = [
        FileEntry(b"d", "dir", 0o755),
        FileEntry(b"d/x\xff", "file", 0o755, b"\0"),
        FileEntry(b"implied/deep/f", "file", 0o644, b"1"),
    ]
    write_tree(str(tmp_path / "t"), entries)
    implied = [FileEntry(b"implied", "dir", 0o755), FileEntry(b"implied/deep", "dir", 0o755)]
    assert read_tree(str(tmp_path / "t"), CAPS).entries == sorted([*entries, *implied])


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    entries = [FileEntry(b"a", "link", 0o777, str(outside).encode()), FileEntry(b"a/f", "file", 0o644, b"x")]
    with pytest.raises(FileExistsError):
        write_tree(str(tmp_path / "t"), entries)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("path", [b"/etc/x", b"../x", b"a/../../x", b"a//b", b"", b"."])
def test_a_path_that_leaves_the_tree_is_refused(tmp_path: Path, path: bytes) -> None:
    with pytest.raises(ValueError, match="not a path below"):
        write_tree(str(tmp_path / "t"), [FileEntry(path, "file", 0o644, b"x")])
    assert not (tmp_path / "x").exists()


def test_the_digest_sees_every_property_of_an_entry() -> None:
    base = FileEntry(b"a", "file", 0o644, b"x")
    others = [
        FileEntry(b"b", "file", 0o644, b"x"),
        FileEntry(b"a", "link", 0o644, b"x"),
        FileEntry(b"a", "file", 0o755, b"x"),
        FileEntry(b"a", "file", 0o644, b"y"),
    ]
    assert len({tree_digest([e]) for e in [base, *others]}) == 5
    assert tree_digest([base, others[0]]) == tree_digest([others[0], base])


def test_what_lies_at_the_output_path_is_not_received(tmp_path: Path) -> None:
    (tmp_path / "executable").mkdir()
    (tmp_path / "executable" / "x").write_bytes(b"stale")
    (tmp_path / "executable.py").write_bytes(b"kept")
    rule = ReceiptRule(files=50, bytes=10_000, depth=4)
    found = receive(str(tmp_path), rule)
    assert [e.path for e in found.entries] == [b"executable.py"]
    assert [path for path, _ in found.left_out] == [b"executable", b"executable/x"]
