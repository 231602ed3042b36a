"""The work directory: laid down exactly, read back totally, whatever a program leaves in it."""

from __future__ import annotations

import pytest

from programsmith.payload.verifier.launcher import Launcher
from programsmith.payload.verifier.model import FileEntry
from tests.contract import contained
from tests.contract.launches import case, ended, limits

ODD = (b"\xff\xfe", b"a\nb", b"trailing.", b" ", b"-rf", b"n" * 255)


def test_what_is_laid_down_comes_back_unchanged(launcher: Launcher) -> None:
    files = (
        FileEntry(b"dir", "dir", 0o750),
        FileEntry(b"dir/empty", "file", 0o600, b""),
        FileEntry(b"dir/inner", "dir", 0o000),
        FileEntry(b"dir/inner/closed", "file", 0o000, b"secret"),
        FileEntry(b"dir/link", "link", 0o777, b"../big"),
        FileEntry(b"big", "file", 0o755, bytes(1 << 20)),
        *(FileEntry(name, "file", 0o644, name) for name in ODD),
        FileEntry(b"dangling", "link", 0o777, b"/etc/shadow"),
    )
    result = launcher.run(case("pass", files=files))
    ended(result)
    assert result.files == tuple(sorted(files))


def test_parents_that_nobody_listed_are_made(launcher: Launcher) -> None:
    result = launcher.run(case("print(open('a/b/c').read())", files=(FileEntry(b"a/b/c", "file", 0o644, b"x"),)))
    assert ended(result) == b"x\n"
    assert [(e.path, e.kind, e.mode) for e in result.files or ()][:2] == [(b"a", "dir", 0o755), (b"a/b", "dir", 0o755)]


def test_files_say_nothing_about_the_time_of_the_launch(launcher: Launcher) -> None:
    files = (FileEntry(b"d/f", "file", 0o644, b""), FileEntry(b"d", "dir", 0o755))
    said = ended(
        launcher.run(case("import os; print(*{int(os.lstat(p).st_mtime) for p in ('.', 'd', 'd/f')})", files=files))
    )
    assert len(said.split()) <= 2  # a parent that is not listed keeps the time of its last child
    assert b"1577836800" in said


@pytest.mark.parametrize("path", [b"/abs", b"../up", b"a//b", b"./a", b"", b"a/../b", b"a\0b"])
def test_an_unsafe_path_is_refused(launcher: Launcher, path: bytes) -> None:
    result = launcher.run(case("pass", files=(FileEntry(path, "file", 0o644, b""),)))
    assert result.fault is not None
    assert "case file" in result.fault or "NUL" in result.fault


def test_a_path_through_a_link_is_refused(launcher: Launcher) -> None:
    files = (FileEntry(b"l", "link", 0o777, b"/usr"), FileEntry(b"l/x", "file", 0o644, b""))
    assert "not a directory" in (launcher.run(case("pass", files=files)).fault or "")


def test_a_fixture_that_does_not_fit_is_a_fault_of_ours(launcher: Launcher) -> None:
    files = (FileEntry(b"big", "file", 0o644, bytes(4 << 20)),)
    result = launcher.run(case("pass", files=files, limits=limits(work_bytes=1 << 20)))
    assert result.fault is not None
    assert result.exit_code is None


def test_deep_trees_end_the_case_and_never_the_launcher(launcher: Launcher) -> None:
    depth, files = (250, 300) if contained.is_inside() else (3000, 4000)  # there the place is no larger
    code = f"import os\nfor n in range({depth}):\n os.mkdir('d'); os.chdir('d')"
    result = launcher.run(case(code, limits=limits(work_files=files)))
    ended(result)
    assert result.files is None


def test_closed_folders_and_odd_names_are_read_whole(launcher: Launcher) -> None:
    code = (
        "import os\nos.mkdir('shut'); os.mkdir(b'shut/\\xff'); open(b'shut/\\xff/a\\nb', 'w').write('x')\n"
        "os.chmod(b'shut/\\xff/a\\nb', 0); os.chmod(b'shut/\\xff', 0); os.chmod('shut', 0); os.chmod('.', 0)"
    )
    result = launcher.run(case(code))
    ended(result)
    assert result.files == (
        FileEntry(b"shut", "dir", 0),
        FileEntry(b"shut/\xff", "dir", 0),
        FileEntry(b"shut/\xff/a\nb", "file", 0, b"x"),
    )


def test_what_is_no_file_is_named_and_not_opened(launcher: Launcher) -> None:
    code = (
        "import os, stat\nos.mkfifo('fifo'); os.mknod('socket', 0o755 | stat.S_IFSOCK)\n"
        "os.symlink('/etc/passwd', 'link'); os.symlink('loop', 'loop')"
    )
    result = launcher.run(case(code))
    ended(result)
    kinds = {e.path: (e.kind, e.content) for e in result.files or ()}
    assert kinds == {
        b"fifo": ("special", b""),
        b"socket": ("special", b""),
        b"link": ("link", b"/etc/passwd"),
        b"loop": ("link", b"loop"),
    }


def test_files_move_between_folders_as_on_any_host(launcher: Launcher) -> None:
    code = (
        "import os\nos.mkdir('a'); os.mkdir('b'); open('a/f', 'w').write('1'); open('a/tool', 'w').write('2')\n"
        "os.rename('a/f', 'b/moved'); os.link('b/moved', 'linked'); os.chmod('a/tool', 0o755); os.rename('a', 'b/a')"
    )
    result = launcher.run(case(code))
    ended(result)
    assert {e.path: e.content for e in result.files or () if e.kind == "file"} == {
        b"b/moved": b"1",
        b"linked": b"1",
        b"b/a/tool": b"2",
    }


def test_what_is_moved_becomes_no_program(launcher: Launcher) -> None:
    code = (
        "import os, shutil\nos.mkdir('a'); shutil.copy('/usr/bin/cat', 'a/own'); os.rename('a/own', 'own')\n"
        "try: os.execv('./own', ['own', '/dev/null'])\nexcept PermissionError: print('no')"
    )
    assert ended(launcher.run(case(code))) == b"no\n"


def test_sparse_giants_are_not_read(launcher: Launcher) -> None:
    code = "[open(f'f{n}', 'wb').truncate(30 << 20) for n in range(3)]"
    result = launcher.run(case(code))
    ended(result)
    assert result.files is None


def test_one_case_leaves_nothing_for_the_next(launcher: Launcher) -> None:
    plant = "import os\nfor d in ('/work', '/tmp', '/dev/shm'): open(d + '/planted', 'w').write('x')"
    ended(launcher.run(case(plant)))
    look = "import os; print([os.listdir(d) for d in ('/work', '/tmp', '/dev/shm')])"
    assert ended(launcher.run(case(look))) == b"[[], [], []]\n"
