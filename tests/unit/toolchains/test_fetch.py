"""Dependencies come as wheels from the package client; nothing of theirs or of the source is run to get them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from programsmith.errors import InfraError
from programsmith.toolchains.build import build_source
from programsmith.toolchains.fetch import CLIENTS, fetch
from programsmith.toolchains.fetch_pip import PLAIN
from programsmith.toolchains.python_requirements import requirements, requirements_of_tests
from programsmith.toolchains.recipe import BuildRefusedError


def wheel(folder: Path, name: str, files: dict[str, str]) -> None:
    """A wheel with the fewest files that the client accepts."""
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path, monkeypatch) -> Path:
    """A folder of wheels in place of the index."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def source(kit, dependencies: str):
    text = kit.python["pyproject.toml"] + f"dependencies = {dependencies}\n".encode()
    text = text.replace(b"[project.scripts]\ngreet", b"").replace(b' = "greet.cli:main"\n', b"", 1)
    return kit.tree({**kit.python, "pyproject.toml": text})


def test_a_declared_dependency_is_installed_beside_the_program(kit, index):
    wheel(index, "words", {"words.py": "HELLO = 'hello'\n", "../evil.py": "", "/abs.py": ""})
    built = build_source(source(kit, '["words>=1"]'), kit.request("python"))
    paths = {e.path for e in built.install}
    assert b"vendor/words.py" in paths
    assert b"vendor/words-1.0.dist-info/METADATA" in paths
    assert not any(b"evil" in p or b"abs.py" in p for p in paths)


def test_the_spec_may_pin_what_is_fetched(kit, index):
    wheel(index, "words", {"words.py": ""})
    request = kit.request("python", spec_build={"fetch": ["pip download words==1.0"]})
    assert b"vendor/words.py" in {e.path for e in fetch(kit.tree(kit.python), request)}


@pytest.mark.parametrize(
    "dependency", ["words @ https://forge.example/words.tar.gz", "./words", "git+https://forge.example/words", "--pre"]
)
def test_what_is_no_plain_requirement_would_run_code_and_is_refused(kit, index, dependency):
    with pytest.raises(BuildRefusedError, match="needs_network_build"):
        fetch(source(kit, f'["{dependency}"]'), kit.request("python"))


def test_a_dependency_without_a_wheel_is_refused(kit, index):
    with pytest.raises(BuildRefusedError, match="needs_network_build: words cannot be had as wheels alone"):
        fetch(source(kit, '["words"]'), kit.request("python"))


def test_an_index_that_cannot_be_reached_is_no_fault_of_the_source(kit, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(InfraError, match="fetch of words"):
        fetch(source(kit, '["words"]'), kit.request("python"))


@pytest.mark.parametrize("line", ["pip install words", "curl https://forge.example", "pip download --pre words"])
def test_fetch_lines_are_downloads_without_options(kit, line):
    with pytest.raises(BuildRefusedError, match="wanted `pip download NAME==VERSION"):
        fetch(kit.tree(kit.python), kit.request("python", spec_build={"fetch": [line]}))


def test_a_language_without_a_fetch_step_refuses_fetch_lines(kit):
    with pytest.raises(BuildRefusedError, match="c has no fetch step"):
        fetch(kit.tree(kit.c), kit.request("c", spec_build={"fetch": ["pip download words"]}))


def test_requirements_are_read_from_the_first_file_that_states_them(kit):
    cfg = b"[options]\ninstall_requires =\n    words>=1\n    more\n"
    plain = b"words==1.0  # pinned\n\n# comment\n"
    assert list(requirements(kit.tree({"setup.cfg": cfg, "requirements.txt": b"other\n"}))) == ["words>=1", "more"]
    assert list(requirements(kit.tree({"requirements.txt": plain}))) == ["words==1.0"]
    assert list(requirements(kit.tree({"pyproject.toml": b"[broken"}))) == []


def test_a_setup_py_is_read_and_not_run(kit):
    script = b"from setuptools import setup\nraise SystemExit\nsetup(install_requires=['words>=1', 'more'])\n"
    assert list(requirements(kit.tree({"setup.py": script, "requirements.txt": b"other\n"}))) == ["words>=1", "more"]
    assert list(requirements(kit.tree({"setup.py": script.replace(b"['w", b"read() + ['w")}))) == []


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ('"^1.2.3"', "words>=1.2.3,<2"),
        ('"^0.2"', "words>=0.2,<0.3"),
        ('"^0.0.3"', "words>=0.0.3,<0.0.4"),
        ('"^2"', "words>=2,<3"),
        ('"~1.2.3"', "words>=1.2.3,<1.3"),
        ('"~1"', "words>=1,<2"),
        ('"1.2.*"', "words==1.2.*"),
        ('"1.2"', "words==1.2"),
        ('"*"', "words"),
        ('">=1.2,<3 || >=4, !=4.1"', "words>=4,!=4.1"),
        ('">=8.4 <10.0"', "words>=8.4,<10.0"),
        ('{version = "^7.5.0", extras = ["toml"]}', "words[toml]>=7.5.0,<8"),
        ('{version = "*", python = "<3.11"}', "words; python_version < '3.11'"),
        ('{version = "1", markers = "os_name == \'nt\'"}', "words==1; (os_name == 'nt')"),
        ('{git = "https://forge.example/words"}', "words @ https://forge.example/words"),
        ('{version = "1", optional = true}', None),
        ('"=1.2"', "words==1.2"),
        ('{version = "1", python = "3.11"}', "words==1; python_version == '3.11'"),
        ('{version = "1", python = ">=3.9.1 || 2.7"}', "words==1"),
        ('{version = "1", source = "own"}', "words @ own"),
        ('"^1!2.0"', "words @ ^1!2.0"),
        pytest.param('"^' + "9" * 5000 + '"', "words @ ^" + "9" * 99, id="digits"),
        pytest.param('">=1' + " " * 200_000 + '<2"', "words>=1,<2", id="spaces"),
    ],
)
def test_poetrys_notation_says_what_pips_says(kit, written, wanted):
    text = f'[tool.poetry.dependencies]\npython = "^3.10"\nwords = {written}\n'
    assert list(requirements(kit.tree({"pyproject.toml": text.encode()}))) == ([] if wanted is None else [wanted])


def test_what_no_reader_reads_states_nothing(kit):
    assert list(requirements(kit.tree({"pyproject.toml": b"a = " + b"9" * 10_000}))) == []


@pytest.mark.parametrize("manifest", ["requirements.txt", "setup.cfg"])
def test_a_long_run_of_spaces_costs_no_time(kit, manifest):
    line = b"words" + b" " * 500_000 + b">= 1"
    content = b"[options]\ninstall_requires =\n  " + line + b"\n" if manifest == "setup.cfg" else line
    (found,) = requirements(kit.tree({manifest: content}))
    assert found == "words >= 1"
    assert PLAIN.match(found)


def test_requirements_of_tests_are_those_that_manifests_and_lists_name_so(kit):
    text = b"""
[project.optional-dependencies]
test = ["one"]
docs = ["no"]
[dependency-groups]
dev = ["two", {include-group = "test"}]
[tool.poetry.group.testing.dependencies]
three = "^1"
[tool.poetry.dev-dependencies]
four = "*"
"""
    found = kit.tree({"pyproject.toml": text, "requirements-dev.txt": b"-r other.txt\nfive  # why\n"})
    assert list(requirements_of_tests(found)) == ["one", "two", "three>=1,<2", "four", "five"]


def test_every_client_that_the_rule_names_has_its_plug(kit):
    assert {tc.fetch.command[0] for tc in kit.known.values() if tc.fetch} == set(CLIENTS)
