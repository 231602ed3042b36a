"""Runners: one file per kind of suite; the registry is one dict, in the order in which suites are run."""

from __future__ import annotations

from programsmith.miners.recording.runner import Runner
from programsmith.miners.recording.runners.bats import Bats
from programsmith.miners.recording.runners.cargo import Cargo
from programsmith.miners.recording.runners.go import Go
from programsmith.miners.recording.runners.make_check import MakeCheck
from programsmith.miners.recording.runners.python_tests import PythonTests
from programsmith.miners.recording.runners.scripts import Scripts

RUNNERS: dict[str, Runner] = {r.name: r for r in (Bats(), Cargo(), Go(), MakeCheck(), PythonTests(), Scripts())}
