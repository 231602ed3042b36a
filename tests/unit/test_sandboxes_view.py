"""Views: what a list brings along, what it leaves out, and when a fingerprint moves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from programsmith.errors import PrerequisiteError
from programsmith.payload.verifier.launcher import View
from programsmith.sandboxes.elf import needs_of
from programsmith.sandboxes.view import list_root, list_view, unrestricted, view_from_json, view_to_json


def shown(view: View) -> set[str]:
    """Every path inside."""
    found = {path for path, _ in view.links}
    for mount in view.mounts:
        for folder, folders, files in os.walk(mount.source):
            place = mount.target + folder[len(mount.source) :]
            found |= {f"{place}/{name}" for name in (*folders, *files)}
    return found


def test_a_program_brings_what_it_needs_and_nothing_else() -> None:
    inside = shown(list_view(programs=["cat"]))
    names = {os.path.basename(p) for p in inside}
    assert {"cat", "libc.so.6", "passwd", "group", "hosts"} <= names
    assert not names & {"ls", "sh", "perl", "shadow", "libssl.so.3"}
    assert any(name.startswith("ld-") for name in names)


def test_needs_agree_with_the_loaders_own_answer() -> None:
    path = os.path.realpath(shutil.which("cat") or "/bin/cat")
    needs = needs_of(Path(path).read_bytes())
    assert needs is not None
    told = subprocess.run([needs.interpreter, "--list", path], capture_output=True, check=True).stdout
    assert all(os.fsencode(name) in told for name in needs.libraries)


@pytest.mark.parametrize(
    "content", [b"", b"#!/bin/sh\n", b"\x7fELF", b"\x7fELF\x02\x01" + bytes(20), b"\x7fELF\x02\x01" + b"\xff" * 200]
)
def test_what_is_no_whole_elf_file_needs_nothing(content: bytes) -> None:
    assert needs_of(content) is None


def test_links_of_a_program_are_followed_and_shown(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.write_bytes(Path(os.path.realpath("/bin/cat")).read_bytes())
    real.chmod(0o755)
    (tmp_path / "tool").symlink_to("real")
    root = list_root([str(tmp_path / "tool")], ())
    assert "/usr/bin/tool" in root.entries
    assert {os.path.basename(path) for path in root.executables} & {"tool", "real"}


def test_a_script_brings_its_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/usr/bin/env cat\n")
    script.chmod(0o755)
    names = {os.path.basename(p) for p in list_root([str(script)], ()).executables}
    assert {"script", "env", "cat"} <= names


def test_python_is_at_a_fixed_place_without_packages_and_starts_from_bytecode() -> None:
    inside = shown(list_view(programs=["python3"]))
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    assert {f"/opt/python/bin/{version}", "/usr/bin/python3", f"/opt/python/lib/{version}/os.py"} <= inside
    assert not any(part in path for path in inside for part in ("site-packages", "/idlelib", "/ensurepip"))
    assert sum(path.endswith(".pyc") for path in inside) > 200
    assert not any(os.path.realpath(sys.prefix) in path for path in inside)


def test_paths_are_shown_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "f").write_text("x")
    root = list_root([], [f"{tmp_path}/a*"])
    assert f"{os.path.realpath(tmp_path)}/a/b/f" in root.entries


def test_what_is_absent_is_named() -> None:
    with pytest.raises(PrerequisiteError, match="no-such-program"):
        list_view(programs=["no-such-program"])
    with pytest.raises(PrerequisiteError, match="/no/such/place"):
        list_view(programs=[], paths=["/no/such/place*"])


def test_the_fingerprint_moves_with_content_mode_and_links_only(tmp_path: Path) -> None:
    file = tmp_path / "f"

    def mark() -> str:
        return list_root([], [str(file)]).fingerprint()

    file.write_text("one")
    first = mark()
    os.utime(file, (1, 1))
    assert mark() == first
    file.write_text("two")
    second = mark()
    file.chmod(0o755)
    third = mark()
    file.unlink()
    file.symlink_to("/usr/bin/cat")
    assert len({first, second, third, mark()}) == 4


def test_building_a_view_again_is_fast() -> None:
    list_view(programs=["python3"])
    begun = time.process_time()
    list_view(programs=["python3"])
    assert time.process_time() - begun < 0.5


def test_json_keeps_a_view_whole() -> None:
    view = list_view(programs=["cat"])
    assert view_from_json(view_to_json(view)) == view
    assert unrestricted(view).executables == ("/",)
    assert unrestricted(view).fingerprint == view.fingerprint


def test_what_is_moved_is_shown_elsewhere_and_a_program_of_it_has_its_name(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib/testdata").mkdir(parents=True)
    tool = tmp_path / "bin/tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    (tmp_path / "lib/a").write_text("a")
    (tmp_path / "lib/testdata/b").write_text("b")
    moved = [(str(tool), "/opt/toolchain/x/bin/tool"), (str(tmp_path / "lib"), "/opt/toolchain/x/lib")]
    root = list_root([], [], moved)
    assert root.entries["/usr/bin/tool"].target == "/opt/toolchain/x/bin/tool"
    assert {"/opt/toolchain/x/lib/a", "/opt/toolchain/x/bin/tool"} <= set(root.entries)
    assert "/opt/toolchain/x/bin/tool" in root.executables
    assert not any("testdata" in path or str(tmp_path) in path for path in root.entries)
    stays = list_root([], [], [(str(tool), "/usr/bin/tool")])
    assert stays.entries["/usr/bin/tool"].source == str(tool), "no link to itself"
