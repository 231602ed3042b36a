"""What is installed of a harness: packages taken apart, trees named by their content, what is refused."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import shutil
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from programsmith.agents.install import _check, _from_pip, _unpacked
from programsmith.agents.installed import content, everything, installed, keep, pointer, remove, row_digest, tree_name
from programsmith.agents.python_tree import interpreter
from programsmith.cli import run
from programsmith.errors import InputError, PrerequisiteError
from programsmith.rulebook.load import Rulebook

ROWS = Rulebook(None).load("agents")["agents"]


def packed(path: Path, *members: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size) if member.isfile() else None)
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, mode: int = 0o644, target: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.mode, made.linkname, made.size = kind, mode, target, 3 if kind == tarfile.REGTYPE else 0
    return made


def test_a_package_is_files_with_plain_modes(tmp_path: Path) -> None:
    path = packed(tmp_path / "p.tgz", member("package/a/run", mode=0o4777), member("package/b"))
    _unpacked(path, tmp_path / "tree")
    found = {str(p.relative_to(tmp_path / "tree")): p.stat().st_mode & 0o7777 for p in (tmp_path / "tree").rglob("*")}
    assert {"a/run": 0o755, "b": 0o644}.items() <= found.items()


@pytest.mark.parametrize(
    "odd",
    [
        member("package/../../x"),
        member("/package/x"),
        member("other/x"),
        member("package/x", tarfile.SYMTYPE, target="/etc/passwd"),
        member("package/x", tarfile.LNKTYPE, target="package/b"),
        member("package/x", tarfile.FIFOTYPE),
    ],
    ids=["up", "absolute", "elsewhere", "link", "hard link", "fifo"],
)
def test_a_package_with_anything_else_is_refused(tmp_path: Path, odd: tarfile.TarInfo) -> None:
    with pytest.raises(InputError, match="wanted files below package/"):
        _unpacked(packed(tmp_path / "p.tgz", odd), tmp_path / "tree")
    assert not (tmp_path / "x").exists()


def test_a_program_is_executed_and_read_by_nobody_else(tmp_path: Path) -> None:
    path = tmp_path / "p.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("claude", "addon.node", "script"):
            made = member(f"package/{name}", mode=0o755)
            raw = b"#!/bin/sh\n" if name == "script" else b"\x7fELF..."
            made.size = len(raw)
            archive.addfile(made, io.BytesIO(raw))
    _unpacked(path, tmp_path / "tree")
    modes = {p.name: p.stat().st_mode & 0o777 for p in (tmp_path / "tree").iterdir()}
    assert modes == {"claude": 0o711, "addon.node": 0o755, "script": 0o755}


def test_a_tree_is_named_by_paths_modes_links_and_content(tmp_path: Path) -> None:
    seen = {content(tmp_path)}
    file = tmp_path / "a"
    file.write_text("x")
    seen.add(content(tmp_path))
    file.write_text("y")
    seen.add(content(tmp_path))
    file.chmod(0o755)
    seen.add(content(tmp_path))
    file.rename(tmp_path / "b")
    seen.add(content(tmp_path))
    os.symlink("b", tmp_path / "c")
    seen.add(content(tmp_path))
    os.utime(tmp_path / "b", (1, 1))
    assert len(seen) == 6
    assert content(tmp_path) in seen, "times are no part of it"


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shared folder in which two rows of codex are one tree, and an older one another."""
    monkeypatch.setattr("programsmith.agents.installed.shared_root", lambda: tmp_path)
    (tmp_path / "agents").mkdir()
    row = ROWS["codex"]
    for number, one in enumerate((row, {**row, "speaks": ["chat"]}, {**row, "version": "0.1.0"})):
        made = tmp_path / "made"
        (made / "bin").mkdir(parents=True)
        (made / "bin" / "codex").write_text("older" if number == 2 else "codex")
        tree = made.with_name(tree_name(made))
        shutil.rmtree(made) if tree.exists() else made.rename(tree)
        pointer("codex", one).write_text(json.dumps({"tree": tree.name}))
    return tmp_path


@pytest.mark.parametrize("change", ["content", "mode", "more", "less"])
def test_a_tree_that_changed_since_it_was_installed_is_refused(shared: Path, change: str) -> None:
    tree = installed("codex", ROWS["codex"])
    file = tree / "bin" / "codex"
    assert installed("codex", ROWS["codex"]) == tree, "by what the file system tells"
    told = file.stat()
    match change:
        case "content":
            file.write_text("xedoc")
            os.utime(file, ns=(told.st_atime_ns, told.st_mtime_ns))
        case "mode":
            file.chmod(0o700)
        case "more":
            (tree / "more").touch()
        case _:
            file.unlink()
    with pytest.raises(PrerequisiteError, match=r"files of it changed; run: programsmith agents install codex@0\.171"):
        installed("codex", ROWS["codex"])


def test_a_tree_that_was_only_touched_is_read_again_and_taken(shared: Path) -> None:
    tree = installed("codex", ROWS["codex"])
    os.utime(tree / "bin" / "codex", (1, 1))
    assert installed("codex", ROWS["codex"]) == tree


def test_trials_that_begin_together_look_at_a_tree_at_once(shared: Path) -> None:
    tree = shared / "tree"
    tree.mkdir()
    (tree / "file").write_text("x")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(keep, [tree] * 400))
    assert [path.name for path in (shared / "agents").iterdir() if path.name.startswith("tree")] == ["tree.seen"]


def test_a_tree_is_listed_and_removed_with_the_last_that_is_it(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree, older = installed("codex", ROWS["codex"]), installed("codex", {**ROWS["codex"], "version": "0.1.0"})
    assert run(["agents", "list"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["codex@0.1.0", "0", "MB", str(older)],
        ["codex@0.171.0", "0", "MB", str(tree)],
    ]
    remove(next(here for here in everything() if here.tree == tree))
    assert tree.is_dir()
    assert run(["agents", "remove", "codex@0.171.0"]) == 0
    assert (tree.exists(), older.is_dir(), [here.tree for here in everything()]) == (False, True, [older])
    assert run(["agents", "remove", "codex"]) == 0
    assert sorted(str(p.relative_to(shared)) for p in shared.rglob("*")) == ["agents"]


def test_a_package_of_another_content_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "p.tgz", member("package/b"))
    sum_of = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
    _check(path, "codex@1", sum_of)
    _check(path, "codex@1", None)
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(InputError, match=f"codex@1: wanted the package of SHA-512 {re.escape(sum_of)}, got "):
        _check(path, "codex@1", sum_of)


@pytest.mark.parametrize("name", ROWS)
def test_every_package_is_named_with_its_content(name: str) -> None:
    row = ROWS[name]
    machines = set(Rulebook(None).load("agents")["arches"].values())
    assert all(set(package["sha512"]) == machines for package in row.get("npm", ()))
    assert "pip" not in row or f"{row['pip']}=={row['version']}" in row["pins"]


def test_without_pip_it_is_said_how_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("programsmith.agents.install.importlib.util.find_spec", lambda _: None)
    with pytest.raises(PrerequisiteError, match=r"has none; run: .* -m ensurepip, or: apt-get install -y python3-pip"):
        _from_pip(ROWS["mini-swe-agent"], tmp_path, tmp_path)


def test_another_version_or_pin_is_another_thing() -> None:
    row = ROWS["mini-swe-agent"]
    others = [{**row, "version": "0.0.1"}, {**row, "pins": {**row["pins"], "x==1": ["0" * 64]}}]
    assert len({row_digest(one) for one in [row, *others]}) == 3
    assert len({pointer("mini-swe-agent", one) for one in [row, *others]}) == 3


@pytest.mark.parametrize("name", ROWS)
def test_what_is_absent_is_named_with_its_command(name: str) -> None:
    row = {**ROWS[name], "version": "0.0.1"}
    with pytest.raises(PrerequisiteError, match=f"run: programsmith agents install {name}@0.0.1"):
        installed(name, row)


def test_a_tree_without_its_interpreter_is_said(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match="install it again"):
        interpreter(tmp_path, "/opt/agent")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "wanted `install NAME@VERSION …`, `remove NAME …` or `list`, got nothing"),
        (("install",), "wanted `install NAME@VERSION …`"),
        (("list", "codex"), "got list codex"),
        (("remove", "codx"), "codx: wanted one that is installed"),
        (("install", "codx"), "did you mean `codex`?"),
        (("install", "mini-swe-agent@1.0.0"), "for which rules/agents.yaml pins what it needs, got 1.0.0"),
    ],
)
def test_wrong_words_are_one_line(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["agents", *words]) == 3
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
