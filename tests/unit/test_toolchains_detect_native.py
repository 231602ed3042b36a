"""What Go and Rust sources build, as their manifests and package clauses say, and which files a command consists of."""

from __future__ import annotations

import pytest

from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.origin import RefusedError
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.detect import detect
from programsmith.toolchains.scope import scope_of

MAIN = "package main\n\nfunc main() {\n}\n"
RUN = "fn main() {}\n"


def tree(files):
    return SourceTree(FileEntry(n.encode(), "file", 0o644, c.encode()) for n, c in files.items())


@pytest.fixture
def tools(kit):
    rule = kit.rule("toolchains")

    def run(files):
        return [(e.tool, e.kind, e.target) for e in detect(tree(files), rule).entry_points]

    return run


def go(found):
    return [(tool, "go-command", at) for tool, at in found]


@pytest.mark.parametrize(
    ("module", "tool"),
    [
        ("forge.example/owner/toy", "toy"),
        ("forge.example/owner/toy/v2", "toy"),
        ("gopkg.example/toy.v3", "toy"),
        ("toy", "toy"),
        ('"forge.example/owner/toy"', "toy"),
    ],
)
def test_a_go_command_at_the_root_has_the_modules_name(tools, module, tool):
    assert tools({"go.mod": f"module {module}\n", "main.go": MAIN}) == go([(tool, ".")])


def test_every_folder_of_a_go_module_that_is_a_command_is_one(tools):
    files = {
        "go.mod": "module forge.example/owner/toy\n",
        "lib.go": "package toy\n",
        "cmd/toy/main.go": "// Command toy.\n\n/* long\n */\npackage main\n\nfunc main() {}\n",
        "cmd/other/run.go": MAIN,
        "cmd/other/more.go": "package main\n",
        "cmd/library/lib.go": "package library\n\n// func main() {}\n",
        "cmd/nothing/x.go": "package main\n\nfunc Main() {}\n",
    }
    assert tools(files) == go([("other", "cmd/other"), ("toy", "cmd/toy")])


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("gen/main.go", "//go:build ignore\n\n" + MAIN),
        ("gen/main.go", "// +build ignore\n\n" + MAIN),
        ("cmd/win/main_windows.go", MAIN),
        ("cmd/win/main.go", "//go:build windows || darwin\n\n" + MAIN),
        ("cmd/toy/main_test.go", MAIN),
        ("internal/gen/main.go", MAIN),
        ("examples/one/main.go", MAIN),
        ("testdata/one/main.go", MAIN),
        ("_old/main.go", MAIN),
        ("tools/lint/main.go", MAIN),
    ],
)
def test_what_no_plain_build_makes_or_installs_is_no_go_command(tools, path, text):
    files = {"go.mod": "module forge.example/owner/toy\n", "main.go": MAIN, path: text}
    assert tools(files) == go([("toy", ".")])


def test_a_constraint_that_linux_meets_leaves_a_go_command(tools):
    text = "//go:build linux || windows\n\n" + MAIN
    assert tools({"go.mod": "module a/toy\n", "main.go": text}) == go([("toy", ".")])
    text = "//go:build !windows\n\n" + MAIN
    assert tools({"go.mod": "module a/toy\n", "main.go": text}) == go([("toy", ".")])


def test_a_nested_go_module_counts_where_a_workspace_uses_it(tools):
    files = {"go.mod": "module a/toy\n", "main.go": MAIN, "sub/go.mod": "module a/sub\n", "sub/main.go": MAIN}
    assert tools(files) == go([("toy", ".")])
    assert tools({**files, "go.work": "go 1.22\n\nuse (\n\t.\n\t./sub\n)\n"}) == go([("toy", "."), ("sub", "sub")])


def rust(found):
    return [(tool, "rust-binary", at) for tool, at in found]


def package(name, rest=""):
    return f'[package]\nname = "{name}"\nversion = "1.0.0"\n{rest}'


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"Cargo.toml": package("toy"), "src/main.rs": RUN}, [("toy", ".")]),
        (
            {"Cargo.toml": package("toy", '[[bin]]\nname = "t"\npath = "src/main.rs"\n'), "src/main.rs": RUN},
            [("t", ".")],
        ),
        ({"Cargo.toml": package("toy", '[[bin]]\nname = "t"\npath = "app/x.rs"\n'), "app/x.rs": RUN}, [("t", ".")]),
        (
            {"Cargo.toml": package("toy"), "src/lib.rs": "", "src/bin/a.rs": RUN, "src/bin/b/main.rs": RUN},
            [("a", "."), ("b", ".")],
        ),
        (
            {
                "Cargo.toml": package("toy", '[features]\ndefault = ["cli"]\ncli = ["x"]\nx = []\ny = []\n')
                + '[[bin]]\nname = "on"\npath = "on.rs"\nrequired-features = ["x"]\n'
                + '[[bin]]\nname = "off"\npath = "off.rs"\nrequired-features = ["y"]\n',
                "on.rs": RUN,
                "off.rs": RUN,
            },
            [("on", ".")],
        ),
        (
            {
                "Cargo.toml": '[workspace]\nmembers = ["crates/*", "xtask"]\nexclude = ["crates/old"]\n',
                "crates/toy/Cargo.toml": package("toy"),
                "crates/toy/src/main.rs": RUN,
                "crates/old/Cargo.toml": package("old"),
                "crates/old/src/main.rs": RUN,
                "crates/deep/er/Cargo.toml": package("er"),
                "crates/deep/er/src/main.rs": RUN,
                "xtask/Cargo.toml": package("xtask"),
                "xtask/src/main.rs": RUN,
                "alone/Cargo.toml": package("alone"),
                "alone/src/main.rs": RUN,
            },
            [("toy", "crates/toy")],
        ),
    ],
)
def test_rust_commands_are_the_binaries_that_cargo_builds(tools, files, found):
    assert tools(files) == rust(found)


@pytest.mark.parametrize(
    "files",
    [
        {"Cargo.toml": package("toy"), "src/lib.rs": "pub fn f() {}\n"},
        {"Cargo.toml": package("toy", "autobins = false\n"), "src/lib.rs": "", "src/bin/a.rs": RUN},
        {"Cargo.toml": "[package\n", "src/main.rs": RUN},
        {"Cargo.toml": package("toy", '[[bin]]\nname = "t"\npath = "absent.rs"\n'), "src/lib.rs": "pub fn f() {}\n"},
        {"go.mod": "module a/toy\n", "toy.go": "package toy\n"},
    ],
)
def test_a_library_has_no_command(tools, files):
    with pytest.raises(RefusedError, match="library: nothing in it declares or is a command"):
        tools(files)


def test_the_scope_of_a_go_command_is_what_it_imports(kit):
    files = {
        "go.mod": "module a/toy\n",
        "main.go": 'package main\n\nimport (\n\t"fmt"\n\tx "a/toy/used"\n)\n\nfunc main() {\n}\n',
        "used/used.go": 'package used\n\nimport "a/toy/deep"\n',
        "used/used_test.go": "package used\n",
        "used/used_windows.go": "package used\n",
        "deep/deep.go": "package deep\n",
        "unused/unused.go": "package unused\n",
    }
    entry = detect(tree(files), kit.rule("toolchains")).entry_points[0]
    assert scope_of(tree(files), entry, "go", [".go"]).files == (b"deep/deep.go", b"main.go", b"used/used.go")


def test_the_scope_of_a_rust_command_is_its_package_and_those_it_depends_on_by_path(kit):
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["*"]\n[workspace.dependencies]\nlib = {path = "lib"}\n',
        "app/Cargo.toml": package("app", "[dependencies]\nlib = {workspace = true}\n"),
        "app/src/main.rs": RUN,
        "app/build.rs": RUN,
        "app/tests/t.rs": RUN,
        "lib/Cargo.toml": package("lib"),
        "lib/src/lib.rs": "",
        "other/Cargo.toml": package("other"),
        "other/src/lib.rs": "",
    }
    entry = detect(tree(files), kit.rule("toolchains")).entry_points[0]
    assert scope_of(tree(files), entry, "rust", [".rs"]).files == (b"app/src/main.rs", b"lib/src/lib.rs")
