"""What a hostile build left is never followed out of its folder, and only what a run needs is kept."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from programsmith.payload.verifier.model import FileEntry
from programsmith.toolchains.install import bundled, find_program, inside, prune, wrapper_flags, wrappers
from programsmith.toolchains.model import Flavour
from programsmith.toolchains.recipe import BuildRefusedError


def test_a_link_that_leads_out_is_no_file(tmp_path):
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "secret").write_text("x")
    (root / "sub" / "real").write_text("x")
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "up").symlink_to(tmp_path)
    (root / "in").symlink_to("sub/real")
    assert inside(root, "in") == (root / "sub" / "real").resolve()
    for path in ("out", "up/secret", "../secret", "sub", "absent"):
        assert inside(root, path) is None


def test_a_program_is_found_in_bin_before_anywhere_else(tmp_path):
    for name in ("lib/greet", "bin/greet"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch(mode=0o755)
    assert find_program(tmp_path, "greet") == "bin/greet"
    (tmp_path / "bin/greet").chmod(0o644)
    assert find_program(tmp_path, "greet") == "lib/greet"
    assert find_program(tmp_path, "other") == ""


@pytest.mark.parametrize("prefix", ["", "elsewhere/"])
def test_headers_archives_and_manuals_are_left_out(kit, prefix):
    paths = [
        "bin/greet",
        "lib/libx.a",
        "include/x.h",
        "share/man/man1/greet.1",
        "share/greet/font",
        "share/greet/man/x",
    ]
    entries = [FileEntry((prefix + p).encode()) for p in paths]
    kept = {e.path.decode().removeprefix(prefix) for e in prune(entries, kit.known["c"].common, keep="")}
    assert kept == {"bin/greet", "share/greet/font", "share/greet/man/x"}


def test_the_program_is_kept_whatever_it_is_called(kit):
    entries = [FileEntry(b"bin/tool.a"), FileEntry(b"bin/other.a")]
    assert [e.path for e in prune(entries, kit.known["c"].common, keep="bin/tool.a")] == [b"bin/tool.a"]


def test_a_wrapped_compiler_adds_its_flags_untouched_by_any_shell(kit, tmp_path):
    flags = wrapper_flags(kit.known["c"], Flavour.MUTANT, bundles=True)
    for entry in wrappers(kit.known["c"], flags.replace("/usr/bin/gcc", "")):
        (tmp_path / entry.path.decode()).write_bytes(entry.content.replace(b"/usr/bin/gcc", b"echo"))
    done = subprocess.run(["sh", tmp_path / "gcc", "a b.c"], capture_output=True, text=True)
    assert done.stdout == "a b.c -O2 -g0 -Wl,-rpath,$ORIGIN/../lib:$ORIGIN/lib\n"


def test_no_flags_no_wrapper(kit):
    assert wrappers(kit.known["c"], "") == []


def test_libraries_that_no_view_shows_go_beside_the_program():
    sh = Path("/bin/sh").read_bytes()
    assert bundled(sh, {"libc.so.6"}) == ()
    brought = bundled(sh, {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"})
    assert {e.path for e in brought} >= {b"lib/libc.so.6"}
    assert bundled(b"#!/bin/sh\n", set()) == ()


def test_a_library_that_the_host_has_not_is_refused_by_name():
    library = Path("/bin/sh").read_bytes().replace(b"libc.so.6", b"libq.so.6")
    with pytest.raises(BuildRefusedError, match=r"needs libq\.so\.6"):
        bundled(library, set())
