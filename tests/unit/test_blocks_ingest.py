"""The ingest block on small real repositories: what it locks, and every refusal by its name."""

from __future__ import annotations

import os

import pytest

from programsmith.errors import InfraError, InputError
from programsmith.sources.tree import SourceTree


def test_a_git_repository_is_locked_with_its_commit_licence_and_command(ingested, kit, tmp_path):
    repo = kit.repository(tmp_path / "toy", kit.program)
    lock = ingested.lock(git=str(repo))
    assert lock.commit == kit.git(repo, "rev-parse", "HEAD")
    assert (lock.licence, lock.language, lock.build_system, lock.code_lines) == ("MIT", "python", "python", 2)
    assert [(e.tool, e.kind, e.target) for e in lock.entry_points] == [("toy", "python-console-script", "toy:main")]
    assert lock.files == 3


def test_a_folder_and_a_repository_of_the_same_files_have_one_tree_digest(ingested, kit, tmp_path):
    repo = kit.repository(tmp_path / "toy", kit.program)
    assert ingested.lock(git=str(repo)).tree == ingested.lock(path="toy").tree


def test_the_source_tar_is_the_same_bytes_each_time(ingested, kit, tmp_path):
    kit.lay(tmp_path / "toy", kit.program)
    ingested.run(path="toy")
    first = (ingested.out / "source.tar").read_bytes()
    os.utime(tmp_path / "toy/toy.py", (1, 1))
    ingested.run(path="toy")
    assert (ingested.out / "source.tar").read_bytes() == first


def test_history_stays_behind(ingested, kit, tmp_path):
    repo = kit.repository(tmp_path / "toy", {**kit.program, "secret.py": "SENTINEL = 'past'\n"})
    (repo / "secret.py").unlink()
    kit.commit(repo)
    ingested.run(git=str(repo))
    assert b"SENTINEL" not in (ingested.out / "source.tar").read_bytes()


def test_a_ref_is_a_tag_a_branch_or_a_commit(ingested, kit, tmp_path):
    repo = kit.repository(tmp_path / "toy", kit.program)
    first = kit.git(repo, "rev-parse", "HEAD")
    kit.git(repo, "tag", "-a", "v1", "-m", "one")
    kit.git(repo, "branch", "other")
    (repo / "more.py").write_text("x = 1\n")
    second = kit.commit(repo)
    assert [ingested.lock(git=str(repo), ref=r).commit for r in ("v1", "other", first, first[:8])] == [first] * 4
    assert ingested.lock(git=str(repo)).commit == second


def test_a_missing_ref_names_the_nearest(ingested, kit, tmp_path):
    repo = kit.repository(tmp_path / "toy", kit.program)
    kit.git(repo, "tag", "v1.4.0")
    with pytest.raises(InputError, match=r"no ref 'v1.4.1'; nearest: v1.4.0"):
        ingested.run(git=str(repo), ref="v1.4.1")


def test_a_missing_commit_is_wrong_input(ingested, kit, tmp_path):
    repo = kit.repository(tmp_path / "toy", kit.program)
    with pytest.raises(InputError, match="no single commit"):
        ingested.run(git=str(repo), ref="0123456789012345678901234567890123456789")


def test_a_local_repository_that_is_not_there_is_wrong_input(ingested, tmp_path):
    with pytest.raises(InputError, match="no repository that can be read"):
        ingested.run(git=str(tmp_path / "nothing"))


def test_a_host_that_does_not_answer_is_infra(ingested):
    with pytest.raises(InfraError, match="ls-remote"):
        ingested.run(git="http://127.0.0.1:9/o/toy")


def test_a_missing_blob_is_infra(ingested, kit, tmp_path):
    repo = kit.repository(tmp_path / "toy", kit.program)
    blob = kit.git(repo, "rev-parse", "HEAD:toy.py")
    (repo / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(InfraError):
        ingested.run(git=str(repo))


def test_a_corrupt_object_is_infra(ingested, kit, tmp_path):
    repo = kit.repository(tmp_path / "toy", kit.program)
    blob, other = (kit.git(repo, "rev-parse", f"HEAD:{n}") for n in ("toy.py", "LICENSE"))
    file = repo / ".git/objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    file.write_bytes((repo / ".git/objects" / other[:2] / other[2:]).read_bytes())
    with pytest.raises(InfraError):
        ingested.run(git=str(repo))


def test_no_code_is_refused(ingested, kit):
    assert ingested.refusal({"LICENSE": kit.mit, "README.md": "words\n"}).startswith("no_code")


def test_a_library_without_entry_point_is_refused(ingested, kit):
    files = {"LICENSE": kit.mit, "pyproject.toml": '[project]\nname = "lib"\n', "lib.py": "def f():\n    return 1\n"}
    assert ingested.refusal(files).startswith("no_entry_point")


def test_a_c_library_without_entry_point_is_refused(ingested, kit):
    make = "libx.a: x.o\n\tar rcs libx.a x.o\n"
    assert ingested.refusal({"LICENSE": kit.mit, "Makefile": make, "x.c": "int f(void) { return 1; }\n"}).startswith(
        "no_entry_point"
    )


def test_an_empty_repository_is_refused(ingested, kit, tmp_path):
    kit.git(tmp_path, "init", "-q", "void")
    assert ingested.run(git=str(tmp_path / "void")).reason.startswith("empty: ")


def test_a_commit_without_files_is_refused(ingested, kit, tmp_path):
    repo = kit.repository(tmp_path / "bare", {})
    assert ingested.run(git=str(repo)).reason.startswith("empty: ")


def test_no_licence_is_refused(ingested, kit):
    files = {k: v for k, v in kit.program.items() if k != "LICENSE"}
    assert ingested.refusal(files).startswith("no_licence")


def test_an_lfs_pointer_is_refused_by_name(ingested, kit):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12\n"
    reason = ingested.refusal({**kit.program, "data/model.bin": pointer})
    assert reason.startswith("lfs_pointer")
    assert "data/model.bin" in reason


def test_files_that_export_ignore_hides_are_kept(ingested, kit, tmp_path):
    repo = kit.repository(
        tmp_path / "toy", {**kit.program, ".gitattributes": "tests export-ignore\n", "tests/a.txt": "kept\n"}
    )
    ingested.run(git=str(repo))
    assert SourceTree.open(ingested.out / "source.tar").get(b"tests/a.txt").content == b"kept\n"


def test_modes_are_kept_and_content_is_not_converted(ingested, kit, tmp_path):
    kit.lay(tmp_path / "toy", {**kit.program, "run": "#!/bin/sh\r\n", ".gitattributes": "* text=auto\n"})
    (tmp_path / "toy/run").chmod(0o755)
    repo = kit.repository(tmp_path / "toy", {})
    ingested.run(git=str(repo))
    tree = SourceTree.open(ingested.out / "source.tar")
    assert tree.get(b"run").mode == 0o755
    assert tree.get(b"toy.py").mode == 0o644


def test_case_colliding_names_are_kept_and_noted(ingested, kit, tmp_path):
    repo = kit.repository(tmp_path / "toy", {**kit.program, "Data.txt": "a", "data.txt": "b"})
    assert "case_collision: Data.txt, data.txt" in ingested.lock(git=str(repo)).notes


def test_names_that_are_not_utf8_stay_bytes(ingested, kit, tmp_path):
    repo = kit.repository(tmp_path / "toy", kit.program)
    kit.graft(repo, b"100644 blob " + kit.blob(repo, b"odd") + b"\tcaf\xe9.txt")
    ingested.lock(git=str(repo))
    assert SourceTree.open(ingested.out / "source.tar").get(b"caf\xe9.txt").content == b"odd"


def test_a_git_folder_inside_a_tree_is_refused(ingested, kit, tmp_path):
    repo = kit.repository(tmp_path / "toy", kit.program)
    tree = kit.git(repo, "mktree", "-z", stdin=b"100644 blob " + kit.blob(repo, b"x") + b"\tconfig\0").encode()
    kit.graft(repo, b"040000 tree " + tree + b"\t.GIT")
    assert ingested.run(git=str(repo)).reason.startswith("bad_tree")


def test_symlink_loops_and_links_out_are_dropped_by_name(ingested, kit, tmp_path):
    folder = kit.lay(tmp_path / "toy", kit.program)
    for name, target in {"a": "b", "b": "a", "out": "/etc/passwd", "up": "../..", "good": "toy.py"}.items():
        (folder / name).symlink_to(target)
    (folder / "d").mkdir()
    (folder / "d/self").symlink_to("..")
    repo = kit.repository(folder, {})
    notes = ingested.lock(git=str(repo)).notes
    assert {n.split(" ")[1] for n in notes if n.startswith("symlink_dropped")} == {"a", "b", "out", "up", "d/self"}
    good = SourceTree.open(ingested.out / "source.tar").get(b"good")
    assert (good.kind, good.content) == ("link", b"toy.py")


def test_a_gitlink_is_refused_by_name_unless_the_spec_decides(ingested, kit, tmp_path):
    pinned = "1" * 40
    repo = kit.graft(kit.repository(tmp_path / "toy", kit.program), f"160000 commit {pinned}\tsub".encode())
    assert ingested.run(git=str(repo)).reason.startswith("submodule: submodules sub;")
    assert f"submodule_skipped: sub at {pinned}" in ingested.lock(git=str(repo), submodules="skip").notes


def test_a_submodule_is_materialised_at_its_pinned_commit(ingested, kit, tmp_path):
    child = kit.repository(tmp_path / "child", {"part.py": "pinned = 1\n"})
    pinned = kit.git(child, "rev-parse", "HEAD")
    repo = kit.repository(tmp_path / "toy", kit.program)
    kit.git(repo, "submodule", "add", "-q", "../child", "sub")
    kit.commit(repo)
    (child / "part.py").write_text("moved = 1\n")
    kit.commit(child)
    kit.git(repo, "config", "-f", ".gitmodules", "submodule.sub.url", "../child")
    kit.commit(repo)
    lock = ingested.lock(git=str(repo), submodules="fetch")
    assert any(n.startswith(f"submodule_fetched: sub at {pinned}") for n in lock.notes)
    assert SourceTree.open(ingested.out / "source.tar").get(b"sub/part.py").content == b"pinned = 1\n"


def test_a_submodule_that_points_into_the_machine_is_refused(ingested, kit, tmp_path):
    repo = kit.repository(tmp_path / "toy", kit.program)
    modules = kit.blob(repo, b'[submodule "s"]\npath = sub\nurl = /etc\n')
    kit.graft(repo, b"160000 commit " + b"1" * 40 + b"\tsub", b"100644 blob " + modules + b"\t.gitmodules")
    assert "names no host" in ingested.run(git=str(repo), submodules="fetch").reason


def test_a_build_that_asks_git_is_noted(ingested, kit, tmp_path):
    make = "toy: toy.o\n\tcc -DV=`git describe --tags` -o toy toy.o\n"
    files = {"LICENSE": kit.mit, "Makefile": make, "toy.c": "int main(void)\n{\n  return 0;\n}\n"}
    repo = kit.repository(tmp_path / "toy", files)
    kit.git(repo, "tag", "v1.2")
    lock = ingested.lock(git=str(repo))
    assert "synthetic_git: Makefile" in lock.notes
    assert [e.tool for e in lock.entry_points] == ["toy"]
    assert [n for n in ingested.lock(git=str(repo), ref="v1.2").notes if n not in lock.notes] == ["tag: v1.2"]


def test_a_source_that_contains_the_cache_is_wrong_input(ingested, kit, tmp_path):
    kit.lay(tmp_path, kit.program)
    (tmp_path / "cache").mkdir()
    with pytest.raises(InputError, match="which builds write to"):
        ingested.run(path=".")


def test_a_path_that_is_no_folder_is_wrong_input(ingested, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="wanted a folder"):
        ingested.run(path="file")


def test_a_pipe_in_a_folder_is_refused_by_name(ingested, kit, tmp_path):
    os.mkfifo(kit.lay(tmp_path / "toy", kit.program) / "pipe")
    assert ingested.run(path="toy").reason.startswith("odd_file: pipe")


def test_a_folder_keeps_out_git_and_bytecode(ingested, kit, tmp_path):
    repo = kit.repository(tmp_path / "toy", {**kit.program, "sub/__pycache__/x.pyc": "x"})
    assert (repo / ".git").is_dir()
    assert ingested.lock(path="toy").files == len(kit.program)


def test_subdir_takes_the_licence_along(ingested, kit, tmp_path):
    files = {"LICENSE": kit.mit, **{f"tools/toy/{n}": c for n, c in kit.program.items() if n != "LICENSE"}}
    repo = kit.repository(tmp_path / "mono", {**files, "other/gpl.c": "/* GNU General Public License */\n"})
    assert ingested.lock(git=str(repo), subdir="tools/toy").licence == "MIT"
    with pytest.raises(InputError, match="no folder"):
        ingested.run(git=str(repo), subdir="tools/none")


def test_a_part_under_other_terms_can_be_left_out(ingested, kit, tmp_path):
    files = {**kit.program, "menu/gpl.c": "/* GNU General Public License */\n"}
    repo = kit.repository(tmp_path / "toy", files)
    assert "source.leave can name it" in ingested.run(git=str(repo)).reason
    lock = ingested.lock(git=str(repo), leave=["menu"])
    assert (lock.files, "left_out: menu" in lock.notes) == (len(kit.program), True)


def test_a_known_benchmark_is_refused_unless_the_spec_allows_it(ingested, kit, tmp_path):
    files = {**kit.program, "pyproject.toml": kit.program["pyproject.toml"].replace('"toy"\nversion', '"jq"\nversion')}
    repo = kit.repository(tmp_path / "any", files)
    assert ingested.run(git=str(repo)).reason.startswith("overlap: already in ProgramBench: jqlang/jq")
    assert "ProgramBench: jqlang/jq" in ingested.lock(git=str(repo), allow_overlap=True).overlap


def test_a_checkout_of_a_known_benchmark_is_known_by_its_remote(ingested, kit, tmp_path):
    repo = kit.repository(tmp_path / "any", kit.program)
    kit.git(repo, "remote", "add", "origin", "git@github.com:cmatsuoka/figlet.git")
    assert "cmatsuoka/figlet" in ingested.run(path="any").reason


def test_an_unsupported_language_is_refused_by_its_name(ingested, kit):
    zig = {"LICENSE": kit.mit, "build.zig": "// build\n", "src/main.zig": "fn main() {\n}\n" * 9, "x.py": "x = 1\n"}
    assert ingested.refusal(zig).startswith("no_toolchain: it is mostly zig")
