"""Go and Rust sources are built offline in every flavour, by the host's toolchain wherever it lies."""

from __future__ import annotations

import dataclasses
import shutil

import pytest

from programsmith.errors import InfraError, PrerequisiteError
from programsmith.records.outcome import Word
from programsmith.toolchains.build import Workspace, build_source
from programsmith.toolchains.homes import home, home_parts
from programsmith.toolchains.model import Flavour
from programsmith.toolchains.recipe import BuildRefusedError
from programsmith.toolchains.views import build_view, run_view, toolchain_version
from tests.samples.native import GO_FILES, RUST_FILES
from tests.samples.strength import GO_FILES as PLAIN_GO
from tests.samples.strength import RUST_FILES as PLAIN_RUST
from tests.unit.toolchains.test_build import run

needs_go = pytest.mark.skipif(not shutil.which("go"), reason="go is absent; run: apt-get install -y golang-go")
needs_rust = pytest.mark.skipif(
    not shutil.which("cargo"), reason="cargo is absent; run: apt-get install -y cargo rustc"
)
languages = pytest.mark.parametrize(
    "language", [pytest.param("go", marks=needs_go), pytest.param("rust", marks=needs_rust)]
)
PLAIN = {
    "go": {k: v.replace(b"adder", b"greet") for k, v in PLAIN_GO.items()},
    "rust": {k: v.replace(b"adder", b"greet") for k, v in PLAIN_RUST.items()},
}
WITH_DEPENDENCY = {"go": GO_FILES, "rust": RUST_FILES}
TOO_NEW = {
    "go": {"go.mod": b"module forge.example/owner/greet\n\ngo 1.99\n"},
    "rust": {"Cargo.toml": PLAIN["rust"]["Cargo.toml"] + b'rust-version = "1.999"\n'},
}


@languages
def test_a_program_with_a_dependency_is_fetched_built_and_run(kit, language, tmp_path):
    request = kit.request(language)
    try:
        built = build_source(kit.tree(WITH_DEPENDENCY[language]), request)
    except InfraError as fault:
        pytest.skip(f"the registry cannot be reached ({fault}); a network provides it")
    assert built.program == "/opt/oracle/bin/greet"
    assert any(b"LICENSE" in e.path for e in built.vendor), "what is linked in keeps its licence text"
    assert run(kit, request, built, tmp_path, "you") == (0, b"hello you 3\n")
    assert run(kit, request, built, tmp_path)[0] == 2


@languages
def test_builds_are_equal_whatever_the_time_and_the_place(kit, language, tmp_path):
    source = kit.tree(PLAIN[language])
    first, second = (build_source(source, kit.request(language)) for _ in range(2))
    assert first.install == second.install
    other = kit.request(language, flavour=Flavour.OTHER_PATH)
    moved = build_source(source, other)
    assert moved.program == "/opt/oracle/elsewhere/bin/greet"
    assert [e.content for e in moved.install if e.kind == "file"] == [
        e.content for e in first.install if e.kind == "file"
    ]
    assert run(kit, other, moved, tmp_path, "sum", "4") == (0, b"10\n")


@languages
def test_a_source_that_wants_a_newer_toolchain_is_refused_with_both_versions(kit, language):
    with pytest.raises(BuildRefusedError, match=r"wants \w+ 1\.99.*, this host has 1\.") as refused:
        build_source(kit.tree({**PLAIN[language], **TOO_NEW[language]}), kit.request(language))
    assert refused.value.word is Word.TOOLCHAIN_TOO_OLD


@languages
def test_what_does_not_compile_is_refused_with_its_log(kit, language):
    name = {"go": "main.go", "rust": "src/main.rs"}[language]
    with pytest.raises(BuildRefusedError) as refused:
        build_source(
            kit.tree({**PLAIN[language], name: b"package main\n\nfunc main() { nothing }\n"}), kit.request(language)
        )
    assert any(name in line for line in refused.value.evidence["log"])


@needs_rust
def test_a_build_script_runs_in_the_sandbox_alone(kit, tmp_path):
    marker = tmp_path / "ran"
    script = f'fn main() {{ let _ = std::fs::write({str(marker)!r}, "x"); panic!("network: {{:?}}", '
    script += 'std::net::TcpStream::connect("192.0.2.1:80")); }\n'
    with pytest.raises(BuildRefusedError):
        build_source(kit.tree({**PLAIN["rust"], "build.rs": script.replace("'", '"').encode()}), kit.request("rust"))
    assert not marker.exists()


@languages
def test_an_edit_rebuilds_what_it_touches_and_undoing_it_brings_the_first_back(kit, language):
    path = {"go": "sum/sum.go", "rust": "src/sum.rs"}[language]
    text = PLAIN[language][path]
    with Workspace.open(kit.tree(PLAIN[language]), kit.request(language, flavour=Flavour.MUTANT)) as workspace:
        assert workspace.rebuild()
        program = workspace.tree / "bin/greet"
        first = program.read_bytes()
        workspace.edit(path.encode(), text.replace(b"n * 1", b"n * 2"))
        assert workspace.rebuild()
        assert program.read_bytes() != first
        workspace.edit(path.encode(), b"none of it\n")
        assert not workspace.rebuild()
        workspace.edit(path.encode(), text)
        assert workspace.rebuild()
        assert program.read_bytes() == first


@languages
def test_a_toolchain_is_shown_at_its_place_and_to_builds_alone(kit, language):
    toolchain = kit.known[language]
    names = {path.rpartition("/")[2] for path in build_view(toolchain).executables}
    assert {"go": {"go"}, "rust": {"cargo", "rustc", "gcc"}}[language] <= names
    assert not names & {"python3", "git", "curl"}
    places = {inside for _, inside in home_parts(toolchain)}
    assert all(p.startswith((toolchain.home.shown, "/usr/")) for p in places)
    runs = run_view(toolchain)
    assert not any(m.target == "/opt/toolchain" for m in runs.mounts)
    assert not {p for p in runs.executables if "ld-linux" not in p}
    assert toolchain_version(toolchain).startswith("1.")


@needs_rust
def test_what_compiles_c_or_assembles_is_in_no_view_of_rust(kit):
    view = build_view(kit.known["rust"])
    assert not {p for p in view.executables if p.endswith(("/cc1", "/as", "/lto1"))}


def test_an_absent_toolchain_is_a_missing_prerequisite(kit):
    known = kit.known["go"]
    absent = dataclasses.replace(known, home=dataclasses.replace(known.home, command=("no-such-program-here",)))
    with pytest.raises(PrerequisiteError, match="run: apt-get install -y golang-go"):
        home(absent)
