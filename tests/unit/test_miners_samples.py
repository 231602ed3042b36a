from __future__ import annotations

from collections import Counter

from programsmith.miners.base import MineContext
from programsmith.miners.samples import Samples
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.golden import Recorded
from programsmith.sources.tree import SourceTree
from tests.samples.mine import LIMITS


def read(files, *options):
    context = MineContext(tool="tool", licence=lambda _: "MIT", limits=LIMITS, options=options)
    tree = SourceTree(FileEntry(path, "file", 0o644, content) for path, content in files.items())
    return list(Samples().mine(tree, context)), context.skipped


CORPUS = {b"examples/%02d.nbt" % n: b"%d" % n for n in range(60)}


def test_each_sample_is_handed_over_and_each_mode_tries_a_few():
    found, _ = read(CORPUS, "-a", "--long", "--interactive", "--output")
    modes = Counter(m.case.argv[0] if len(m.case.argv) > 1 else b"" for m in found)
    assert modes == {b"": 80, b"-a": 4, b"--long": 4}
    assert {m.recorded for m in found} == {Recorded()}
    tried = {mode: {m.group for m in found if m.case.argv[:1] == (mode,)} for mode in (b"-a", b"--long")}
    assert tried[b"-a"] != tried[b"--long"]
    assert found == read(CORPUS, "-a", "--long", "--interactive", "--output")[0]


def test_what_is_no_corpus_yields_nothing():
    few = {b"examples/%d.nbt" % n: b"x" for n in range(3)}
    assert read(few) == ([], {"small_corpus": 3})
    assert read({b"src/%d.nbt" % n: b"x" for n in range(9)})[0] == []
    assert read({b"examples/%d.sh" % n: b"x" for n in range(9)})[0] == []
    assert read({b"examples/%d.nbt" % n: b"x" * 70_000 for n in range(9)})[0] == []
