from __future__ import annotations

import json
import os
import tomllib
import zipfile

import pytest

from programsmith.bundle.signature import MANIFEST, SIGNATURE, read_manifest, signature
from programsmith.bundle.tree import read_bundle
from programsmith.payload.verifier.unseal import SECRET_NAME
from tests.samples.exporting import (
    BAND,
    GOOD,
    OTHER,
    README,
    SECRET,
    SEED,
    STRENGTH,
    exported,
    forge,
    lie,
    packed,
    public,
    resigned,
    states,
    told,
)


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
    assert lines["submissions"]["state"] == "ok", lines["submissions"]
    assert lines["verifier"]["state"] == "unproven"
    assert not marker.exists()


@pytest.mark.parametrize("pair", [("c", "python"), ("python", "c")])
def test_a_run_gives_the_solution_1_and_nothing_0_also_where_it_wraps_the_oracle(toys, pair, verified, tmp_path):
    toy = toys(*pair).copy(tmp_path / "toy")
    code, lines = verified(exported(toy, tmp_path / "wrapped" / "rot"), "--run")
    assert code == 0, [line for line in lines.values() if line["state"] == "differs"]
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
