"""Miners: one file per test format; the registry is one dict, the surest formats first."""

from __future__ import annotations

from programsmith.miners.base import Miner
from programsmith.miners.case_dirs import CaseDirs
from programsmith.miners.doc_blocks import DocBlocks
from programsmith.miners.driver_calls import DriverCalls
from programsmith.miners.features import Features
from programsmith.miners.go_tables import GoTables
from programsmith.miners.inline_tests import InlineTests
from programsmith.miners.line_groups import LineGroups
from programsmith.miners.recorder import Recorder
from programsmith.miners.samples import Samples
from programsmith.miners.shelltest import ShellTest
from programsmith.miners.sibling_pairs import SiblingPairs
from programsmith.miners.snapshots import Snapshots
from programsmith.miners.sourced_tests import SourcedTests
from programsmith.miners.spec_examples import SpecExamples
from programsmith.miners.tables import Tables
from programsmith.miners.testscript import TestScript
from programsmith.miners.transcripts import Transcripts
from programsmith.miners.trycmd import TryCmd

MINERS: dict[str, Miner] = {
    m.name: m
    for m in (
        CaseDirs(),
        SourcedTests(),
        DriverCalls(),
        LineGroups(),
        SpecExamples(),
        Tables(),
        SiblingPairs(),
        Transcripts(),
        ShellTest(),
        InlineTests(),
        TestScript(),
        TryCmd(),
        Snapshots(),
        Features(),
        DocBlocks(),
        GoTables(),
        Recorder(),
        Samples(),
    )
}
WHEN_THIN = frozenset({Recorder.name})
"""Miners that run the source's suite: `auto` asks them, after the others, where those find little."""
ASKED_FOR = frozenset({"samples"})
"""Miners that run only where a spec names them: what they find is no test, so nothing of it could be confirmed."""
