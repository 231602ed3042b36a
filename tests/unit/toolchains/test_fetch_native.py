"""Go modules and Rust crates are fetched from manifests alone; what a hostile manifest asks for is refused by name."""

from __future__ import annotations

import shutil

import pytest

from programsmith.errors import InfraError
from programsmith.toolchains.fetch import fetch
from programsmith.toolchains.recipe import BuildRefusedError
from tests.samples.native import GO_FILES, RUST_FILES

go = pytest.mark.skipif(not shutil.which("go"), reason="go is absent; run: apt-get install -y golang-go")
rust = pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is absent; run: apt-get install -y cargo rustc")


def fetched(kit, language, files):
    return {e.path: e for e in fetch(kit.tree(files), kit.request(language))}


def online(kit, language, files):
    try:
        return fetched(kit, language, files)
    except InfraError as fault:
        pytest.skip(f"the registry cannot be reached ({fault}); a network provides it")


@go
def test_the_packages_that_a_go_source_imports_are_fetched(kit):
    found = online(kit, "go", GO_FILES)
    assert {b"vendor/modules.txt", b"vendor/github.com/rivo/uniseg/grapheme.go"} <= set(found)
    assert not any(path.endswith(b"_test.go") for path in found)


@go
@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"go.sum": None}, "there is no go.sum"),
        ({"go.sum": b"# nothing\n"}, "needs_network_build"),
        ({"go.mod": GO_FILES["go.mod"] + b"replace github.com/rivo/uniseg => ../../etc\n"}, "outside the source"),
        ({"go.mod": GO_FILES["go.mod"] + b"replace github.com/rivo/uniseg => /etc\n"}, "outside the source"),
        ({"go.work": b"go 1.19\n\nuse (\n\t.\n\t../other\n)\n"}, "outside the source"),
        ({"go.mod": b"module a\n\nrequire (\n"}, "needs_network_build"),
    ],
)
def test_a_go_source_is_refused_that_sums_do_not_cover_or_that_reaches_out(kit, changed, says):
    files = {k: v for k, v in {**GO_FILES, **changed}.items() if v is not None}
    with pytest.raises(BuildRefusedError, match=says):
        fetched(kit, "go", files)


@go
def test_a_go_module_whose_content_its_sum_denies_is_refused(kit):
    sums = GO_FILES["go.sum"].replace(b"h1:WU", b"h1:XU")
    with pytest.raises((BuildRefusedError, InfraError), match=r"checksum|SECURITY|needs_network|go mod vendor"):
        fetched(kit, "go", {**GO_FILES, "go.sum": sums})


@go
def test_a_go_source_without_requirements_needs_no_network(kit, monkeypatch):
    monkeypatch.setenv("GOPROXY", "http://127.0.0.1:9")
    assert fetched(kit, "go", {**GO_FILES, "go.mod": b"module forge.example/owner/greet\n"}) == {}
    assert fetched(kit, "go", {**GO_FILES, "vendor/modules.txt": b""}) == {}


@go
def test_a_proxy_that_cannot_be_reached_is_no_fault_of_the_source(kit, monkeypatch):
    monkeypatch.setenv("GOPROXY", "http://127.0.0.1:9")
    with pytest.raises(InfraError, match="go mod vendor"):
        fetched(kit, "go", GO_FILES)


@rust
def test_the_crates_that_a_lock_names_are_fetched(kit):
    found = online(kit, "rust", RUST_FILES)
    assert {b"vendor/registry/itoa-1.0.19/Cargo.toml", b"vendor/registry/itoa-1.0.19/src/lib.rs"} <= set(found)


HOSTILE = {  # what must neither be run nor obeyed while crates are fetched
    ".cargo/config.toml": b'[source.crates-io]\nreplace-with = "evil"\n[source.evil]\nregistry = "http://127.0.0.1:9/"\n'
    b'[build]\nrustc = "/bin/false"\nrustc-wrapper = "/bin/false"\n[net]\noffline = true\n',
    "rust-toolchain.toml": b'[toolchain]\nchannel = "nightly-2000-01-01"\n',
    "build.rs": b'fn main() { panic!("a build script ran") }\n',
}


@rust
def test_settings_toolchain_and_build_script_of_a_rust_source_are_not_obeyed(kit):
    found = online(kit, "rust", {**RUST_FILES, **HOSTILE})
    assert b"vendor/registry/itoa-1.0.19/Cargo.toml" in found


GIT = RUST_FILES["Cargo.lock"].replace(
    b"registry+https://github.com/rust-lang/crates.io-index", b"git+https://forge.example/x#1"
)
OTHER = RUST_FILES["Cargo.lock"].replace(b"rust-lang/crates.io-index", b"evil/index")
MANIFEST = RUST_FILES["Cargo.toml"]


@rust
@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"Cargo.lock": None}, "there is no Cargo.lock"),
        ({"Cargo.lock": GIT}, "which is no public registry"),
        ({"Cargo.lock": OTHER}, "which is no public registry"),
        ({"Cargo.toml": MANIFEST + b'near = {path = "../near"}\n'}, "outside the source"),
        ({"Cargo.toml": MANIFEST + b'[workspace]\nmembers = ["/etc/*"]\n'}, "outside the source"),
        ({"Cargo.toml": MANIFEST + b'[[bin]]\nname = "x"\npath = "../../x.rs"\n'}, "outside the source"),
        ({"Cargo.toml": MANIFEST + b'[patch.crates-io]\nitoa = {path = "/etc"}\n'}, "outside the source"),
    ],
)
def test_a_rust_source_is_refused_that_its_lock_does_not_cover_or_that_reaches_out(kit, changed, says):
    files = {k: v for k, v in {**RUST_FILES, **changed}.items() if v is not None}
    with pytest.raises(BuildRefusedError, match=f"needs_network_build.*{says}"):
        fetched(kit, "rust", files)


@rust
def test_a_lock_that_does_not_fit_its_manifest_is_refused(kit):
    online(kit, "rust", RUST_FILES)
    with pytest.raises(BuildRefusedError, match="needs_network_build: `cargo vendor"):
        fetched(kit, "rust", {**RUST_FILES, "Cargo.toml": MANIFEST.replace(b'itoa = "1"', b'itoa = "2"')})


@rust
def test_a_crate_whose_content_its_lock_denies_is_refused(kit):
    online(kit, "rust", RUST_FILES)
    lock = RUST_FILES["Cargo.lock"].replace(b"3bd1574e", b"3bd1574f")
    with pytest.raises(BuildRefusedError, match="needs_network_build"):
        fetched(kit, "rust", {**RUST_FILES, "Cargo.lock": lock})


@rust
def test_a_rust_source_without_dependencies_needs_no_network(kit):
    manifest = MANIFEST.replace(b'itoa = "1"\n', b"")
    lock = b'version = 3\n\n[[package]]\nname = "greet"\nversion = "1.2.0"\n'
    assert fetched(kit, "rust", {**RUST_FILES, "Cargo.toml": manifest, "Cargo.lock": lock}) == {}
    assert fetched(kit, "rust", {"Cargo.toml": manifest, "src/main.rs": b"fn main() {}\n"}) == {}


@pytest.mark.parametrize(("language", "files"), [("go", GO_FILES), ("rust", RUST_FILES)])
def test_the_manifests_say_what_is_fetched_not_the_spec(kit, language, files):
    with pytest.raises(BuildRefusedError, match="wanted no lines"):
        fetch(kit.tree(files), kit.request(language, spec_build={"fetch": ["go get x"]}))
