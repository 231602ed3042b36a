from __future__ import annotations

import dataclasses
import json
import shutil
import stat
import tarfile
from pathlib import Path

import pytest

from programsmith import cli
from programsmith.bundle.present import CAPS, Present, read_present
from programsmith.bundle.signature import MANIFEST, SIGNATURE
from programsmith.bundle.tree import read_bundle
from programsmith.compiler.verifying import Asked, exit_of
from programsmith.compiler.verifying import lines as lines_of
from programsmith.errors import Exit
from programsmith.plugins import Verify
from programsmith.rulebook.load import Rulebook
from tests.samples.exporting import OTHER, README, SEED, lie, packed, public, told


def header(name: str, **fields) -> bytes:
    member = tarfile.TarInfo(name)
    for key, value in fields.items():
        setattr(member, key, value)
    return member.tobuf(tarfile.GNU_FORMAT)


END = bytes(1024)
HOSTILE = {
    "none.tar": None,
    "text.tar": b"not a tar at all" * 100,
    "empty.tar": b"",
    "escape.tar": header("rot/") + header("rot/../../x") + END,
    "other.tar": header("rot/x") + header("else/x") + END,
    "cut.tar": header("rot/", type=tarfile.DIRTYPE) + header("rot/big", size=9999) + b"short",
    "huge.tar": header("rot/", type=tarfile.DIRTYPE) + header("rot/big", size=1 << 40) + b"short",
    "device.tar": header("rot/", type=tarfile.DIRTYPE) + header("rot/zero", type=tarfile.CHRTYPE, devmajor=1) + END,
    "twice.tar": header("rot/", type=tarfile.DIRTYPE) + 2 * header("rot/a") + END,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_tar_ends_in_a_line(tmp_path, capsys, name):
    if HOSTILE[name] is not None:
        (tmp_path / name).write_bytes(HOSTILE[name])
    code = cli.run(["verify", str(tmp_path / name)])
    said = capsys.readouterr()
    assert code == 3
    assert "bug:" not in said.err
    assert len(said.err.splitlines()) == 1


def test_what_a_tar_holds_beside_files_is_told_by_name(inline, verified, tmp_path):
    with tarfile.open(packed(inline, tmp_path / "rot.tar"), "a") as tar:
        for name, kind in (("zero", tarfile.CHRTYPE), ("fifo", tarfile.FIFOTYPE), ("out", tarfile.SYMTYPE)):
            member = tarfile.TarInfo(f"rot/tests/{name}")
            member.type, member.linkname = kind, "../../../etc/passwd"
            tar.addfile(member)
    code, lines = verified(tmp_path / "rot.tar")
    special = ("nothing", "a device, fifo or socket")
    wanted = {"tests/zero": special, "tests/fifo": special, "tests/out": ("nothing", "a symlink")}
    assert (code, told(lines["files"])) == (1, wanted)


def _loop(folder: Path) -> Path:
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    return folder / "a"


def _huge(folder: Path) -> Path:
    with (folder / "huge").open("wb") as file:
        file.truncate(CAPS.bytes * 4)
    return folder


def _deep(folder: Path) -> Path:
    for _ in range(CAPS.depth + 2):
        folder /= "d"
        folder.mkdir()
    return folder.parents[CAPS.depth]


@pytest.mark.parametrize("make", [_loop, _huge, lambda f: _huge(f) / "huge", _deep, lambda f: Path("/dev/zero")])
def test_a_hostile_path_ends_in_a_line(tmp_path, capsys, make):
    (tmp_path / "place").mkdir()
    assert cli.run(["verify", str(make(tmp_path / "place"))]) == 3
    said = capsys.readouterr().err
    assert "bug:" not in said
    assert len(said.splitlines()) == 1
    assert "Errno" not in said


def test_what_is_not_there_or_no_tar_is_said_with_its_path(tmp_path, capsys):
    (tmp_path / "text").write_bytes(b"x\n")
    for name, why in (("none", "No such file or directory"), ("text", "not a tar: ")):
        assert cli.run(["verify", str(tmp_path / name)]) == 3
        assert capsys.readouterr().err.startswith(
            f"error: {tmp_path / name}: cannot be read as an exported task: {why}"
        )


ODD = (b"", b"[" * 100_000, b"null", b"{}", b"\xff\0", b'{"files":{"a":7},"form":"programsmith manifest 1"}')


@pytest.mark.parametrize(
    "name", [MANIFEST, SIGNATURE, "task.toml", "provenance.json", "tests/plan.json", "tests/seal.json"]
)
def test_files_of_any_form_end_in_lines(inline, name, tmp_path):
    found = read_present(inline)
    for at, text in enumerate(ODD):
        given = {**found.files, name: dataclasses.replace(found.files[name], content=text)}
        (tmp_path / str(at)).mkdir()
        asked = Asked(key=None, secret=None, rules=Rulebook(None).load, run=True)
        said = list(lines_of(Present(files=given, odd={}), asked, tmp_path / str(at)))
        assert exit_of(said) is Exit.ENDED, (text, said)


def test_a_terminal_gets_no_control_character_of_a_task(inline, capsys):
    lie(inline, "notes", ["\x1b[2Jgone\n"])
    assert cli.run(["verify", str(inline)]) == 1
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(("words", "wanted"), [
    ([], "wanted one folder or tar"), (["a", "b"], "wanted one folder or tar"),
    (["."], "wanted an exported task such as dist/NAME"),
])  # fmt: skip
def test_a_wrong_command_is_refused_in_a_line(tmp_path, capsys, monkeypatch, words, wanted):
    monkeypatch.chdir(tmp_path)
    assert cli.run(["verify", *words]) == 3
    assert wanted in capsys.readouterr().err


@pytest.mark.parametrize("given", ["abc", "none/such", "task.toml", "/dev/zero"])
def test_a_key_that_is_none_is_refused_in_a_line(inline, capsys, monkeypatch, given):
    monkeypatch.chdir(inline)
    assert cli.run(["verify", ".", "--key", given]) == 3
    assert f"--key {given}" in capsys.readouterr().err


def test_what_is_looked_at_stays_as_it_is(inline, verified):
    (inline / "tests/plan.json").chmod(0o600)
    before = {p: stat.S_IMODE((inline / p).stat().st_mode) for p in read_bundle(inline)}
    assert verified(inline)[0] == 0
    assert {p: stat.S_IMODE((inline / p).stat().st_mode) for p in read_bundle(inline)} == before


def test_a_task_is_exported_as_one_tar_of_the_same_bytes(shelf, verified, tmp_path, monkeypatch, capsys):
    for name in ("specs", "cache/rot", "dist"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "specs/rot.yaml").write_text("version: 1\n")
    (tmp_path / "cache/rot/verdict.json").write_text('{"outcome": "ship"}')
    monkeypatch.chdir(tmp_path)
    assert cli.run(["export", "spec=rot", "format=tar"]) == 3
    assert "run: programsmith build spec=rot" in capsys.readouterr().err
    task = Path(shutil.copytree(shelf["inline"], tmp_path / "dist/rot"))
    written = []
    for _ in range(2):
        assert cli.run(["export", "spec=rot", "format=tar"]) == 0
        assert capsys.readouterr().out.startswith(f"rot  tar  {tmp_path}/dist/rot.tar  sha256:")
        written.append((tmp_path / "dist/rot.tar").read_bytes())
    assert written[0] == written[1]
    assert verified("dist/rot.tar", "--key", public(SEED))[0] == 0
    (task / README).write_bytes(b"edited")
    assert cli.run(["export", "spec=rot", "format=tar"]) == 3
    assert README in capsys.readouterr().err
    assert cli.run(["export", "spec=rot", "format=zip"]) == 3


def test_the_tar_of_a_draft_lies_beside_it_and_never_over_another_task(shelf, tmp_path, monkeypatch, capsys):
    for name in ("specs", "cache/rot", "dist/drafts"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "specs/rot.yaml").write_text("version: 1\n")
    (tmp_path / "cache/rot/verdict.json").write_text('{"outcome": "draft"}')
    shutil.copytree(shelf["inline"], tmp_path / "dist/drafts/rot")
    monkeypatch.chdir(tmp_path)
    assert cli.run(["export", "spec=rot", "format=tar"]) == 0
    assert capsys.readouterr().out.startswith(f"rot  tar  {tmp_path}/dist/drafts/rot.tar  sha256:")
    assert [path.name for path in (tmp_path / "dist").iterdir()] == ["drafts"]
    (tmp_path / "dist/drafts/rot.tar").unlink()
    (tmp_path / "dist/drafts/rot.tar").mkdir()
    assert cli.run(["export", "spec=rot", "format=tar"]) == 3
    assert "is a folder, the task of another spec" in capsys.readouterr().err


def test_as_a_command_of_doit_it_takes_options_on_either_side_of_the_path(inline, capsys):
    assert Verify().parse_execute([str(inline), "--json", "--key", public(OTHER)]) == 1
    assert json.loads(capsys.readouterr().out)["exit"] == 1
    assert Verify().parse_execute([f"--key={public(SEED)}", str(inline)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"holds: {inline}"
