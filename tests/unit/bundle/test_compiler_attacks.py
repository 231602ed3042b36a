"""What turns a compiler against its host: each build ends within its limits, and leaves the next one alone."""

from __future__ import annotations

import shutil

import pytest

from programsmith.adversaries.cut import Choice, cut
from programsmith.bundle.controls import table
from programsmith.bundle.grade import grade
from programsmith.bundle.sides import read_sides
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.tree import write_tree
from tests.contract.backends import base_image
from tests.unit.bundle.conftest import environments

BUILDING = {
    "cpu_seconds": 1,
    "wall_seconds": 15,
    "memory_bytes": 256 << 20,
    "output_bytes": 1 << 16,
    "work_bytes": 32 << 20,
}
LOOPS = "".join(f"#define M{n} M{n - 1} M{n - 1} M{n - 1} M{n - 1}\n" for n in range(1, 24))
SOURCES = {
    "a huge array": "int main[-1u] = {1};",
    "a gigabyte of data": "char much[1 << 30] = {1}; int main(void) { return much[0]; }",
    "zeros without end": '#include "/dev/zero"\nint main(void) { return 0; }',
    "chance without end": '#include "/dev/urandom"\nint main(void) { return 0; }',
    "a terminal": '#include "/dev/tty"\nint main(void) { return 0; }',
    "itself, twice": "#warning again\n#include __FILE__\n#include __FILE__\n",
    "macros without end": f"#define M0 1 +\n{LOOPS}int main(void) {{ return M23 0; }}",
    "held-out cases": '__asm__(".incbin \\"/tests/held_out.sealed\\""); int main(void) { return 0; }',
    "public cases": '#include "/tests/public.jsonl"\nint main(void) { return 0; }',
}
COMPILES = b"cd /app/submission && cc -w -o executable main.c\n"
WAITS = b"cd /app/submission && cc -o executable -x c /dev/stdin\n"  # nobody says anything there
POISONS = b"""for place in "$HOME" /tmp /usr/include /usr/lib /usr/local/include /etc /var/tmp .; do
  echo '#error poisoned' >$place/stdio.h; echo '*link: none' >$place/specs; echo exit 1 >$place/cc; chmod 755 $place/cc
done
exit 1
"""


@pytest.fixture(scope="module")
def built(toys, tmp_path_factory):
    """Grades files as a submission of the task in C, whose builds have little."""
    folder = tmp_path_factory.mktemp("compiler")
    toy = toys("c", "c")
    sides = cut(read_sides(toy.bundle), toy.bundle, Choice(count=1, building=BUILDING), folder / "cut")

    def graded(files, where=None):
        place = folder / "submission"
        shutil.rmtree(place, ignore_errors=True)
        write_tree(str(place), files)
        return grade(folder / "cut", place, where or toy.path("r/environments.json"), folder / "out")

    return graded, table("c", sides.held_out), toy


def source(text, script=COMPILES):
    return (FileEntry(b"compile.sh", "file", 0o755, script), FileEntry(b"main.c", content=text.encode()))


@pytest.mark.parametrize("what", SOURCES)
def test_a_source_that_is_too_much_for_a_compiler_ends_its_build(built, what):
    got = built[0](source(SOURCES[what]))
    assert (got.reward, got.ends) == (0.0, ())
    assert got.word in {"BUILD_FAIL", "POLICY"}, (got.word, got.reason)


def test_a_compiler_that_waits_is_told_nothing(built):
    got = built[0](source("", WAITS))
    assert (got.reward, got.word) == (0.0, "BUILD_FAIL")


def test_what_a_build_does_to_the_toolchain_is_gone_with_it(built):
    graded, right, _ = built
    assert graded(source("", POISONS)).word == "BUILD_FAIL"
    assert graded(right).reward == 1.0


@pytest.mark.docker
@pytest.mark.soak
def test_the_same_in_a_container(built, tmp_path):
    graded, right, toy = built
    base_image("c")
    there = environments(toy.copy(tmp_path / "toy"))["docker"]
    for what, text in SOURCES.items():
        got = graded(source(text), there)
        assert (got.reward, got.ends) == (0.0, ()), what
        assert got.word in {"BUILD_FAIL", "POLICY"}, (what, got.word, got.reason)
    for script in (WAITS, POISONS):
        assert graded(source("", script), there).word == "BUILD_FAIL"
    assert graded(right, there).reward == 1.0
