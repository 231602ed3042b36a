"""Views show a list and nothing else: a case has no shell and no compiler, a build has the toolchain."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from programsmith.errors import PrerequisiteError
from programsmith.payload.verifier.environment import BASE_ENV, case_env
from programsmith.payload.verifier.launcher import Request
from programsmith.payload.verifier.model import Limits
from programsmith.sandboxes import open_launcher
from programsmith.toolchains import views
from programsmith.toolchains.build import build_source
from programsmith.toolchains.views import build_view, interpreter_path, run_view, shown_libraries, toolchain_version
from tests.contract.launches import limits


def names(view) -> set[str]:
    return {path.rpartition("/")[2] for path in view.executables}


def test_a_compiled_language_runs_without_any_program_of_the_host(kit):
    assert names(run_view(kit.known["c"])) <= {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def test_what_the_oracle_starts_is_added_and_nothing_more(kit):
    before, after = run_view(kit.known["c"]), run_view(kit.known["c"], ("/usr/bin/sort",))
    assert names(after) - names(before) == {"sort"}
    assert before.fingerprint != after.fingerprint


def test_a_build_has_compiler_and_shell_but_no_interpreter_of_another_language(kit):
    found = names(build_view(kit.known["c"]))
    assert {"gcc", "make", "sh", "sed"} <= found
    assert not found & {"python3", "perl", "git", "curl"}


def test_the_interpreter_is_at_its_usual_place_wherever_the_host_keeps_it(kit):
    launcher = open_launcher(run_view(kit.known["python"]))
    try:
        words = (b"python3", b"-c", b"import json, sys; print(sys.version_info[:2])")
        result = launcher.run(
            Request(program="/usr/bin/python3", argv=words, env=case_env(), limits=Limits(**kit.limits["capture"]))
        )
    finally:
        launcher.close()
    assert result.stdout.startswith(b"(3, ")


def test_versions_are_those_of_what_is_shown(kit):
    assert toolchain_version(kit.known["python"]).startswith("3.")
    assert toolchain_version(kit.known["c"])


def test_an_interpreter_that_is_too_old_everywhere_is_a_missing_prerequisite(kit):
    with pytest.raises(PrerequisiteError, match=r"wanted 9\.0 or newer"):
        interpreter_path(replace(kit.known["python"].interpreter, minimum="9.0"))


def test_an_absent_program_names_the_packages_to_install(kit):
    with pytest.raises(PrerequisiteError, match="'no-such-compiler' is not in /usr/bin, /bin; run: apt-get install"):
        build_view(kit.known["c"], ("no-such-compiler",))


def test_a_host_without_a_package_database_shows_the_same_by_pattern(kit, monkeypatch):
    monkeypatch.setattr(views, "database_exists", lambda: False)
    built = build_source(kit.tree(kit.c), kit.request("c"))
    assert built.program == "/opt/oracle/bin/greet"
    with pytest.raises(PrerequisiteError, match="no dpkg to say what they hold"):
        build_view(kit.known["c"], packages=["libonig-dev"])


def test_libraries_that_every_view_has_are_known_by_name(kit):
    assert {"libc.so.6", "libm.so.6"} <= shown_libraries(kit.known["c"])


@pytest.mark.parametrize("language", ["c", "cpp", "rust"])
def test_what_a_build_can_link_by_its_view_a_run_can_load(kit, language):
    """libcrypt has its headers in the view, libresolv is libc's: programs that find them there link them."""
    for name in ("libcrypt.so", "libresolv.so"):
        for linked in Path("/usr/lib").glob(f"*-linux-gnu/{name}"):
            assert linked.resolve().name.partition(".so")[0] in {
                n.partition(".so")[0] for n in shown_libraries(kit.known[language])
            }


def test_a_run_in_python_can_load_what_a_wheel_may_be_linked_with(kit):
    """An extension that was linked where the C library was in parts names them, though they hold nothing any more."""
    code = "import ctypes, sys; [ctypes.CDLL(name) for name in sys.argv[1:]]"
    parts = ("libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1", "libutil.so.1")
    words = (b"python3", b"-IS", b"-c", code.encode(), *(name.encode() for name in parts))
    with contextlib.closing(open_launcher(run_view(kit.known["python"]))) as launcher:
        done = launcher.run(Request(program="/usr/bin/python3", argv=words, env=BASE_ENV, limits=limits()))
    assert (done.exit_code, done.stderr) == (0, b"")
