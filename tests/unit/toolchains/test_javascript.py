"""JavaScript and TypeScript as source: what is found, what is fetched, what is refused, how the tree starts."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from programsmith.errors import InfraError
from programsmith.payload.verifier.environment import ORACLE, case_env
from programsmith.payload.verifier.launcher import Mount, Request
from programsmith.payload.verifier.model import Limits
from programsmith.payload.verifier.tree import write_tree
from programsmith.records.lock import EntryPoint
from programsmith.sandboxes import open_launcher
from programsmith.sources.origin import RefusedError
from programsmith.toolchains.build import build_source
from programsmith.toolchains.detect import detect
from programsmith.toolchains.fetch_npm import fetch_npm, owner
from programsmith.toolchains.javascript_manifest import oldest_node
from programsmith.toolchains.recipe import BuildRefusedError
from programsmith.toolchains.views import run_view
from tests.unit.toolchains.npm_registry import integrity, package, registry

CLI = b"#!/usr/bin/env node\nconst { hello } = require('./lib/hello');\nconsole.log(hello(process.argv[2]));\n"
HELLO = b"exports.hello = (name) => `hello ${name}`;\n"
LEAVES_MARK = {"install": "touch /tmp/was-here", "preinstall": "exit 1", "postinstall": "exit 1"}


def entries(files, kit):
    return [(e.tool, e.kind, e.target) for e in detect(kit.tree(files), kit.rule).entry_points]


def manifest(**table):
    return {"package.json": json.dumps({"name": "greet", "version": "1.2.0", **table}).encode()}


@pytest.fixture
def node():
    if not shutil.which("node"):
        pytest.skip("node is absent; run: apt-get install -y nodejs")


@pytest.fixture
def npm(node):
    if not shutil.which("npm"):
        pytest.skip("npm is absent; run: apt-get install -y npm")


@pytest.fixture
def asked(kit):
    """A request to build the tool greet."""
    return lambda kind="node-script", target="cli.js", **more: kit.request(
        "javascript", entry=EntryPoint(tool="greet", kind=kind, target=target, how="package.json bin"), **more
    )


IN_SOURCE = {"cli.js": CLI, "lib/hello.js": HELLO}
SCRIPT = ("greet", "node-script", "cli.js")


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({**manifest(bin="./cli.js"), **IN_SOURCE}, SCRIPT),
        ({**manifest(bin={"greet": "cli.js", "b": "../x", "c;d": "cli.js"}), **IN_SOURCE}, SCRIPT),
        ({**manifest(bin="cli.js", scripts={"build": "webpack"}), **IN_SOURCE}, SCRIPT),
        ({**manifest(bin="cli.js"), "tsconfig.json": b"{}", "cli.js": CLI}, ("greet", "node-built", "cli.js")),
        (
            {**manifest(bin="dist/cli.js"), "tsconfig.json": b"{}", "src/cli.ts": b"export {};\n"},
            ("greet", "node-built", "dist/cli.js"),
        ),
        ({"tool.js": CLI, "lib/hello.js": HELLO}, ("tool", "node-script", "tool.js")),
        ({**manifest(), "greet": CLI, "test/run": CLI, "lib/hello.js": HELLO}, ("greet", "node-script", "greet")),
    ],
)
def test_commands_are_found(kit, files, found):
    assert entries(files, kit) == [found]


@pytest.mark.parametrize("text", [b"[", b"[]", b'{"bin": 3}', b"\xff", b'{"bin": "gone.js", "name": "greet"}'])
def test_a_package_without_a_command_is_a_library(kit, text):
    with pytest.raises(RefusedError, match="a javascript library"):
        detect(kit.tree({"package.json": text, "index.js": HELLO}), kit.rule)


@pytest.mark.parametrize(
    ("asked", "lowest"),
    [(">=18", "18"), ("^16.13.0 || >=18.2", "16.13.0"), (">= 20 <23", "20"), ("<21", ""), ("*", ""), ("v22.x", "22")],
)
def test_the_oldest_node_that_is_admitted(asked, lowest):
    assert oldest_node({"engines": {"node": asked}}) == lowest


def test_a_source_for_a_newer_node_is_refused(kit, node, asked):
    with pytest.raises(BuildRefusedError, match=r"package\.json engines wants node 99") as refused:
        build_source(kit.tree({**manifest(engines={"node": ">=99"}), "cli.js": CLI}), asked())
    assert refused.value.word == "toolchain_too_old"


@pytest.mark.parametrize(
    "spec",
    ["git+https://forge.example/x.git", "github:o/x", "o/x", "file:../x", "link:../x", "https://forge.example/x.tgz",
     "workspace:*", "../x", "npm:../x@1", "x.tgz", ".", "npm:@s/x@git:y"],
)  # fmt: skip
@pytest.mark.parametrize("group", ["dependencies", "optionalDependencies", "peerDependencies"])
def test_a_dependency_from_elsewhere_is_refused_by_name(kit, asked, group, spec):
    with pytest.raises(BuildRefusedError, match=f"needs_network_build: {group}: evil: '"):
        fetch_npm(kit.tree({**manifest(**{group: {"evil": spec}}), "cli.js": CLI}), asked())


LOCKED = {"version": "1.0.0", "integrity": "sha512-x"}


@pytest.mark.parametrize(
    ("path", "entry", "why"),
    [
        ("node_modules/evil", {**LOCKED, "resolved": "git+ssh://git@forge.example/x.git#0"}, "comes from 'git"),
        ("node_modules/evil", {**LOCKED, "resolved": "https://forge.example/evil.tgz"}, "comes from 'https"),
        ("node_modules/evil", {**LOCKED, "resolved": "file:../x"}, "comes from 'file"),
        ("node_modules/evil", {"resolved": "packages/evil", "link": True}, "comes from 'packages"),
        ("packages/evil", LOCKED, "lies in the repository"),
        ("node_modules/../../evil", LOCKED, "lies in the repository"),
        ("node_modules/evil", {"version": "1.0.0"}, "has no digest"),
        ("node_modules/evil", {**LOCKED, "version": "git+https://forge.example/x"}, "is no range"),
        ("node_modules/evil", {**LOCKED, "dependencies": {"worse": "github:o/x"}}, "worse: 'github:o/x' is no range"),
    ],
)
def test_a_lock_that_leads_elsewhere_is_refused_by_name(kit, asked, path, entry, why):
    lock = {"lockfileVersion": 3, "packages": {"": {}, path: entry}}
    files = {**manifest(dependencies={"evil": "^1.0.0"}), "package-lock.json": json.dumps(lock).encode(), "cli.js": CLI}
    with pytest.raises(BuildRefusedError, match=f"needs_network_build: .*{why}"):
        fetch_npm(kit.tree(files), asked())


def test_files_belong_to_the_innermost_package():
    assert owner("node_modules/a/node_modules/@s/b/x/y.js") == "node_modules/a/node_modules/@s/b"
    assert owner("node_modules/a/index.js") == "node_modules/a"


def test_fetched_packages_run_nothing_and_no_file_of_the_source_steers_the_client(
    kit, npm, asked, tmp_path, monkeypatch
):
    mark = tmp_path / "mark"
    runs = dict.fromkeys(LEAVES_MARK, f"touch {mark}")
    words = package("words", {"index.js": "module.exports = 'hi';", "index.d.ts": ""}, scripts=runs, bin="index.js")
    types = package("types", {"index.js": "1;"}, scripts=runs)
    lock = {
        "lockfileVersion": 3,
        "packages": {
            "": {},
            "node_modules/words": {
                "version": "1.0.0",
                "resolved": "https://elsewhere.example/words/-/words-1.0.0.tgz",
                "integrity": integrity(words[1]),
                "hasInstallScript": True,
                "bin": {"words": "index.js"},
            },
            "node_modules/types": {"version": "1.0.0", "integrity": integrity(types[1]), "dev": True},
        },
    }
    files = {
        **manifest(scripts=runs, dependencies={"words": "^1.0.0"}, devDependencies={"types": "1.0.0"}),
        "package-lock.json": json.dumps(lock).encode(),
        ".npmrc": b"registry=http://127.0.0.1:9/\nignore-scripts=false\nscript-shell=/bin/false\n",
        "cli.js": CLI,
    }
    with registry(words, types) as address:
        monkeypatch.setenv("npm_config_registry", address)
        run = {e.path for e in fetch_npm(kit.tree(files), asked())}
        build = {e.path for e in fetch_npm(kit.tree(files), asked(kind="node-built"))}
    assert {p for p in run if p.startswith(b"vendor/")} == {
        b"vendor/node_modules/words/index.js",
        b"vendor/node_modules/words/package.json",
    }
    assert not any(b"types" in p for p in run)
    assert {b"build/node_modules/types/index.js", b"build/node_modules/.bin/words"} <= build
    assert not mark.exists()


@pytest.mark.parametrize(
    ("change", "why"),
    [({"integrity": integrity(b"another")}, "EINTEGRITY"), ({"name": "gone"}, "E404")],
)  # fmt: skip
def test_what_the_registry_has_not_as_locked_is_refused(kit, npm, asked, monkeypatch, change, why):
    words = package("words", {"index.js": ""})
    name = change.get("name", "words")
    entry = {"version": "1.0.0", "integrity": change.get("integrity", integrity(words[1]))}
    lock = {"lockfileVersion": 3, "packages": {"": {}, f"node_modules/{name}": entry}}
    files = {**manifest(dependencies={name: "1.0.0"}), "package-lock.json": json.dumps(lock).encode(), "cli.js": CLI}
    with registry(words) as address:
        monkeypatch.setenv("npm_config_registry", address)
        with pytest.raises(BuildRefusedError, match=why):
            fetch_npm(kit.tree(files), asked())


def test_a_registry_that_cannot_be_reached_is_no_fault_of_the_source(kit, npm, asked, monkeypatch):
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    with pytest.raises(InfraError, match="ECONNREFUSED"):
        fetch_npm(kit.tree({**manifest(dependencies={"words": "1.0.0"}), "cli.js": CLI}), asked())


def test_a_package_that_is_compiled_when_it_is_installed_is_refused(kit, npm, asked, monkeypatch):
    with registry(package("words", {"index.js": "", "binding.gyp": "{}"})) as address:
        monkeypatch.setenv("npm_config_registry", address)
        with pytest.raises(BuildRefusedError, match="needs_network_build: node_modules/words is compiled"):
            fetch_npm(kit.tree({**manifest(dependencies={"words": "1.0.0"}), "cli.js": CLI}), asked())


@pytest.fixture
def call(tmp_path, kit):
    """Build, show the tree, start the program with words: its result."""

    def started(files, request, *words):
        built = build_source(kit.tree(files), request)
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        write_tree(os.fspath(folder), built.install)
        launcher = open_launcher(run_view(request.toolchain))
        try:
            return launcher.run(
                Request(
                    program=built.program,
                    argv=(b"greet", *words),
                    env=case_env(),
                    limits=Limits(**kit.limits["capture"]),
                    mounts=(Mount(source=os.fspath(folder), target=ORACLE),),
                )
            )
        finally:
            launcher.close()

    return started


def test_a_command_starts_under_its_name_as_the_main_module_of_its_package(kit, node, asked, call):
    script = (
        b"#!/usr/bin/env node\nconst { hello } = require('./lib/hello');\nconst path = require('path');\n"
        b"if (require.main === module) console.log(hello(path.basename(process.argv[1])), process.argv.slice(2));\n"
        b"console.log(process.env.NODE_OPTIONS, typeof WebAssembly);\n"
    )
    files = {**manifest(bin="cli.js"), "cli.js": script, "lib/hello.js": HELLO}
    result = call(files, asked(), b"a b")
    assert (result.exit_code, result.stdout, result.stderr) == (0, b"hello greet [ 'a b' ]\nundefined undefined\n", b"")


def test_a_build_runs_the_scripts_of_the_package_offline(kit, node, asked, call):
    make = (
        b"const fs = require('fs'), http = require('http');\n"
        b"http.get('http://127.0.0.1:9/').on('error', (e) => {\n"
        b"  fs.mkdirSync('dist');\n"
        b"  fs.writeFileSync('dist/cli.mjs', `console.log('made', '${e.code !== undefined}');`);\n});\n"
    )
    scripts = {
        "prebuild": "echo first > order",
        "build": "npm run -s really -- --x",
        "really": "grep first order && node make.js",
    }
    files = {
        **manifest(bin="dist/cli.mjs", type="module", scripts=scripts),
        "make.cjs": make,
        "make.js": b"import './make.cjs';\n",
    }
    result = call(files, asked(kind="node-built", target="dist/cli.mjs"))
    assert (result.exit_code, result.stdout, result.stderr) == (0, b"made true\n", b"")


def test_a_build_that_does_not_make_the_command_is_refused(kit, node, asked):
    files = {**manifest(bin="dist/cli.js", scripts={"build": "true"}), "x.js": b"1;\n"}
    with pytest.raises(BuildRefusedError, match=r"does not make dist/cli\.js"):
        build_source(kit.tree(files), asked(kind="node-built", target="dist/cli.js"))


def test_two_builds_are_equal_and_another_path_does_not_show(kit, node, asked):
    files = {**manifest(bin="cli.js"), "cli.js": CLI, "lib/hello.js": HELLO, "test/x.js": b"1;\n"}
    one, two = (build_source(kit.tree(files), asked()).install for _ in range(2))
    assert one == two
    assert not any(b"test" in e.path for e in one)
