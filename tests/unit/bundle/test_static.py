"""Each check stays green on what create writes, and each mutated bundle makes exactly one of them red."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import io
import json
import zipfile

import pytest

from programsmith.adversaries.weaken import weak_program
from programsmith.blocks import static
from programsmith.bundle.manifest import digests
from programsmith.bundle.seal import seal
from programsmith.bundle.sides import held_out_clear, read_sides
from programsmith.bundle.tree import read_bundle
from programsmith.bundle.zipapp import check_pyz, verify_pyz
from programsmith.checks import egress
from programsmith.checks.registry import CHECKS
from programsmith.errors import InfraError
from programsmith.payload.verifier import seccomp
from programsmith.payload.verifier.model import canonical
from programsmith.payload.verifier.plan import encode_cases
from programsmith.payload.verifier.unseal import Purpose, decode_seal
from programsmith.records import codec
from programsmith.records.outcome import Word
from programsmith.rulebook.load import Rulebook
from programsmith.sources.tree import read_tar

LOOKING = ("harbor_validity", "verifier_program", "sentinels", "no_upstream_pointer", "sealing", "oracle_bytes")
RUNNING = ("fresh_output", "reward_tamper", "egress")


def judged(toy, names):
    """Ids of the checks that are red, of those named."""
    rule = Rulebook(None).load("checks")["checks"]
    toy.rules = {"checks": {"checks": [row for row in rule if row["id"] in names]}}
    outcome = static.run(toy.job("static"))
    rows = outcome.evidence["checks"]
    assert [r["id"] for r in rows] == [row["id"] for row in rule if row["id"] in names]
    assert (outcome.word is Word.PASS) == all(r["passed"] for r in rows) == toy.path("r/static.ok").exists()
    return {r["id"]: r["reason"] for r in rows if not r["passed"]}


def write(toy, path, content, mode=0o644):
    """Change a file of the bundle as if create had written it so."""
    place = toy.bundle / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    place.chmod(mode)
    refresh(toy)


def refresh(toy):
    tree, files = digests(read_bundle(toy.bundle).values())
    codec.dump(toy.path("r/manifest.json"), dataclasses.replace(toy.manifest, tree=tree, files=files))


def oracle_part(toy):
    return next(e.content for e in read_tar(toy.path("oracle.tar")) if e.path == b"lib/rot.py")[200:300]


def secret_answer(toy):
    shown = {c.expected.stdout for c in read_sides(toy.bundle).public}
    longest = max(
        (c.expected.stdout for c in read_sides(toy.bundle).held_out if c.expected.stdout not in shown), key=len
    )
    assert len(longest) >= 40
    return longest


def key_of(toy):
    return decode_seal((toy.bundle / "tests/seal.json").read_bytes()).secret


def reseal(toy, identity):
    """Seal the held-out cases under another identity than the solution's; return what was there."""
    sealed = seal(held_out_clear(toy.bundle), identity=identity, purpose=Purpose.HELD_OUT)
    write(toy, "tests/held_out.sealed", sealed.content)
    write(toy, "tests/seal.json", sealed.seal)


def pointer(text):
    return lambda toy: write(toy, "environment/app/docs/NOTES.md", text)


def zipped(content):
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", content)
    return raw.getvalue()


def edit(toy, path, old, new):
    content = (toy.bundle / path).read_bytes()
    assert old in content
    write(toy, path, content.replace(old, new), (toy.bundle / path).stat().st_mode & 0o777)


MUTATIONS = {
    "oracle_raw": ("oracle_bytes", lambda t: write(t, "environment/app/x", b"see " + oracle_part(t))),
    "oracle_base64": ("oracle_bytes", lambda t: write(t, "environment/app/x", base64.b64encode(oracle_part(t)))),
    "oracle_base64_lines": (
        "oracle_bytes",
        lambda t: write(t, "environment/app/x", base64.encodebytes(oracle_part(t))),
    ),
    "oracle_hex": ("oracle_bytes", lambda t: write(t, "environment/x", oracle_part(t).hex().encode())),
    "oracle_gzip": ("oracle_bytes", lambda t: write(t, "environment/app/x", gzip.compress(oracle_part(t), mtime=0))),
    "oracle_zip_base64": (
        "oracle_bytes",
        lambda t: write(t, "environment/x", base64.b64encode(zipped(oracle_part(t)))),
    ),
    "oracle_in_instruction": (
        "oracle_bytes",
        lambda t: write(t, "instruction.md", (t.bundle / "instruction.md").read_bytes() + oracle_part(t)),
    ),
    "answer_raw": ("oracle_bytes", lambda t: write(t, "environment/app/x", secret_answer(t))),
    "answer_base64": ("oracle_bytes", lambda t: write(t, "environment/app/x", base64.b64encode(secret_answer(t)))),
    "answer_hex": ("oracle_bytes", lambda t: write(t, "environment/x", secret_answer(t).hex().encode())),
    "answer_gzip": ("oracle_bytes", lambda t: write(t, "environment/app/x", gzip.compress(secret_answer(t)))),
    "canary_in_case": (
        "sentinels",
        lambda t: write(
            t, f"environment/app/cases/{t.manifest.public[0]}/note", (t.bundle / "tests/CANARY").read_bytes()
        ),
    ),
    "canary_twice": (
        "sentinels",
        lambda t: write(t, "environment/app/docs/CANARY", b"programsmith-canary " + b"0" * 32 + b"\n"),
    ),
    "canary_gone": ("sentinels", lambda t: ((t.bundle / "tests/CANARY").unlink(), refresh(t))),
    "canary_shared": (
        "sentinels",
        lambda t: write(t, "tests/CANARY", (t.bundle / "solution/CANARY").read_bytes()),
    ),
    "pointer_address": ("no_upstream_pointer", pointer(b"from https://example.org/turner/rot-tool today")),
    "pointer_ssh": ("no_upstream_pointer", pointer(b"git@EXAMPLE.org/Turner/rot-tool")),
    "pointer_owner": ("no_upstream_pointer", pointer(b"see turner/rot-tool#12")),
    "pointer_commit": ("no_upstream_pointer", pointer(b"at 5f0c1d2e3b4a")),
    "pointer_encoded": ("no_upstream_pointer", pointer(base64.b64encode(b"see turner/rot-tool for more"))),
    "history": ("no_upstream_pointer", lambda t: write(t, "environment/app/docs/.git/HEAD", b"ref: x\n")),
    "key_shown": ("sealing", lambda t: write(t, "environment/app/k", key_of(t))),
    "key_shown_hex": ("sealing", lambda t: write(t, "environment/app/k", key_of(t).hex().encode())),
    "key_shown_base64": ("sealing", lambda t: write(t, "environment/app/k", base64.b64encode(key_of(t)))),
    "not_sealed": ("sealing", lambda t: write(t, "solution/solution.sealed", b"plain" * 100)),
    "submissions_not_sealed": ("sealing", lambda t: write(t, "solution/submissions.sealed", b"plain" * 100)),
    "submissions_exchanged": (
        "sealing",
        lambda t: write(t, "solution/submissions.sealed", (t.bundle / "tests/held_out.sealed").read_bytes()),
    ),
    "altered_seal": ("sealing", lambda t: edit(t, "solution/seal.json", b"solution", b"held_out")),
    "unknown_key": ("harbor_validity", lambda t: edit(t, "task.toml", b"[agent]", b"[agent]\ntimout_sec = 1")),
    "shared_verifier": ("harbor_validity", lambda t: edit(t, "task.toml", b'"separate"', b'"shared"')),
    "wrong_count": ("harbor_validity", lambda t: edit(t, "task.toml", b"held_out = 7", b"held_out = 8")),
    "no_readme": ("harbor_validity", lambda t: ((t.bundle / "README.md").unlink(), refresh(t))),
    "check_not_executable": (
        "harbor_validity",
        lambda t: write(t, "environment/app/check", (t.bundle / "environment/app/check").read_bytes()),
    ),
    "answer_in_a_case_folder": (
        "oracle_bytes",
        lambda t: write(t, f"environment/app/cases/{t.manifest.held_out[0]}/expected_stdout", secret_answer(t)),
    ),
    "held_out_made_public": (
        "harbor_validity",
        lambda t: write(t, "environment/app/public.jsonl", encode_cases(read_sides(t.bundle).held_out)),
    ),
    "other_verifier": (
        "verifier_program",
        lambda t: write(t, "tests/verify.pyz", weak_program(verify_pyz(), "files_count")),
    ),
    "other_runner": ("verifier_program", lambda t: write(t, "environment/app/check", check_pyz() + b"#", 0o755)),
    "two_policies": ("harbor_validity", lambda t: edit(t, "environment/app/policy.json", b'"rot"', b'"tor"')),
    "unsaid_family": ("harbor_validity", lambda t: edit(t, "instruction.md", b"| `rot -n`", b"| `rot -m`")),
    "unsaid_contract": ("harbor_validity", lambda t: edit(t, "instruction.md", b"compile.sh", b"build.sh")),
    "two_bases": ("harbor_validity", lambda t: edit(t, "tests/Dockerfile", b"COPY", b"FROM other\nCOPY")),
    "invented_digest": (
        "harbor_validity",
        lambda t: edit(t, "environment/Dockerfile", b"ARG BASE=debian", b"ARG BASE=debian@sha256:00"),
    ),
    "edited_after_create": (
        "harbor_validity",
        lambda t: (t.bundle / "environment/app/docs/README.md").write_bytes(b"# rot\n"),
    ),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutated_bundle_makes_exactly_its_check_red(toy, name):
    wanted, mutate = MUTATIONS[name]
    mutate(toy)
    assert set(judged(toy, LOOKING)) == {wanted}


def test_a_bundle_as_created_is_green_and_leaves_the_same_stamp(toy):
    assert judged(toy, CHECKS) == {}
    stamp = toy.path("r/static.ok").read_bytes()
    toy.path("r/static.ok").unlink()
    assert judged(toy, LOOKING) == {}
    assert toy.path("r/static.ok").read_bytes() == stamp
    assert json.loads(stamp)["tree"] == toy.manifest.tree


def test_the_probes_of_a_compiled_target_run_too(toys, tmp_path):
    toy = toys("c", "c").copy(tmp_path / "toy")
    assert judged(toy, CHECKS) == {}


def patched(toy, module, old, new):
    """Take one defence out of the bundle's verifier."""
    name = f"programsmith/payload/verifier/{module}.py"
    place = toy.bundle / "tests/verify.pyz"
    with zipfile.ZipFile(place) as archive:
        held = {i.filename: archive.read(i) for i in archive.infolist()}
    assert old in held[name], (module, old)
    held[name] = held[name].replace(old, new)
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for path, content in held.items():
            archive.writestr(zipfile.ZipInfo(path), content)
    write(toy, "tests/verify.pyz", raw.getvalue())


STALE = b"    stale = [e for e in reading.entries if _is_at_or_below(e, output)]"
CLAIMED = b"    reports = _reports(asked, tests)\n"
TRUSTED = b"""    import dataclasses, json
    for at, submission in enumerate(asked.submission or ()):
        claim = os.path.join(submission, "reward.json")
        if os.path.exists(claim):
            reports[at] = dataclasses.replace(reports[at], reward=float(json.load(open(claim))["reward"]))
"""
WEAKENED = {
    "stale_output_stays": (
        "fresh_output",
        lambda t: patched(t, "receive", STALE, STALE.replace(b"if _is_at_or_below(e, output)", b"if False")
                          + b"\n    return reading"),
    ),
    "reward_of_the_submission": (
        "reward_tamper",
        lambda t: patched(t, "__main__", CLAIMED, CLAIMED + TRUSTED),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WEAKENED)
def test_a_verifier_without_its_defence_makes_exactly_its_check_red(toy, name):
    wanted, weaken = WEAKENED[name]
    weaken(toy)
    assert set(judged(toy, ("harbor_validity", "sealing", "fresh_output", "reward_tamper"))) == {wanted}


@pytest.mark.parametrize("stage", ["build", "run"])
def test_a_stage_with_the_hosts_network_makes_egress_red(toy, stage, tmp_path, monkeypatch):
    monkeypatch.setattr(seccomp, "CASE_FAMILIES", seccomp.FAMILIES)  # two fences stand before a network
    value = json.loads(toy.path("r/environments.json").read_bytes())
    shim = tmp_path / "bwrap"
    real = value[stage]["bwrap"]
    shim.write_text(
        '#!/bin/bash\nkept=()\nfor word in "$@"; do [ "$word" = --unshare-net ] || kept+=("$word"); done\n'
        f'exec {real} "${{kept[@]}}"\n'
    )
    shim.chmod(0o755)
    value[stage] |= {"bwrap": str(shim), "server": None}  # the launcher over bwrap, which such a shim can weaken
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == tmp_path.stat().st_uid and str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    toy.path("r/environments.json").write_text(json.dumps(value))
    if stage == "run":
        with pytest.raises(InfraError, match="network"):  # the launcher's own probe sees it first
            judged(toy, ("egress",))
        return
    red = judged(toy, ("egress",))
    assert "build stage" in red["egress"]


def test_a_project_that_lies_deep_is_judged_like_any_other(toy, tmp_path):
    deep = toy.copy(tmp_path / ("d" * 120))
    assert judged(deep, RUNNING) == {}


def test_egress_knows_nothing_where_its_control_fails(toy, monkeypatch):
    monkeypatch.setattr(egress, "NEEDED", (*egress.NEEDED, "tcp:moon"))
    with pytest.raises(InfraError, match="tcp:moon"):
        judged(toy, ("egress",))


def test_a_held_out_answer_as_a_public_input_is_a_leak(toy):
    sides = read_sides(toy.bundle)
    answer = secret_answer(toy)
    given = dataclasses.replace(sides.public[0], case=dataclasses.replace(sides.public[0].case, stdin=answer))
    from programsmith.checks.base import Scene
    from programsmith.checks.oracle_bytes import run
    from programsmith.records.lock import Lock

    scene = Scene(
        bundle=toy.bundle, environments=toy.path("r/environments.json"), manifest=toy.manifest,
        lock=codec.load(toy.path("lock.json"), Lock), oracle=(), schema={}, scratch=toy.folder,
    )  # fmt: skip
    scene.__dict__["sides"] = dataclasses.replace(sides, public=(given, *sides.public[1:]))
    row = run(scene, {"run_bytes": 64, "distinct_bytes": 6, "answer_bytes": 40})
    assert not row.passed
    assert "as input" in row.reason
    assert answer.decode() not in json.dumps(row.evidence)


def test_an_address_that_the_oracle_prints_may_stand_in_public_cases_only(toy):
    from programsmith.checks.base import Scene
    from programsmith.checks.no_upstream_pointer import run
    from programsmith.records.lock import Lock

    sides = read_sides(toy.bundle)
    said = b"Report bugs to https://example.org/turner/rot-tool\n"
    printed = dataclasses.replace(sides.public[0], expected=dataclasses.replace(sides.public[0].expected, stdout=said))
    case = toy.bundle / "environment/app/cases" / printed.case.id
    (case / "expected_stdout").write_bytes(said)
    scene = Scene(
        bundle=toy.bundle, environments=toy.path("r/environments.json"), manifest=toy.manifest,
        lock=codec.load(toy.path("lock.json"), Lock), oracle=(), schema={}, scratch=toy.folder,
    )  # fmt: skip
    scene.__dict__["sides"] = dataclasses.replace(sides, public=(printed, *sides.public[1:]))
    assert run(scene, {}).passed
    del scene.__dict__["sides"]
    assert not run(scene, {}).passed


def test_every_check_has_a_file_a_rule_and_a_defence():
    from pathlib import Path

    import programsmith.checks as package

    book = Rulebook(None)
    plumbing = {"__init__", "base", "registry", "search", "stages", "listeners"}
    files = {p.stem for p in Path(package.__file__).parent.glob("*.py")} - plumbing
    watched = {name for d in book.load("defences")["defences"] for name in d["watched_by"]}
    assert files == set(CHECKS) == {row["id"] for row in book.load("checks")["checks"]} == watched
    assert {wanted for wanted, _ in (*MUTATIONS.values(), *WEAKENED.values())} | {"egress"} == set(CHECKS)


def test_evidence_is_json_and_holds_no_answer(toy):
    judged(toy, LOOKING)
    raw = canonical(static.run(toy.job("static")).evidence)
    assert secret_answer(toy) not in raw
