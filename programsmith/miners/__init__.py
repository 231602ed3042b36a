"""Miners: one file per test format; the registry is one dict."""

from __future__ import annotations

from programsmith.miners.base import Miner
from programsmith.miners.case_dirs import CaseDirs
from programsmith.miners.driver_calls import DriverCalls
from programsmith.miners.line_groups import LineGroups
from programsmith.miners.sibling_pairs import SiblingPairs
from programsmith.miners.tables import Tables

MINERS: dict[str, Miner] = {m.name: m for m in (CaseDirs(), DriverCalls(), LineGroups(), Tables(), SiblingPairs())}
