"""The locked source, handed in as a submission, builds in the verifier's way and answers like the oracle."""

from __future__ import annotations

import shutil

import pytest

from programsmith.payload.verifier.build_step import build
from programsmith.payload.verifier.environment import SUBMISSION, case_env
from programsmith.payload.verifier.launcher import Mount, Request
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.payload.verifier.plan import BuildRule, CaseRule, Policy, ReceiptRule
from programsmith.payload.verifier.tree import write_tree
from programsmith.sandboxes import open_launcher
from programsmith.sandboxes.view import unrestricted
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.build import build_source
from programsmith.toolchains.compile_script import source_submission
from programsmith.toolchains.views import build_view, run_view
from tests.samples.strength import FILES


def policy(kit, language: str) -> Policy:
    return Policy(
        tool="greet",
        languages=(language,),
        refused_suffixes=(),
        build_programs=(),
        run_programs=(),
        cpu_factor=1.0,
        case=CaseRule(**kit.limits["case"]),
        build=BuildRule(**kit.limits["build"]),
        submission=ReceiptRule(**kit.limits["submission"]),
    )


def graded(kit, request, files, tmp_path, *words: bytes) -> tuple[int | None, bytes]:
    """Build a submission as the verifier does, run it once."""
    launcher = open_launcher(unrestricted(build_view(request.toolchain)))
    try:
        built = build(files, policy(kit, request.lock.language), launcher)
    finally:
        launcher.close()
    assert built.word is None, built.reason + built.log.decode()
    write_tree(str(tmp_path / "submission"), built.tree)
    launcher = open_launcher(run_view(request.toolchain))
    try:
        result = launcher.run(
            Request(
                program=f"{SUBMISSION}/executable",
                argv=(b"greet", *words),
                env=case_env(),
                limits=Limits(**kit.limits["capture"]),
                mounts=(Mount(source=str(tmp_path / "submission"), target=SUBMISSION),),
            )
        )
    finally:
        launcher.close()
    return result.exit_code, result.stdout


@pytest.mark.parametrize("language", ["c", "python"])
def test_the_source_builds_from_text_alone_and_answers_like_the_oracle(kit, tmp_path, language):
    source, request = kit.tree(getattr(kit, language)), kit.request(language)
    built = build_source(source, request)
    files = source_submission(request, source, built.install)
    assert not any(e.content.startswith(b"\x7fELF") or e.path.endswith(b".pyc") for e in files)
    assert graded(kit, request, files, tmp_path, b"--version") == (0, b"greet 1.2\n")


@pytest.mark.parametrize(("language", "needs"), [("go", "go"), ("rust", "cargo")])
def test_the_source_of_a_language_with_a_client_builds_in_the_same_way(kit, tmp_path, language, needs):
    if not shutil.which(needs):
        pytest.skip(f"{needs} is absent; run: apt-get install -y {' '.join(kit.known[language].packages)}")
    plain = {name: text.replace(b"adder", b"greet") for name, text in FILES[language].items()}
    source, request = kit.tree(plain), kit.request(language)
    files = source_submission(request, source, build_source(source, request).install)
    assert graded(kit, request, files, tmp_path, b"sum", b"4") == (0, b"10\n")


def test_links_and_folders_that_no_submission_can_carry_are_made_again(kit, tmp_path):
    """The build needs a linked file, a linked folder and an empty folder."""
    makefile = kit.c["Makefile"].replace(b"words.o: words.h", b"words.o: words.h README there/words.c hollow")
    entries = [e for e in kit.tree({**kit.c, "Makefile": makefile}) if e.path != b"words.h"]
    entries += [
        FileEntry(b"it's/words.h", content=kit.c["words.h"]),
        FileEntry(b"words.h", "link", 0o777, b"it's/words.h"),
        FileEntry(b"README", "link", 0o777, b"README.md"),
        FileEntry(b"there", "link", 0o777, b"."),
        FileEntry(b"hollow", "dir", 0o755),
    ]
    request = kit.request("c")
    files = source_submission(request, entries, build_source(SourceTree(entries), request).install)
    assert {e.kind for e in files} == {"file"}
    assert graded(kit, request, files, tmp_path, b"--version") == (0, b"greet 1.2\n")


def test_a_failing_build_says_why(kit):
    source = kit.tree({**kit.c, "words.c": b'#error "this cannot be"\n'})
    request = kit.request("c")
    launcher = open_launcher(unrestricted(build_view(request.toolchain)))
    try:
        built = build(source_submission(request, source, ()), policy(kit, "c"), launcher)
    finally:
        launcher.close()
    assert built.word == "BUILD_FAIL"
    assert b"this cannot be" in built.log


def test_the_spec_s_commands_and_names_are_quoted(kit):
    spec = {"build": ["echo '$(touch /x)' \"a b\" && cc -o greet greet.c"], "env": {"NOTE": "it's; rm -rf /"}}
    request = kit.request("c", spec_build=spec)
    files = source_submission(request, kit.tree(kit.c), ())
    script = next(e.content for e in files if e.path == b"compile.sh").decode()
    assert "NOTE='it'\"'\"'s; rm -rf /'" in script
    assert "sh -ec 'echo '\"'\"'$(touch /x)'\"'\"'" in script
