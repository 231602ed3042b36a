"""Bundles of the toy task that are spoiled in one way each, with the checks that must see it."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import io
import json
import os
import zipfile

from programsmith.adversaries.weaken import EDITS, Spoils, weak_program
from programsmith.bundle.manifest import digests
from programsmith.bundle.sides import read_sides
from programsmith.bundle.solution import solution
from programsmith.bundle.tree import read_bundle
from programsmith.bundle.zipapp import ask_pyz, check_pyz, verify_pyz
from programsmith.payload.verifier.plan import encode_cases
from programsmith.payload.verifier.unseal import decode_seal
from programsmith.records import codec
from programsmith.sources.tree import read_tar

RUNNING = (
    *("grader_hidden", "broken_bundle", "public_runner", "source_policy", "fresh_output", "strict_comparison"),
    *("reward_tamper", "build_isolation", "run_isolation", "limits_enforced", "egress"),
    *("grader_survives", "receipt_limits", "build_limits"),
)
"""Checks that run something; the others look at files."""
SIDES = ("environment/app", "tests")
VERIFIER = "tests/verify.pyz"
IMAGE = b'docker_image = "registry.invalid/task@sha256:' + b"0" * 64 + b'"\n'


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


def patched(toy, module, old, new, program=VERIFIER):
    """Put other code into a program of the bundle."""
    name = f"programsmith/payload/verifier/{module}.py"
    place = toy.bundle / program
    with zipfile.ZipFile(place) as archive:
        held = {i.filename: archive.read(i) for i in archive.infolist()}
    assert old in held[name], (module, old)
    held[name] = held[name].replace(old, new)
    write(toy, program, repacked(held), place.stat().st_mode & 0o777)


def repacked(held, time=(1980, 1, 1, 0, 0, 0)):
    """A zip file of `held`."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for path, content in sorted(held.items()):
            archive.writestr(zipfile.ZipInfo(path, time), content)
    return raw.getvalue()


def rezipped(toy, time):
    """Pack the verifier again, at another time."""
    with zipfile.ZipFile(toy.bundle / VERIFIER) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    write(toy, VERIFIER, repacked(held, time))


def shortened(toy):
    """Give the verifier less time than its limits allow."""
    plan = json.loads((toy.bundle / "tests/plan.json").read_bytes())
    write(toy, "tests/plan.json", json.dumps({**plan, "timeout_seconds": plan["timeout_seconds"] - 1}).encode())


def miscounted(toy):
    """Take a held-out case out of the manifest."""
    codec.dump(toy.path("r/manifest.json"), dataclasses.replace(toy.manifest, held_out=toy.manifest.held_out[1:]))


def one_key(toy):
    """Seal the solution under the key of the cases."""
    EDITS["two_keys"](
        toy.bundle, Spoils(sides=read_sides(toy.bundle), solution=solution(toy.bundle), pointer="", twin=())
    )
    refresh(toy)


MUTATIONS = {
    "asks_uncounted": ("oracle_access closed_tree", lambda t: write(t, "environment/app/reference/rot", ask_pyz())),
    "asks_at_grading": ("oracle_access closed_tree", lambda t: write(t, "tests/ask", ask_pyz())),
    "oracle_raw": ("oracle_bytes closed_tree", lambda t: write(t, "environment/app/x", b"see " + oracle_part(t))),
    "oracle_base64": (
        "oracle_bytes closed_tree",
        lambda t: write(t, "environment/app/x", base64.b64encode(oracle_part(t))),
    ),
    "oracle_base64_lines": (
        "oracle_bytes closed_tree",
        lambda t: write(t, "environment/app/x", base64.encodebytes(oracle_part(t))),
    ),
    "oracle_hex": ("oracle_bytes closed_tree", lambda t: write(t, "environment/x", oracle_part(t).hex().encode())),
    "oracle_gzip": (
        "oracle_bytes closed_tree",
        lambda t: write(t, "environment/app/x", gzip.compress(oracle_part(t), mtime=0)),
    ),
    "oracle_zip_base64": (
        "oracle_bytes closed_tree",
        lambda t: write(t, "environment/x", base64.b64encode(zipped(oracle_part(t)))),
    ),
    "oracle_in_instruction": (
        "oracle_bytes",
        lambda t: write(t, "instruction.md", (t.bundle / "instruction.md").read_bytes() + oracle_part(t)),
    ),
    "answer_raw": ("oracle_bytes closed_tree", lambda t: write(t, "environment/app/x", secret_answer(t))),
    "answer_base64": (
        "oracle_bytes closed_tree",
        lambda t: write(t, "environment/app/x", base64.b64encode(secret_answer(t))),
    ),
    "answer_hex": ("oracle_bytes closed_tree", lambda t: write(t, "environment/x", secret_answer(t).hex().encode())),
    "answer_gzip": (
        "oracle_bytes closed_tree",
        lambda t: write(t, "environment/app/x", gzip.compress(secret_answer(t))),
    ),
    "canary_in_case": (
        "sentinels case_folders",
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
    "key_shown": ("sealing closed_tree", lambda t: write(t, "environment/app/k", key_of(t))),
    "key_shown_hex": ("sealing closed_tree", lambda t: write(t, "environment/app/k", key_of(t).hex().encode())),
    "key_shown_base64": ("sealing closed_tree", lambda t: write(t, "environment/app/k", base64.b64encode(key_of(t)))),
    "not_sealed": (
        "sealing two_keys fixed_times waiver",
        lambda t: write(t, "solution/solution.sealed", b"plain" * 100),
    ),
    "submissions_not_sealed": ("sealing", lambda t: write(t, "solution/submissions.sealed", b"plain" * 100)),
    "submissions_exchanged": (
        "sealing",
        lambda t: write(t, "solution/submissions.sealed", (t.bundle / "tests/held_out.sealed").read_bytes()),
    ),
    "altered_seal": (
        "sealing two_keys fixed_times waiver",
        lambda t: edit(t, "solution/seal.json", b"solution", b"held_out"),
    ),
    "unknown_key": ("harbor_validity", lambda t: edit(t, "task.toml", b"[agent]", b"[agent]\ntimout_sec = 1")),
    "shared_verifier": ("consumers harbor_validity", lambda t: edit(t, "task.toml", b'"separate"', b'"shared"')),
    "wrong_count": ("harbor_validity", lambda t: edit(t, "task.toml", b"held_out = 7", b"held_out = 8")),
    "no_readme": ("harbor_validity", lambda t: ((t.bundle / "README.md").unlink(), refresh(t))),
    "check_not_executable": (
        "harbor_validity",
        lambda t: write(t, "environment/app/check", (t.bundle / "environment/app/check").read_bytes()),
    ),
    "answer_in_a_case_folder": (
        "oracle_bytes closed_tree case_folders",
        lambda t: write(t, f"environment/app/cases/{t.manifest.held_out[0]}/expected_stdout", secret_answer(t)),
    ),
    "held_out_made_public": (
        "one_policy",
        lambda t: write(t, "environment/app/public.jsonl", encode_cases(read_sides(t.bundle).held_out)),
    ),
    "other_verifier": (
        "verifier_program verifier_switches",
        lambda t: write(t, "tests/verify.pyz", weak_program(verify_pyz(), "files_count")),
    ),
    "other_server": (
        "verifier_program",
        lambda t: edit(t, "tests/launcher/launch/launch.c", b"guard_init();", b""),
    ),
    "other_runner": ("verifier_program", lambda t: write(t, "environment/app/check", check_pyz() + b"#", 0o755)),
    "two_policies": ("one_policy", lambda t: edit(t, "environment/app/policy.json", b'"rot"', b'"tor"')),
    "unsaid_family": ("family_table", lambda t: edit(t, "instruction.md", b"| `rot -n`", b"| `rot -m`")),
    "unsaid_contract": ("instruction", lambda t: edit(t, "instruction.md", b"compile.sh", b"build.sh")),
    "two_bases": ("reproducible_image", lambda t: edit(t, "tests/Dockerfile", b"COPY", b"FROM other\nCOPY")),
    "invented_digest": (
        "reproducible_image",
        lambda t: edit(t, "environment/Dockerfile", b"ARG BASE=debian", b"ARG BASE=debian@sha256:00"),
    ),
    "edited_after_create": (
        "harbor_validity",
        lambda t: (t.bundle / "environment/app/docs/README.md").write_bytes(b"# rot\n"),
    ),
    "planted_program": ("closed_tree", lambda t: write(t, "tests/twin/rot", b"#!/bin/sh\n", 0o755)),
    "empty_folder": ("closed_tree", lambda t: (t.bundle / "tests/shared").mkdir()),
    "set_uid": ("file_modes", lambda t: (t.bundle / "tests/test.sh").chmod(0o4755)),
    "private_file": ("file_modes", lambda t: (t.bundle / "environment/app/policy.json").chmod(0o640)),
    "open_folder": ("file_modes", lambda t: (t.bundle / "environment/app").chmod(0o777)),
    "dated_program": ("fixed_times verifier_program", lambda t: rezipped(t, (2020, 1, 2, 3, 4, 6))),
    "variable_read": (
        "verifier_switches verifier_program",
        lambda t: patched(t, "grade", b"import os\n", b"import os\nLAX = os.environ.get('LAX')\n"),
    ),
    "further_module": (
        "verifier_switches verifier_program",
        lambda t: patched(t, "grade", b"import os\n", b"import os\nimport requests\n"),
    ),
    "further_option": (
        "verifier_switches verifier_program",
        lambda t: patched(
            t, "__main__", b'"--launcher", required', b'"--lax")\n    parser.add_argument("--launcher", required'
        ),
    ),
    "system_twin_listed": (
        "listed_programs",
        lambda t: edit(t, "tests/environment.json", b'"/usr/bin/env"', b'"/usr/bin/env","/usr/bin/rot"'),
    ),
    "grader_for_a_user": (
        "listed_programs",
        lambda t: edit(t, "tests/environment.json", b'"uid":61000', b'"uid":0'),
    ),
    "fetching_image": (
        "reproducible_image",
        lambda t: edit(t, "environment/Dockerfile", b"COPY app /app", b"RUN curl https://example.org/x\nCOPY app /app"),
    ),
    "removes_more": ("reproducible_image", lambda t: edit(t, "tests/Dockerfile", b"rf /var", b"rf $(ls) /var")),
    "untagged_base": ("reproducible_image", lambda t: edit(t, "tests/Dockerfile", b"-slim", b"-slim@sha256:0")),
    "too_little_memory": (
        "resources",
        lambda t: edit(t, "task.toml", b"memory_mb = 4096", b"memory_mb = 64"),
    ),
    "endless_attempt": (
        "resources",
        lambda t: edit(t, "task.toml", b"timeout_sec = 7200.0", b"timeout_sec = 9999999.0"),
    ),
    "short_timeout": ("verifier_timeout", shortened),
    "sidecar": (
        "consumers closed_tree",
        lambda t: write(t, "environment/docker-compose.yaml", b"services: {}\n"),
    ),
    "ignoring_file": ("consumers", lambda t: write(t, "environment/app/docs/.gitignore", b"*\n")),
    "no_python": ("consumers", lambda t: edit(t, "environment/Dockerfile", b" python3", b"")),
    "no_terminal": ("consumers", lambda t: edit(t, "environment/Dockerfile", b" tmux", b"")),
    "no_shell_to_grade": ("consumers", lambda t: edit(t, "tests/Dockerfile", b'"bash ', b'"')),
    "user_of_the_verifier": (
        "consumers harbor_validity",
        lambda t: edit(t, "task.toml", b"[verifier]\n", b'[verifier]\nuser = "root"\n'),
    ),
    "task_of_steps": (
        "consumers harbor_validity",
        lambda t: edit(t, "task.toml", b"artifacts = ", b"steps = []\nartifacts = "),
    ),
    "one_image_alone": (
        "consumers",
        lambda t: edit(t, "task.toml", b'workdir = "/tests"', b'workdir = "/tests"\n' + IMAGE),
    ),
    "script_of_one_shell": (
        "consumers verifier_program",
        lambda t: edit(t, "tests/test.sh", b"#!/bin/sh\n", b"#!/bin/zsh\n"),
    ),
    "script_that_names_what_is_not_there": (
        "consumers verifier_program",
        lambda t: edit(t, "tests/test.sh", b"/tests/verify.pyz", b"/tests/verify.py"),
    ),
    "submission_that_nobody_carries": (
        "consumers one_policy verifier_timeout",
        lambda t: [edit(t, f"{side}/policy.json", b'"bytes": 33554432', b'"bytes": 67108864') for side in SIDES],
    ),
    "unsaid_limit": ("instruction", lambda t: edit(t, "instruction.md", b"At most 5000 files", b"At most 9999 files")),
    "unsaid_reward": (
        "instruction",
        lambda t: edit(t, "instruction.md", b"The reward is 1 when", b"The reward is 0 when"),
    ),
    "place_that_is_not_there": ("instruction", lambda t: edit(t, "instruction.md", b"`/app/check`", b"`/app/test`")),
    "miscounted_family": (
        "family_table",
        lambda t: edit(t, "instruction.md", b"| `rot -n` | 4 | 0 |", b"| `rot -n` | 4 | 1 |"),
    ),
    "family_too_many": (
        "family_table",
        lambda t: edit(t, "instruction.md", b"| `rot -n` |", b"| `rot -z` | 1 | 1 |\n| `rot -n` |"),
    ),
    "policy_of_another_form": (
        "one_policy",
        lambda t: [edit(t, f"{side}/policy.json", b'"tool": "rot"', b'"tool":  "rot"') for side in SIDES],
    ),
    "case_that_nobody_counts": ("case_ids harbor_validity sealing", miscounted),
    "altered_case_folder": (
        "case_folders",
        lambda t: write(t, f"environment/app/cases/{t.manifest.public[0]}/expected_exit", b"77\n"),
    ),
    "no_documentation": (
        "given_docs",
        lambda t: [write(t, f"environment/app/docs/{name}", b"?\n") for name in ("help.txt", "README.md")],
    ),
    "path_of_this_project": (
        "host_traces",
        lambda t: write(t, "environment/app/docs/built", bytes(t.bundle.resolve())),
    ),
    "private_key": (
        "key_material",
        lambda t: edit(t, "README.md", b"# rot", b"# rot\n-----BEGIN PRIVATE KEY-----\n"),
    ),
    "secret_of_the_environment": (
        "key_material",
        lambda t: write(t, "environment/app/docs/x", base64.b64encode(os.environb[b"PATH_TOKEN"])),
    ),
    "one_key_for_both": ("sealing two_keys", one_key),
    "waived_for_somebody": (
        "waiver",
        lambda t: edit(t, "tests/plan.json", b'"waived": ""', b'"waived": "' + b"0" * 64 + b'"'),
    ),
}


SILENT = b"    if result is None:\n        return CaseWord.NOT_RUN\n"
TAKEN = b"    if result is None or not result.started:\n        return CaseWord.AC\n"
STALE = b"    stale = [e for e in reading.entries if _is_at_or_below(e, output)]"
WRITTEN = b"    for out, report in zip(asked.out, reports, strict=True):\n"
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
        lambda t: patched(t, "__main__", WRITTEN, TRUSTED + WRITTEN),
    ),
    "key_stays": (
        "grader_hidden",
        lambda t: patched(t, "unseal", b"ctypes.memset(address, 0, len(given))", b"assert address"),
    ),
    "dumpable_grader": ("grader_hidden", lambda t: patched(t, "__main__", b"        refuse_dumps()\n", b"")),
    "missing_case_forgiven": (
        "broken_bundle",
        lambda t: patched(t, "plan", b"    if odd:\n", b"    if odd and not cases:\n"),
    ),
    "lax_runner": (
        "public_runner",
        lambda t: patched(t, "policy", b"if why is not None", b"if why == 0", program="environment/app/check"),
    ),
    "policy_for_nobody": (
        "source_policy",
        lambda t: patched(t, "grade", b"    if refused:\n", b"    if refused == 0:\n"),
    ),
    "silence_is_consent": ("strict_comparison", lambda t: patched(t, "words", SILENT, TAKEN)),
}  # fmt: skip
