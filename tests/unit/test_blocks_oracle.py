"""The block end to end on a small C program: tree, facts, documents, and both ways of saying no."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from programsmith.blocks import oracle
from programsmith.compiler.plan import STEP
from programsmith.job import Job, Rules, Tracked
from programsmith.payload.verifier.model import FileEntry
from programsmith.records import codec
from programsmith.records.lock import Candidate, EntryPoint, LicenceFact, Lock, OracleFacts
from programsmith.sources.tree import SourceTree, read_tar, write_tar

ROOT = Path(__file__).parents[2]
SOURCE = b"""#include <stdio.h>
#include <string.h>
#define HELP "Usage: toy [--loud]\\nHome: https://forge.example/o/toy"
int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--help")) { puts(HELP); return 0; }
    if (argc > 1 && !strcmp(argv[1], "--version")) { puts("toy 2.5"); return 0; }
    return 1;
}
"""
FILES = {
    "Makefile": b"toy: toy.c\n\t$(CC) -o $@ toy.c\n",
    "toy.c": SOURCE,
    "README": b"From https://forge.example/o/toy with love\n",
    "LICENSE": b"MIT\n",
}
ENTRY = EntryPoint(tool="toy", kind="c-binary", target="toy", how="Makefile")


@pytest.fixture
def run(tmp_path):
    """Run the block over a source; returns the outcome and the folder of outputs."""

    def start(files: dict[str, bytes], build: dict[str, object]):
        step = STEP["oracle"]
        paths = {name: tmp_path / name for name in (*step.reads, *step.writes)}
        lock = Lock(
            name="toy", origin="https://forge.example/o/toy", commit="c" * 40, tree="t", files=4, licence="MIT",
            licences=(LicenceFact(path="LICENSE", expression="MIT", how="text"),), language="c", build_system="make",
            code_lines=8, entry_points=(ENTRY,),
        )  # fmt: skip
        candidate = Candidate(
            tool="toy", target_language="c", source_language="c", entry=ENTRY, scope="program", code_lines=8, options=1,
            score=1.0, reasons=(),
        )  # fmt: skip
        codec.dump(paths["lock.json"], lock)
        codec.dump(paths["candidate.json"], candidate)
        write_tar(paths["source.tar"], SourceTree(FileEntry(n.encode(), content=b) for n, b in files.items()))
        (tmp_path / "scratch").mkdir()

        def rule(name: str):
            return yaml.safe_load((ROOT / "rules" / f"{name}.yaml").read_text("utf-8"))

        job = Job(
            spec=Tracked("spec field", {"build": build}, step.spec),
            rules=Rules(rule, step.rules),
            inputs={n: paths[n] for n in step.reads},
            outputs={n: paths[n] for n in step.writes},
            scratch=tmp_path / "scratch",
            project=tmp_path,
            store=tmp_path,
            dist=tmp_path,
        )
        return oracle.run(job), paths

    return start


def test_a_program_becomes_a_tree_facts_and_documents(run):
    outcome, paths = run(FILES, {})
    assert outcome.word == "pass"
    facts = codec.load(paths["facts.json"], OracleFacts)
    assert (facts.program, facts.version, facts.options) == ("/opt/oracle/bin/toy", "2.5", ("--loud",))
    assert facts.fingerprint
    assert [e.path for e in read_tar(paths["oracle.tar"]) if e.kind == "file"] == [b"bin/toy"]
    docs = {e.path: e.content for e in read_tar(paths["docs.tar"])}
    assert set(docs) == {
        b"README", b"help/--help.txt", b"help/--version.txt", b"licences/ATTRIBUTION", b"licences/LICENSE",
    }  # fmt: skip
    assert b"forge.example" not in b"".join(docs.values())
    assert docs[b"README"] == b"From [upstream address removed] with love\n"


def test_what_the_spec_says_is_started_is_shown_and_recorded(run):
    outcome, paths = run(FILES, {"exec": ["/usr/bin/sort"]})
    assert outcome.word == "pass"
    assert codec.load(paths["facts.json"], OracleFacts).exec_allowed == ("/usr/bin/sort",)


def test_a_source_that_does_not_build_is_unbuildable_with_its_log(run):
    outcome, paths = run({**FILES, "toy.c": b"#error no\n"}, {})
    assert outcome.word == "unbuildable"
    assert any("#error no" in line for line in outcome.evidence["log"])
    assert not paths["oracle.tar"].exists()


def test_a_program_that_does_not_start_where_cases_run_is_unbuildable(run):
    """A script for an interpreter that no view shows."""
    makefile = b"toy: toy.c\n\tprintf '#!/usr/bin/perl\\n' > toy; chmod 755 toy\n"
    install = b"install:\n\tmkdir -p $(DESTDIR)$(prefix)/bin\n\tcp toy $(DESTDIR)$(prefix)/bin\n"
    outcome, _ = run({**FILES, "Makefile": makefile + install}, {})
    assert outcome.word == "unbuildable"
    assert "does not start where cases run" in outcome.reason


def saying(words: str, code: int) -> dict[str, bytes]:
    """The source, of a program that says the words whatever it is asked."""
    text = words.encode().replace(b'"', b'\\"').replace(b"\n", b"\\n")
    main = b'int main(void) { fputs("%s\\n", stderr); return %d; }\n' % (text, code)
    return {**FILES, "toy.c": b"#include <stdio.h>\n" + main}


MISSING = [
    "Traceback (most recent call last):\n  File\nModuleNotFoundError: No module named 'words'",
    "Traceback:\nImportError: libwords.so.0: cannot open shared object file: No such file or directory",
    "node:internal\n  throw err;\nError: Cannot find module 'words'\nRequire stack:",
    'Exception in thread "main" java.lang.NoClassDefFoundError: org/words/Words',
]


@pytest.mark.parametrize("said", MISSING)
def test_a_program_that_misses_what_it_needs_is_unbuildable_and_no_oracle(run, said):
    """Its every case would be one and the same failure."""
    outcome, _ = run(saying(said, 1), {})
    assert outcome.word == "unbuildable"
    assert "misses a part of it" in outcome.reason
    assert "build.fetch" in outcome.reason
    assert "words" in outcome.evidence["stderr"]


@pytest.mark.parametrize("said", MISSING)
def test_a_program_may_say_such_words_where_it_works(run, said):
    assert run(saying(said, 0), {})[0].word == "pass"
