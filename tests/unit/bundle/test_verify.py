from __future__ import annotations

import dataclasses
import json
import os
import shutil
import stat
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from programsmith import cli
from programsmith.blocks import create, export
from programsmith.bundle.harbor import dump_toml, task_digest
from programsmith.bundle.label import belongs, unlabelled
from programsmith.bundle.manifest import digests
from programsmith.bundle.present import CAPS, Present, read_present
from programsmith.bundle.signature import MANIFEST, SIGNATURE, manifest, read_manifest, signature
from programsmith.bundle.tree import read_bundle
from programsmith.compiler.verbs.verify import Verify
from programsmith.compiler.verifying import Asked, exit_of
from programsmith.compiler.verifying import lines as lines_of
from programsmith.errors import Exit
from programsmith.payload.verifier.unseal import SECRET_NAME
from programsmith.records import codec
from programsmith.records.outcome import Record, Word
from programsmith.records.verdict import Verdict
from programsmith.rulebook.load import Rulebook

SEED, OTHER = b"\1" * 32, b"\2" * 32
SECRET = b"the owner's own secret, long enough"
README = "environment/app/docs/README.md"
STRENGTH = {"mutation_score": 0.8, "interval": [0.7, 0.9], "mutants": 120, "pool_coverage": 0.9, "scope_coverage": 0.5}
BAND = {
    "basis": "rollouts", "pass_rate": [0.05, 0.6], "confidence": 0.75, "pair": "scripted/solver", "k": 1, "n": 6,
    "below": 0.0444, "inside": 0.9368, "above": 0.0188, "standing": "in_band", "more": False,
}  # fmt: skip
JUDGED = {
    "bands": [BAND],
    "tallies": [{"pair": "scripted/solver", "k": 1, "n": 6, "bought": 6, "interval": [0.03, 0.56]}],
}


def exported(toy, place: Path, seed: bytes | None = SEED) -> Path:
    """The task exported to `place`, as one that ships."""
    verdict = Verdict(
        outcome=Word.SHIP, revision=0, environments=({"kind": "bubblewrap", "fingerprint": "ab" * 32},),
        reasons=("accepted: every factor is 1",), q=1, b=1, v=1, h=1, not_s=1,
    )  # fmt: skip
    codec.dump(toy.path("verdict.json"), verdict)
    inputs = {"oracle.tar": "0a" * 32, "pool.jsonl": "0b" * 32}
    said = {"strength": STRENGTH, "calibrate": JUDGED, "static": {}}
    records = {
        block: Record(block=block, outcome=Word.PASS, reason="ok", evidence=evidence, inputs=inputs, seconds=1.0)
        for block, evidence in said.items()
    }
    job = dataclasses.replace(toy.job("export"), outputs={"dist/": place}, records=records, signing_key=lambda: seed)
    place.parent.mkdir(exist_ok=True)
    export.run(dataclasses.replace(job, dist=place.parent))
    return place


@pytest.fixture(scope="module")
def shelf(toys, tmp_path_factory):
    """The same task exported once for each way to seal it, by mode."""
    top = tmp_path_factory.mktemp("shelf")
    toy = toys("python", "python").copy(top / "toy")
    made = {"inline": exported(toy, top / "inline" / "rot")}
    toy.spec["seal"], toy.owner_secret = "owner", SECRET
    shutil.rmtree(toy.bundle)
    create.run(toy.job("create"))
    return {**made, "owner": exported(toy, top / "owner" / "rot")}


@pytest.fixture(params=["inline", "owner"])
def task(request, shelf, tmp_path):
    return Path(shutil.copytree(shelf[request.param], tmp_path / "rot"))


@pytest.fixture
def inline(shelf, tmp_path):
    return Path(shutil.copytree(shelf["inline"], tmp_path / "rot"))


@pytest.fixture
def verified(capsys):
    """Runs the verb; its exit code, and its lines by name."""

    def look(path, *flags):
        code = cli.run(["verify", str(path), "--json", *flags])
        out = capsys.readouterr().out
        return code, {line["name"]: line for line in json.loads(out)["lines"]}

    return look


def states(lines):
    return {name: line["state"] for name, line in lines.items()}


def told(line):
    return {row["path"]: (row["wanted"], row["got"]) for row in line["differences"]}


def resigned(task: Path, seed: bytes = OTHER) -> None:
    """Make manifest and signature fit whatever lies there, as a forger does."""
    files = [e for path, e in read_bundle(task).items() if path not in {MANIFEST, SIGNATURE}]
    raw = manifest("programsmith/rot", files)
    (task / MANIFEST).write_bytes(raw)
    (task / SIGNATURE).write_bytes(signature(raw, seed))


def forge(task: Path) -> None:
    """Make everything fit whatever lies there, as a forger does who knows all of it."""
    own = {p: e for p, e in read_bundle(task).items() if belongs(p)}
    own["task.toml"] = dataclasses.replace(own["task.toml"], content=unlabelled(own["task.toml"].content))
    tree, files = digests(own.values())
    proof = json.loads((task / "provenance.json").read_bytes())
    proof["bundle"] |= {"tree": tree, "files": files}
    (task / "provenance.json").write_text(json.dumps(proof))
    made = tomllib.loads((task / "task.toml").read_text())["metadata"]["programsmith"]["provenance"]
    lie(task, "provenance", {**made, "bundle": tree})


def packed(task: Path, to: Path) -> Path:
    with tarfile.open(to, "w") as tar:
        tar.add(task, "rot")
    return to


def public(seed: bytes) -> str:
    return str(json.loads(signature(b"", seed))["key"])


GOOD = {"files": "ok", "signature": "ok", "label": "ok", "harbor": "ok", "verifier": "ok", "sealing": "ok"}


def test_what_was_exported_holds_as_a_folder_and_as_a_tar(task, verified, tmp_path, monkeypatch):
    monkeypatch.delenv(SECRET_NAME, raising=False)
    owners = json.loads((task / "tests/seal.json").read_bytes())["mode"] == "owner"
    wanted = {**GOOD, "sealing": "unproven" if owners else "ok"}
    for path in (task, packed(task, tmp_path / "rot.tar")):
        code, lines = verified(path, "--key", public(SEED))
        assert (code, states(lines)) == (0, wanted), lines
    monkeypatch.setenv(SECRET_NAME, SECRET.hex())
    assert states(verified(task, "--key", public(SEED))[1]) == GOOD


def test_exporting_again_signs_the_same_bytes(toys, shelf, tmp_path):
    toy = toys("python", "python").copy(tmp_path / "toy")
    again = exported(toy, tmp_path / "again" / "rot")
    assert read_bundle(again) == read_bundle(shelf["inline"])


def test_who_signed_is_said_and_unproven_without_a_trusted_key(inline, verified, tmp_path):
    code, lines = verified(inline)
    assert (code, lines["signature"]["state"]) == (0, "unproven")
    assert public(SEED) in lines["signature"]["text"]
    (tmp_path / "trusted").write_text(public(SEED) + "\n")
    assert verified(inline, "--key", str(tmp_path / "trusted"))[1]["signature"]["state"] == "ok"


def test_a_task_signed_by_another_key_holds_for_nobody_who_trusts_the_first(inline, verified):
    (inline / README).write_bytes(b"forged")
    resigned(inline)
    code, lines = verified(inline, "--key", public(SEED))
    assert (code, lines["files"]["state"]) == (1, "ok")
    assert told(lines["signature"]) == {SIGNATURE: (f"the key {public(SEED)}", public(OTHER))}


def test_a_signature_of_something_else_or_none_at_all_does_not_hold(inline, verified):
    (inline / SIGNATURE).write_bytes(signature(b"other bytes", SEED))
    code, lines = verified(inline)
    assert (code, lines["signature"]["state"]) == (1, "differs")
    (inline / SIGNATURE).unlink()
    code, lines = verified(inline)
    assert (code, lines["signature"]["state"]) == (1, "differs")
    assert "signature.json is missing" in lines["signature"]["text"]


def test_without_a_key_the_export_is_unsigned_and_says_so(toys, verified, tmp_path, capsys):
    toy = toys("python", "python").copy(tmp_path / "toy")
    place = exported(toy, tmp_path / "bare" / "rot", seed=None)
    assert "not signed" in capsys.readouterr().out
    assert not (place / SIGNATURE).exists()
    assert states(verified(place)[1])["files"] == "ok"


def test_a_file_may_lose_no_byte_and_no_mode_bit_and_gain_no_neighbour(task, verified):
    before = read_manifest((task / MANIFEST).read_bytes())[1]
    (task / README).write_bytes(b"edited")
    (task / "tests/extra.txt").write_bytes(b"added")
    (task / "instruction.md").unlink()
    (task / "tests/test.sh").chmod(0o644)
    (task / "solution/solve.sh").chmod(0o4755)
    (task / "tests/plan.link").symlink_to("plan.json")
    (task / "environment/Dockerfile").unlink()
    (task / "environment/Dockerfile").symlink_to("/etc/passwd")
    os.mkfifo(task / "tests/fifo")
    (task / "environment/empty").mkdir()
    (task / os.fsdecode(b"tests/odd\xff\n")).write_bytes(b"")
    code, lines = verified(task)
    found = told(lines["files"])
    assert code == 1
    assert set(found) == {
        README, "tests/extra.txt", "instruction.md", "tests/test.sh", "solution/solve.sh", "tests/plan.link",
        "environment/Dockerfile", "tests/fifo", "environment/empty", "tests/odd%FF%0A",
    }  # fmt: skip
    assert found[README][0] == str(before[README])
    assert found["tests/extra.txt"][0] == "nothing"
    assert found["instruction.md"][1] == "nothing"
    assert found["tests/test.sh"] == (
        str(before["tests/test.sh"]),
        str(before["tests/test.sh"]).replace("0755", "0644"),
    )
    assert found["solution/solve.sh"][1] == "mode 4755"
    assert found["tests/plan.link"][1] == found["environment/Dockerfile"][1] == "a symlink"
    assert (found["tests/fifo"][1], found["environment/empty"][1]) == ("a fifo", "an empty folder")


def test_every_file_is_watched(inline, verified):
    names = sorted(read_manifest((inline / MANIFEST).read_bytes())[1])
    for name in names:
        with (inline / name).open("ab") as file:
            file.write(b" ")
    assert sorted(told(verified(inline)[1]["files"])) == names


def test_an_edited_manifest_is_not_the_one_that_was_signed(inline, verified):
    value = json.loads((inline / MANIFEST).read_bytes())
    value["files"].pop(README)
    (inline / README).unlink()
    (inline / MANIFEST).write_text(json.dumps(value, sort_keys=True, separators=(",", ":")))
    code, lines = verified(inline)
    assert (code, states(lines)["files"], states(lines)["signature"]) == (1, "ok", "differs")


LIES = {
    "verdict": ("draft", "ship"),
    "q": (0, 1),
    "not_s": (0, 1),
    "licence": ("Apache-2.0", "MIT"),
    "seal": ("owner", "inline"),
    "held_out": (900, 7),
    "spec": ("other", "rot"),
    "proven_in": (["docker"], ["bubblewrap"]),
    "evidence": ({"static": "ab" * 32}, None),
    "provenance": ({"source": "ab" * 32, "bundle": "ab" * 32}, None),
    "strength": ({"mutation_score": 1.0}, STRENGTH),
    "calibration": ({"pass_rates": []}, None),
}


def lie(task: Path, key: str, value: object) -> None:
    """Edit the label and make everything else fit it."""
    said = tomllib.loads((task / "task.toml").read_text())
    said["metadata"]["programsmith"][key] = value
    (task / "task.toml").write_bytes(dump_toml(said))
    proof = json.loads((task / "provenance.json").read_bytes())
    proof["bundle"]["task"] = task_digest({p: e.content for p, e in read_bundle(task).items() if belongs(p)})
    (task / "provenance.json").write_text(json.dumps(proof))
    resigned(task)


@pytest.mark.parametrize("key", LIES)
def test_a_label_that_its_evidence_does_not_bear_is_told_by_name(inline, verified, key):
    value, true = LIES[key]
    lie(inline, key, value)
    code, lines = verified(inline)
    assert (code, lines["files"]["state"], lines["label"]["state"]) == (1, "ok", "differs")
    wanted = told(lines["label"])[f"task.toml: {key}"][0]
    assert true is None or wanted == (true if isinstance(true, str) else json.dumps(true))


def test_a_posterior_is_worked_out_again(inline, verified):
    said = tomllib.loads((inline / "task.toml").read_text())
    calibration = said["metadata"]["programsmith"]["calibration"]
    assert calibration["bands"][0].items() <= BAND.items()
    calibration["bands"][0]["inside"] = 0.99
    lie(inline, "calibration", calibration)
    found = told(verified(inline)[1]["label"])
    assert found["task.toml: calibration.bands.0.inside"] == ("0.9368", "0.99")


def test_the_bundle_is_the_one_that_was_judged(inline, verified):
    (inline / README).write_bytes(b"another")
    lie(inline, "verdict", "ship")
    found = told(verified(inline)[1]["label"])
    assert {README, "provenance.json: bundle.tree"} == set(found)
    assert f"{README}: wanted" in f"{README}: wanted {found[README][0]}"


def test_a_seal_of_another_bundle_is_told(task, verified):
    (task / "environment/app/policy.json").write_bytes(b" " + (task / "environment/app/policy.json").read_bytes())
    (task / "tests/CANARY").write_bytes(b"gone\n")
    resigned(task)
    code, lines = verified(task)
    assert (code, lines["sealing"]["state"]) == (1, "differs")
    assert {"tests/seal.json", "solution/seal.json", "tests/CANARY"} <= set(told(lines["sealing"]))


def test_sealed_bytes_that_do_not_open_are_told(inline, verified):
    path = inline / "tests/held_out.sealed"
    path.write_bytes(path.read_bytes()[:-1] + bytes([path.read_bytes()[-1] ^ 1]))
    resigned(inline)
    line = verified(inline)[1]["sealing"]
    assert line["state"] == "differs"
    assert "held_out.sealed does not open" in line["text"]


def test_a_misspelt_key_of_harbor_is_told(inline, verified):
    path = inline / "task.toml"
    path.write_bytes(path.read_bytes().replace(b"[verifier]", b'[verifier]\nenviroment_mode = "separate"'))
    resigned(inline)
    line = verified(inline)[1]["harbor"]
    assert line["state"] == "differs"
    assert "enviroment_mode" in line["text"]


def test_a_run_grades_with_our_verifier_and_never_with_the_one_in_the_task(inline, verified):
    marker = inline.parent / "ran"
    with zipfile.ZipFile(inline / "tests/verify.pyz", "w") as archive:
        archive.writestr("__main__.py", f"open({str(marker)!r}, 'w')")
    code, lines = verified(inline, "--run")
    assert (code, lines["solution"]["state"], lines["nop"]["state"]) == (1, "not run", "not run")
    forge(inline)
    code, lines = verified(inline, "--run")
    assert (code, lines["solution"]["state"], lines["nop"]["state"]) == (0, "ok", "ok"), lines
    assert lines["verifier"]["state"] == "unproven"
    assert not marker.exists()


def test_a_run_gives_the_solution_1_and_nothing_0(inline, verified):
    code, lines = verified(inline, "--run")
    assert code == 0, lines
    assert lines["solution"]["text"].startswith("reward 1")
    assert lines["nop"]["text"].startswith("reward 0")


def test_a_run_of_what_its_owner_sealed_wants_the_secret(shelf, verified, monkeypatch):
    monkeypatch.delenv(SECRET_NAME, raising=False)
    code, lines = verified(shelf["owner"], "--run")
    assert (code, lines["solution"]["state"], lines["nop"]["state"]) == (3, "not run", "not run")
    assert SECRET_NAME in lines["nop"]["text"]
    monkeypatch.setenv(SECRET_NAME, SECRET.hex())
    code, lines = verified(shelf["owner"], "--run")
    assert (code, lines["solution"]["state"], lines["nop"]["state"]) == (0, "ok", "ok"), lines
    monkeypatch.setenv(SECRET_NAME, OTHER.hex())
    code, lines = verified(shelf["owner"], "--run")
    assert (code, lines["sealing"]["state"], lines["solution"]["state"]) == (1, "differs", "not run")


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
    assert code == (1 if name == "device.tar" else 3)
    assert "bug:" not in said.err
    assert code == 1 or len(said.err.splitlines()) == 1


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
    ([], "wanted one folder or tar"), (["a", "b"], "wanted one folder or tar"), ([".", "--key", "abc"], "--key abc"),
])  # fmt: skip
def test_a_wrong_command_is_refused_in_a_line(tmp_path, capsys, monkeypatch, words, wanted):
    monkeypatch.chdir(tmp_path)
    assert cli.run(["verify", *words]) == 3
    assert wanted in capsys.readouterr().err


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


def test_as_a_command_of_doit_it_takes_options_on_either_side_of_the_path(inline, capsys):
    assert Verify().parse_execute([str(inline), "--json", "--key", public(OTHER)]) == 1
    assert json.loads(capsys.readouterr().out)["exit"] == 1
    assert Verify().parse_execute([f"--key={public(SEED)}", str(inline)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"holds: {inline}"
