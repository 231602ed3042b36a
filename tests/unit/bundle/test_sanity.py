from __future__ import annotations

import dataclasses
import shutil

import pytest

from programsmith.adversaries.weaken import weak_program
from programsmith.blocks import create, sanity
from programsmith.bundle import controls
from programsmith.bundle.grade import grade
from programsmith.bundle.render import PAYLOAD
from programsmith.bundle.sides import read_sides
from programsmith.bundle.solution import solution
from programsmith.errors import InputError
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.tree import write_tree
from programsmith.records import codec
from programsmith.records.golden import Golden
from programsmith.records.outcome import Word
from tests.samples.behind import BY_COMPILER, disguised, ways

NULLS = {"null_most_frequent", "null_help", "null_echo_last", "null_public_table", "null_wrapper"}


def bench(toy, most=0.02):
    toy.rules = {"acceptance": {"nulls_max": most}}
    return sanity.bench_of(toy.job("sanity"))[0]


def graded(toy, name, files):
    folder = toy.folder / name
    write_tree(str(folder), files)
    return grade(toy.bundle, folder, toy.path("r/environments.json"), toy.folder / f"{name}.out")


PAIRS = [
    ("c", "c"),
    ("c", "python"),
    ("python", "c"),
    ("python", "cpp"),
    ("python", "go"),
    ("python", "rust"),
    ("python", "java"),
    ("c", "java"),
    ("javascript", "python"),
    ("javascript", "javascript"),
]
NEEDS = {
    "cpp": ("g++", "g++"),
    "go": ("go", "golang-go"),
    "java": ("javac", "openjdk-17-jdk-headless"),
    "javascript": ("node", "nodejs"),
    "rust": ("cargo", "cargo rustc"),
}


def require(*languages):
    for needed, packages in (NEEDS[language] for language in languages if language in NEEDS):
        if shutil.which(needed) is None:
            pytest.skip(f"{needed} is absent; run: apt-get install -y {packages}")


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_every_control_gets_what_it_must(toys, pair, tmp_path):
    require(*pair)
    toy = toys(*pair).copy(tmp_path / "toy")
    toy.rules = {"acceptance": {"nulls_max": 0.02}}
    outcome = sanity.run(toy.job("sanity"))
    assert outcome.word is Word.PASS, outcome.reason
    rows = {row["id"]: row for row in outcome.evidence["controls"]}
    positive = {"golden_replay", "table", "solution"}
    assert set(rows) == positive | {"altered_table", "nop"} | NULLS | set(sanity.TRIED)
    assert all((rows[name]["reward"], rows[name]["held_out"]) == (0, 4) for name in sanity.TRIED)
    assert all(rows[name]["held_out_passed"] < 4 for name in sanity.TRIED)
    for name in positive:
        assert (rows[name]["reward"], rows[name]["held_out_passed"], rows[name]["public_passed"]) == (1, 7, 7)
    assert (rows["altered_table"]["reward"], rows["altered_table"]["held_out_passed"]) == (0, 6)
    assert all((rows[name]["reward"], rows[name]["held_out_passed"]) == (0, 0) for name in ("nop", *NULLS))
    assert (rows["null_public_table"]["public_passed"], rows["null_public_table"]["public"]) == (7, 7)


@pytest.mark.parametrize(("task", "language"), [("javascript", "python"), ("javascript", "c"), ("c", "javascript")])
def test_right_answers_in_another_language_get_nothing(toys, tmp_path, task, language):
    require(task, language)
    toy = toys(task, task).copy(tmp_path / "toy")
    found = graded(toy, "foreign", controls.table(language, read_sides(toy.bundle).all))
    assert found.reward == 0


@pytest.mark.parametrize(
    ("target", "other"), [("go", "c"), ("rust", "c"), ("java", "c"), ("go", "rust"), ("rust", "java"), ("java", "go")]
)
def test_a_right_program_in_another_language_scores_nothing(toys, target, other, tmp_path):
    require(target, other)
    toy = toys("python", target).copy(tmp_path / "toy")
    sides = read_sides(toy.bundle)
    found = graded(toy, "plain", controls.table(other, sides.all))
    assert (found.reward, found.details["word"]) == (0, "POLICY")
    if other == "c":
        found = graded(toy, "disguised", disguised("c", sides.all, BY_COMPILER))
        assert (found.reward, found.details["word"]) == (0, "BUILD_FAIL")
        assert ways((toy.folder / "disguised.out" / "build.log").read_bytes()) == [], "nothing there compiles C"


ASSEMBLED = b'std::arch::global_asm!(".globl main", "main: ret");\n'
EVASIONS = {
    "taken in by a source": {b"main.rs": b'#![no_main]\ninclude!("more.txt");\n', b"more.txt": ASSEMBLED},
    "a module of another name": {b"main.rs": b'#![no_main]\n#[path = "more"]\nmod more;\n', b"more": ASSEMBLED},
    "renamed by the build": {b"compile.sh": b"cp main.txt main.rs\nrustc main.rs -o executable\n",
                             b"main.txt": b"#![no_main]\n" + ASSEMBLED},
    "behind a quote": {b"main.rs": b"#![no_main]\nconst C: char = '\"';\n" + ASSEMBLED},
    "assembler by another name": {b"main.rs": b"fn main() {}\n", b"more.txt": b"\t.globl main\nmain: ret\n",
                                  b"compile.sh": b"cc -nostdlib -x assembler more.txt -o executable\n"},
}  # fmt: skip
HONEST = b"""//! Never uses global_asm!("..."), nor asm!(include_str!("x")).
const WORDS: [&str; 2] = ["global_asm", r#"asm!(include_str!("x"))"#];
fn main() { std::process::exit((WORDS.len() * 1000 / 1000) as i32 - 2 + '"'.len_utf8() as i32 - 1); }
"""


def test_assembler_within_rust_is_refused_however_it_comes_and_words_of_it_are_not(toys, tmp_path):
    require("rust")
    toy = toys("python", "rust").copy(tmp_path / "toy")
    build = FileEntry(b"compile.sh", "file", 0o755, (PAYLOAD / "submission/rust/compile.sh").read_bytes())
    for name, files in EVASIONS.items():
        given = {build.path: build, **{path: FileEntry(path, "file", 0o755, text) for path, text in files.items()}}
        found = graded(toy, name, given.values())
        assert (found.reward, found.details["word"]) == (0, "POLICY"), (name, found.reason)
    found = graded(toy, "honest", [build, FileEntry(b"main.rs", content=HONEST)])
    assert found.details["word"] == "WA_STDOUT", found.reason


def test_the_twin_grades_the_same_held_out_cases_and_no_public_one(toy):
    files = controls.table("python", read_sides(toy.bundle).held_out)
    [found] = bench(toy).grade([sanity.Control(id="half", files=files, judge=lambda g: "", on=sanity.Part.TWIN)])
    assert found.reward == 1
    assert set(found.details["cases"]["held_out"]) == set(toy.manifest.held_out)
    assert found.details["cases"]["public"] == {}


def test_a_verifier_that_skips_the_exit_code_fails_at_the_bundles_own_submission(toy, tmp_path):
    verifier = toy.bundle / "tests" / "verify.pyz"
    verifier.write_bytes(weak_program(verifier.read_bytes(), "exit_code_counts"))
    made, own = sanity.bench_of(toy.job("sanity"))
    faults = {row["id"]: row["fault"] for row in sanity._rows(made, list(sanity._own(made, own))) if row["fault"]}
    assert {"ends_otherwise"} <= set(faults) < set(sanity.TRIED)
    assert "wanted WA_EXIT" in faults["ends_otherwise"]


def spoil(toy, change):
    """Change the expected side of one held-out case in the pool and create again."""
    victim = toy.manifest.held_out[0]
    pool = codec.load_lines(toy.path("pool.jsonl"), Golden)
    spoiled = [dataclasses.replace(g, expected=change(g.expected)) if g.id == victim else g for g in pool]
    codec.dump_lines(toy.path("pool.jsonl"), spoiled)
    shutil.rmtree(toy.bundle)
    create.run(toy.job("create"))
    return victim


def test_a_golden_that_the_oracle_does_not_give_fails_the_replay_and_nothing_hides_it(toy):
    victim = spoil(toy, lambda e: dataclasses.replace(e, stdout=e.stdout + b"\n"))
    made = bench(toy)
    rows = [sanity._replay_row(made), *sanity._rows(made, list(sanity._positive(made)))]
    faults = {row["id"]: row["fault"] for row in rows if row["fault"]}
    assert set(faults) == {"golden_replay", "solution"}
    assert victim in faults["golden_replay"]
    assert {row["id"]: row["failing"] for row in rows if "failing" in row and row["fault"]} == {
        "golden_replay": [victim],
        "solution": [victim],
    }


def test_a_null_above_the_share_fails(toy):
    common = controls.most_frequent(read_sides(toy.bundle).public)
    spoil(toy, lambda e: dataclasses.replace(
        e, stdout=common[0], exit_code=common[1], signal=None, stderr_empty=True, files=None))  # fmt: skip
    made = bench(toy)
    faults = {row["id"]: row["fault"] for row in sanity._rows(made, list(sanity._nulls(made, 0.02))) if row["fault"]}
    assert set(faults) == {"null_most_frequent"}
    assert "14.3%" in faults["null_most_frequent"]


@pytest.mark.parametrize(
    "pair", [("python", b"- first + places)", b"- first + places + 1)"), ("c", b"+ places)", b"+ places + 1)")]
)
def test_an_off_by_one_edit_of_the_source_scores_nothing(toys, pair, tmp_path):
    language, old, new = pair
    toy = toys(language, language).copy(tmp_path / "toy")
    files = solution(toy.bundle, toy.owner_secret)
    edited = tuple(dataclasses.replace(e, content=e.content.replace(old, new)) for e in files)
    assert edited != files
    assert graded(toy, "edited", edited).reward == 0


def test_a_correct_program_in_another_language_scores_nothing(toys, tmp_path):
    toy = toys("c", "c").copy(tmp_path / "toy")
    cases = read_sides(toy.bundle).all
    python = graded(toy, "python", controls.table("python", cases))
    assert (python.reward, python.word) == (0, "POLICY")
    table = next(e for e in controls.table("python", cases) if e.path == b"main.py")
    hidden = [
        FileEntry(b"compile.sh", content=b"cp data executable; chmod 755 executable\n"),
        FileEntry(b"data", content=b"#!/usr/bin/python3\n" + table.content),
        next(e for e in controls.table("python", cases) if e.path == b"table.txt"),
    ]
    assert graded(toy, "hidden", hidden).reward == 0
    back = toys("python", "python").copy(tmp_path / "back")
    assert graded(back, "c", controls.table("c", read_sides(back.bundle).all)).word == "POLICY"


@pytest.mark.parametrize("pair", [("c", "python"), ("python", "c")])
def test_the_solution_of_another_language_carries_the_oracle_and_scores(toys, pair, tmp_path):
    toy = toys(*pair).copy(tmp_path / "toy")
    files = solution(toy.bundle, toy.owner_secret)
    assert graded(toy, "wrapper", files).reward == 1
    altered = graded(toy, "altered", [*files, FileEntry(b"more.txt", content=b"x")])
    assert (altered.reward, altered.word) == (0, "POLICY" if pair[0] == "c" else "WA_STDOUT")


def test_the_help_null_prints_the_documented_help(toy):
    assert sanity.help_text(bench(toy)).startswith(b"usage: rot")


def test_a_language_without_programs_is_refused():
    with pytest.raises(InputError, match="cobol"):
        controls.program("cobol", "nulls", "echo_last")
