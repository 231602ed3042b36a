from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tomllib

import pytest

from programsmith.blocks import create
from programsmith.bundle.controls import pack, table
from programsmith.bundle.ingredients import is_own
from programsmith.bundle.sides import read_sides
from programsmith.bundle.solution import solution
from programsmith.bundle.tree import read_bundle
from programsmith.errors import InputError, PrerequisiteError
from programsmith.payload.verifier.model import FileEntry, canonical, encode_graded
from programsmith.payload.verifier.tree import tree_digest
from programsmith.records import codec
from programsmith.records.golden import Golden, Split
from programsmith.records.revision import Lineage
from programsmith.rulebook.load import Rulebook
from programsmith.sources.tree import read_tar, write_tar
from programsmith.toolchains.load import toolchains


def tree(toy):
    return {path: (e.mode, e.content) for path, e in read_bundle(toy.bundle).items()}


def again(toy):
    subprocess.run(["rm", "-rf", toy.bundle], check=True)
    return create.run(toy.job("create", "again"))


def test_same_inputs_give_the_same_bytes_at_any_place_time_and_umask(toy, monkeypatch, tmp_path):
    before, manifest = tree(toy), toy.path("r/manifest.json").read_bytes()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    old = os.umask(0o077)
    time.sleep(1.1)  # files get another second
    try:
        again(toy)
    finally:
        os.umask(old)
    assert tree(toy) == before
    assert toy.path("r/manifest.json").read_bytes() == manifest


def test_the_two_sides_are_the_split_and_the_goldens(toy):
    split = codec.load(toy.path("split.json"), Split)
    pool = {g.id: g for g in codec.load_lines(toy.path("pool.jsonl"), Golden)}
    sides = read_sides(toy.bundle)
    assert {c.case.id for c in sides.public} == set(split.public)
    assert {c.case.id for c in sides.held_out} == set(split.held_out)
    assert all(c.expected == pool[c.case.id].expected for c in sides.all)
    assert (toy.manifest.public, toy.manifest.held_out) == (sides.plan.public, sides.plan.held_out)


def test_the_first_revision_starts_from_the_split_of_the_pool_and_without_a_history(toy):
    assert codec.load(toy.path("r/split.json"), Split) == codec.load(toy.path("split.json"), Split)
    assert codec.load(toy.path("r/ops.json"), Lineage) == Lineage()


def test_manifest_names_every_file_and_counts_every_case(toy):
    files = read_bundle(toy.bundle)
    manifest = toy.manifest
    assert manifest.files.keys() == files.keys()
    assert manifest.tree == tree_digest(files.values())
    assert sum(row["public"] + row["held_out"] for row in manifest.families.values()) == 14


def test_no_held_out_case_stands_in_clear(toy):
    everything = b"".join(e.content for e in read_bundle(toy.bundle).values())
    for graded in read_sides(toy.bundle).held_out:
        assert canonical(encode_graded(graded)) not in everything
        assert graded.case.id.encode() not in b"".join(
            e.content for p, e in read_bundle(toy.bundle).items() if p.startswith("environment/")
        )


def test_the_agents_policy_is_the_verifiers(toy):
    files = read_bundle(toy.bundle)
    assert files["environment/app/policy.json"].content == files["tests/policy.json"].content
    policy = json.loads(files["tests/policy.json"].content)
    assert policy["languages"] == ["python"]
    known = toolchains(toy.job("create").rules("toolchains"))
    others = {suffix for name, tc in known.items() if name != "python" for suffix in tc.suffixes}
    assert {".c", ".go", ".java", ".js", ".rs"} < others
    assert policy["refused_suffixes"] == sorted(others)


def test_the_oracles_own_interpreter_is_nothing_to_borrow(toy):
    python = toolchains(toy.job("create").rules("toolchains"))["python"]
    assert is_own(python, "/usr/bin/python3")
    assert is_own(python, "/opt/python/bin/python3.11")
    assert not is_own(python, "/usr/bin/sort")


def test_what_is_too_large_to_be_handed_in_is_no_solution_and_the_task_says_so(toys, tmp_path):
    """The table of all answers stands in: nothing is waived for it."""
    toy = toys("python", "c").copy(tmp_path / "toy")
    oracle = tuple(read_tar(toy.path("oracle.tar")))
    cap = Rulebook(None).load("limits")["submission"]["bytes"]
    write_tar(toy.path("oracle.tar"), [*oracle, FileEntry(b"lib/large", content=bytes(cap))])
    again(toy)
    assert (
        (toy.manifest.solution, toy.manifest.waived) == ("table", read_sides(toy.bundle).plan.waived) == ("table", "")
    )
    files = read_bundle(toy.bundle)
    assert tomllib.loads(files["task.toml"].content.decode())["metadata"]["programsmith"]["solution"] == "table"
    assert b"a table of all answers" in files["README.md"].content
    assert solution(toy.bundle) == tuple(sorted(table("c", read_sides(toy.bundle).all)))


def test_a_target_of_another_language_gets_a_wrapper_that_is_waived(toys):
    toy = toys("c", "python")
    assert toy.manifest.solution == "wrapper"
    assert toy.manifest.waived == read_sides(toy.bundle).plan.waived != ""


def test_owner_sealing_without_the_secret_is_refused(toy):
    toy.spec["seal"] = "owner"
    with pytest.raises(PrerequisiteError, match="PROGRAMSMITH_SECRET"):
        again(toy)


def test_owner_sealing_keeps_the_secret_out_of_the_bundle(toy):
    toy.spec["seal"] = "owner"
    toy.owner_secret = b"the owner's own secret, long enough"
    again(toy)
    everything = b"".join(e.content for e in read_bundle(toy.bundle).values())
    assert toy.owner_secret not in everything
    assert toy.owner_secret.hex().encode() not in everything
    assert read_sides(toy.bundle, toy.owner_secret).held_out


def test_an_unknown_target_language_is_refused(toy):
    value = json.loads(toy.path("candidate.json").read_text())
    toy.path("candidate.json").write_text(json.dumps({**value, "target_language": "cobol"}))
    with pytest.raises(InputError, match="cobol"):
        again(toy)


def test_solve_sh_installs_the_sealed_source(toy, tmp_path):
    target = tmp_path / "submission"
    target.mkdir()
    script = toy.bundle / "solution" / "open.py"
    subprocess.run([sys.executable, "-I", str(script), str(target)], check=True)
    files = {p.relative_to(target).as_posix() for p in target.rglob("*") if p.is_file()}
    assert {"compile.sh", "lib/rot.py"} <= files
    source = (toy.bundle / "solution" / "solution.sealed").read_bytes()
    assert b"Turn letters" not in source


def test_solve_sh_refuses_altered_bytes(toy, tmp_path):
    sealed = toy.bundle / "solution" / "solution.sealed"
    raw = bytearray(sealed.read_bytes())
    raw[40] ^= 1
    sealed.write_bytes(raw)
    done = subprocess.run([sys.executable, "-I", sealed.with_name("open.py"), tmp_path], capture_output=True)
    assert done.returncode != 0
    assert b"do not open" in done.stderr


def test_a_packed_submission_depends_on_its_files_alone():
    files = [FileEntry(b"b", content=b"2"), FileEntry(b"a", "link", 0o777, b"b"), FileEntry(b"d", "dir", 0o755)]
    assert pack(files) == pack(reversed(files)) != pack([*files, FileEntry(b"c")])
