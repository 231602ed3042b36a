"""Sources are built inside a sandbox, offline, in every flavour; what does not build is refused with its log."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace

import pytest

from programsmith.errors import InfraError, InputError, PrerequisiteError
from programsmith.payload.verifier.environment import ORACLE, case_env
from programsmith.payload.verifier.launcher import Mount, Request
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.payload.verifier.tree import write_tree
from programsmith.records.lock import EntryPoint
from programsmith.sandboxes import open_launcher
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.build import Workspace, build_source
from programsmith.toolchains.model import Flavour
from programsmith.toolchains.recipe import BuildRefusedError
from programsmith.toolchains.views import run_view


def run(kit, request, built, tmp_path, *words: str) -> tuple[int | None, bytes]:
    """Run a built oracle as a case would, its tree being all that it has."""
    folder = tmp_path / f"tree-{len(os.listdir(tmp_path))}"
    write_tree(str(folder), built.install)
    launcher = open_launcher(run_view(request.toolchain))
    try:
        result = launcher.run(
            Request(
                program=built.program,
                argv=tuple(w.encode() for w in ("greet", *words)),
                env=case_env(),
                limits=Limits(**kit.limits["capture"]),
                mounts=(Mount(source=str(folder), target=ORACLE),),
            )
        )
    finally:
        launcher.close()
    assert result.fault is None
    return result.exit_code, result.stdout + result.stderr


def test_a_make_program_is_installed_below_the_prefix_and_runs_there(kit, tmp_path):
    request = kit.request("c")
    built = build_source(kit.tree(kit.c), request)
    assert built.program == "/opt/oracle/bin/greet"
    assert {e.path for e in built.install if e.kind == "file"} == {b"bin/greet"}
    assert [e.path for e in built.manuals] == [b"share/man/man1/greet.1"]
    assert built.recipe[-1].startswith("make install prefix=/opt/oracle")
    assert run(kit, request, built, tmp_path, "you") == (0, b"hello you\n")


def test_another_path_differs_in_build_folder_and_prefix(kit, tmp_path):
    files = {**kit.c, "words.c": b'#include "words.h"\nconst char *word(void) { return PREFIX " " WHERE; }\n'}
    files["Makefile"] = b"CFLAGS = -DPREFIX='\"$(prefix)\"' -DWHERE='\"$(CURDIR)\"'\n" + kit.c["Makefile"].replace(
        b"CFLAGS =", b"CFLAGS +="
    )
    said = {}
    for flavour in (Flavour.RELEASE, Flavour.OTHER_PATH):
        request = kit.request("c", flavour=flavour)
        said[flavour] = run(kit, request, build_source(kit.tree(files), request), tmp_path)[1]
    assert said[Flavour.RELEASE] == b"/opt/oracle /build/source world\n"
    assert said[Flavour.OTHER_PATH] == b"/opt/oracle/elsewhere /build/elsewhere/a/tree world\n"


def test_two_builds_of_one_source_are_equal_byte_for_byte(kit):
    files = {**kit.c, "words.c": b'#include "words.h"\nconst char *word(void) { return __DATE__ " " __TIME__; }\n'}
    first, second = (build_source(kit.tree(files), kit.request("c")) for _ in range(2))
    assert first.install == second.install
    assert any(b"Jan  1 1980" in e.content for e in first.install)


def test_a_coverage_build_leaves_notes_and_a_mutant_build_no_place_of_the_source(kit):
    with Workspace.open(kit.tree(kit.c), kit.request("c", flavour=Flavour.COVERAGE)) as workspace:
        assert workspace.host_path("words.gcno").is_file()
        assert b"__gcov_" in (workspace.tree / "bin/greet").read_bytes()
    with Workspace.open(kit.tree(kit.c), kit.request("c", flavour=Flavour.MUTANT)) as workspace:
        assert b".debug_" not in (workspace.tree / "bin/greet").read_bytes()
        assert not workspace.host_path("words.gcno").exists()


def test_an_edit_rebuilds_the_program_and_undoing_it_brings_the_first_back(kit):
    source = kit.tree(kit.c)
    with Workspace.open(source, kit.request("c", flavour=Flavour.MUTANT)) as workspace:
        program = workspace.tree / "bin/greet"
        first = program.read_bytes()
        greet = workspace.host_path("greet.o").stat().st_mtime_ns
        workspace.edit(b"words.c", kit.c["words.c"].replace(b"hello", b"howdy"))
        assert workspace.rebuild()
        assert subprocess.run([program], capture_output=True).stdout == b"howdy world\n"
        assert workspace.host_path("greet.o").stat().st_mtime_ns == greet, "only what was edited is compiled"
        workspace.edit(b"words.c", b"no C at all\n")
        assert not workspace.rebuild()
        workspace.edit(b"words.c", kit.c["words.c"])
        assert workspace.rebuild()
        assert program.read_bytes() == first


def test_a_twin_goes_on_from_the_same_state_and_lives_its_own_life(kit):
    with Workspace.open(kit.tree(kit.c), kit.request("c", flavour=Flavour.MUTANT)) as first:
        twin = first.twin()
        before = twin.host_path("greet.o").stat().st_mtime_ns
        assert before == first.host_path("greet.o").stat().st_mtime_ns
        twin.edit(b"words.c", kit.c["words.c"].replace(b"hello", b"howdy"))
        assert twin.rebuild()
        assert twin.host_path("greet.o").stat().st_mtime_ns == before
        assert subprocess.run([twin.tree / "bin/greet"], capture_output=True).stdout == b"howdy world\n"
        assert subprocess.run([first.tree / "bin/greet"], capture_output=True).stdout == b"hello world\n"
        twin.close()
        assert not twin.tree.exists()
        assert first.rebuild()


def test_a_python_edit_shows_without_a_build_step_of_its_own(kit):
    with Workspace.open(kit.tree(kit.python), kit.request("python", flavour=Flavour.MUTANT)) as workspace:
        file = workspace.tree / "lib/greet/cli.py"
        workspace.edit(b"src/greet/cli.py", kit.python["src/greet/cli.py"].replace(b"hello", b"howdy"))
        assert workspace.rebuild()
        assert b"howdy" in file.read_bytes()


def test_only_files_of_the_source_can_be_edited(kit):
    with Workspace.open(kit.tree(kit.python), kit.request("python")) as workspace:
        for path in (b"absent.py", b"../log", b"src"):
            with pytest.raises(InputError, match="wanted a regular file of the source"):
                workspace.edit(path, b"")


def test_a_python_program_runs_under_its_name_with_its_own_version(kit, tmp_path):
    request = kit.request("python")
    built = build_source(kit.tree(kit.python), request)
    assert not any(e.path.startswith((b"lib/tests", b"lib/README", b"lib/pyproject")) for e in built.install)
    assert run(kit, request, built, tmp_path, "you") == (3, b"hello you\n")
    assert run(kit, request, built, tmp_path, "--version") == (0, b"greet 1.2\n")
    assert run(kit, request, built, tmp_path, "--help") == (0, b"Usage: greet [--loud] NAME\n")


SCRIPT = {
    "greet.py": b"#!/usr/bin/python3\nimport sys, other\nprint(sys.argv[0], __name__, other.A)\n",
    "other.py": b"A = 1\n",
}
MODULE = {
    "src/greet/__main__.py": b"import sys\nfrom .other import A\nprint(sys.argv[0], __name__, A)\n",
    "src/greet/other.py": b"A = 1\n",
    "src/greet/__init__.py": b"",
}


@pytest.mark.parametrize(("target", "files"), [("greet.py", SCRIPT), ("src/greet/__main__.py", MODULE)])
def test_scripts_and_main_modules_run_as_the_main_module(kit, tmp_path, target, files):
    request = kit.request("python", entry=EntryPoint(tool="greet", kind="python-script", target=target, how="shebang"))
    built = build_source(kit.tree(files), request)
    assert run(kit, request, built, tmp_path) == (0, b"greet __main__ 1\n")


def test_an_edited_module_is_not_answered_from_stale_bytecode(kit, tmp_path):
    request = kit.request("python")
    built = build_source(kit.tree(kit.python), request)
    assert any(e.path.endswith(b".pyc") for e in built.install)
    edited = tuple(
        replace(e, content=e.content.replace(b"hello", b"howdy")) if e.path == b"lib/greet/cli.py" else e
        for e in built.install
    )
    assert run(kit, request, replace(built, install=edited), tmp_path) == (3, b"howdy\n")


def test_a_build_that_fails_is_refused_with_the_end_of_its_log(kit):
    files = {**kit.c, "words.c": b'#error "this cannot be"\n'}
    with pytest.raises(BuildRefusedError) as refused:
        build_source(kit.tree(files), kit.request("c"))
    assert refused.value.word == "unbuildable"
    assert any("this cannot be" in line for line in refused.value.evidence["log"])


def test_a_build_that_wants_the_network_is_refused_by_that_name(kit):
    files = {**kit.c, "Makefile": b"greet:\n\tgit clone https://forge.example/owner/words.git\n"}
    notes = ("synthetic_git: Makefile",)
    with pytest.raises(BuildRefusedError, match="needs_network_build"):
        build_source(kit.tree(files), kit.request("c", notes=notes))


def test_a_build_that_leaves_no_program_is_refused(kit):
    files = {**kit.c, "Makefile": b"all:\n\ttrue\ninstall:\n\ttrue\n"}
    with pytest.raises(BuildRefusedError, match="left no executable 'greet'"):
        build_source(kit.tree(files), kit.request("c"))


def test_a_program_that_is_a_link_out_of_the_workspace_is_not_followed(kit):
    files = {**kit.c, "Makefile": b"all:\n\tln -sf /usr/bin/make greet\ninstall:\n\tfalse\n"}
    with pytest.raises(BuildRefusedError, match="left no executable"):
        build_source(kit.tree(files), kit.request("c"))


def test_without_an_install_target_the_built_file_is_taken(kit, tmp_path):
    files = {**kit.c, "Makefile": kit.c["Makefile"].split(b"install:")[0]}
    request = kit.request("c")
    built = build_source(kit.tree(files), request)
    assert [e.path for e in built.install if e.kind == "file"] == [b"bin/greet"]
    assert run(kit, request, built, tmp_path) == (0, b"hello world\n")


@pytest.mark.parametrize(("tag", "told"), [((), b"v4.5 world\n"), (("tag: greet-4.5-rc1",), b"greet-4.5-rc1 world\n")])
def test_a_build_that_asks_git_gets_one_commit_with_its_tag_or_the_stated_version(kit, tmp_path, tag, told):
    files = {
        **kit.c,
        "VERSION": b"4.5\n",
        "Makefile": b"CFLAGS = -DDESCRIBED='\"$(shell git describe --tags --always)\"'\n"
        + kit.c["Makefile"].replace(b"CFLAGS =", b"CFLAGS +="),
        "words.c": b'#include "words.h"\nconst char *word(void) { return DESCRIBED; }\n',
    }
    request = kit.request("c", notes=("synthetic_git: Makefile", *tag))
    built = build_source(kit.tree(files), request)
    assert run(kit, request, built, tmp_path) == (0, told)


def test_commands_of_the_spec_replace_the_recipe(kit, tmp_path):
    spec = {"build": ['gcc -DW="\\"$WORD\\"" -o greet greet.c own.c'], "env": {"WORD": "salve"}}
    files = {**kit.c, "own.c": b"const char *word(void) { return W; }\n"}
    request = kit.request("c", spec_build=spec)
    built = build_source(kit.tree({k: v for k, v in files.items() if k != "Makefile"}), request)
    assert run(kit, request, built, tmp_path) == (0, b"salve world\n")
    assert "own.c" in built.recipe[0]


def test_a_package_that_is_absent_is_a_missing_prerequisite_with_its_command(kit):
    spec = {"packages": ["libno-such-thing-dev"]}
    with pytest.raises(PrerequisiteError, match="apt-get install -y libno-such-thing-dev"):
        build_source(kit.tree(kit.c), kit.request("c", spec_build=spec))


def test_a_source_that_makes_its_configure_script_is_built_with_the_named_packages(kit, autotools, tmp_path):
    files = {k: v for k, v in kit.c.items() if k != "Makefile"}
    files["configure.ac"] = (
        b"AC_INIT([greet],[1.2])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n"
    )
    files["Makefile.am"] = b"bin_PROGRAMS = greet\ngreet_SOURCES = greet.c words.c words.h\n"
    request = kit.request("c", build_system="autotools", spec_build={"packages": list(autotools)})
    built = build_source(kit.tree(files), request)
    assert built.recipe[0] == "autoreconf -fi"
    assert run(kit, request, built, tmp_path) == (0, b"hello world\n")


@pytest.mark.parametrize(
    ("language", "name", "text", "wanted"),
    [
        ("python", "pyproject.toml", b'[project]\nname = "greet"\nrequires-python = ">=3.99"\n', ">=3.99"),
        ("python", "setup.cfg", b"[options]\npython_requires = >=4.0\n", ">=4.0"),
    ],
)
def test_a_source_for_a_newer_python_is_refused_with_both_versions(kit, language, name, text, wanted):
    files = {**kit.python, name: text}
    with pytest.raises(BuildRefusedError) as refused:
        build_source(kit.tree(files), kit.request(language))
    assert refused.value.word == "toolchain_too_old"
    assert refused.value.evidence["wanted"] == wanted
    assert refused.value.evidence["got"].startswith("3.")


def test_a_source_for_a_newer_autoconf_is_refused_with_both_versions(kit, autotools):
    files = {**kit.c, "configure.ac": b"AC_PREREQ([9.99])\nAC_INIT([greet],[1])\n"}
    with pytest.raises(BuildRefusedError, match=r"wants autoconf 9\.99, this host has 2\.") as refused:
        build_source(kit.tree(files), kit.request("c", build_system="autotools"))
    assert refused.value.word == "toolchain_too_old"


def test_a_source_for_a_newer_compiler_is_refused_with_both_versions(kit):
    files = {**kit.c, "Makefile": kit.c["Makefile"].replace(b"-O2", b"-O2 -std=c99999")}
    with pytest.raises(BuildRefusedError, match=r"wants gcc c99999, this host has \d+\.") as refused:
        build_source(kit.tree(files), kit.request("c"))
    assert refused.value.word == "toolchain_too_old"


def test_an_unknown_build_system_is_wrong_input(kit):
    with pytest.raises(InputError, match=r"wanted one of autotools, cmake, make, meson"):
        build_source(kit.tree(kit.c), kit.request("c", build_system="bazel"))


def test_entries_of_a_source_keep_their_equal_times_so_that_nothing_is_made_again(kit):
    """A generated file that is in the source must not be regenerated because it was laid down first."""
    files = {**kit.c, "Makefile": b"words.c: words.y\n\tfalse\n" + kit.c["Makefile"], "words.y": b"grammar\n"}
    files["Makefile"] = b"all: greet\n" + files["Makefile"]
    assert build_source(SourceTree([*kit.tree(files)]), kit.request("c")).program == "/opt/oracle/bin/greet"


def test_nothing_of_the_host_but_the_list_is_visible_to_a_build(kit):
    files = {
        **kit.c,
        "Makefile": b"greet:\n\ttest ! -e /root && test ! -e /home && test ! -e /usr/bin/perl\n\ttest -e /never\n",
    }
    with pytest.raises(BuildRefusedError) as refused:
        build_source(SourceTree([*kit.tree(files), FileEntry(b"x", "link", 0o777, b"/etc/shadow")]), kit.request("c"))
    assert any("test -e /never" in line for line in refused.value.evidence["log"])


@pytest.mark.parametrize(
    ("line", "fault", "says"),
    [
        ("while :; do :; done", InfraError, "the host is too busy; run again"),
        ("sleep 60", BuildRefusedError, "exceeded its limit: wall"),
    ],
)
def test_the_wall_limit_refuses_what_waits_and_not_what_is_at_work(kit, line, fault, says):
    request = kit.request("c", spec_build={"build": [line]})
    with pytest.raises(fault, match=says):
        build_source(kit.tree(kit.c), replace(request, limits=replace(request.limits, wall_seconds=2)))
