"""What is known of the cases of one revision, for whoever labels its trials.

In: manifest, pool, what each case asks and shows, the kills, what trials asked the original. Out: the ground of triage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from programsmith.bundle.manifest import Manifest
from programsmith.records import codec
from programsmith.records.golden import Discovery, Golden, Kills
from programsmith.verdict.discovery import lacks
from programsmith.verdict.triage import Ground


def read_ground(inputs: Mapping[str, Path], trials: Iterable[Mapping[str, Any]]) -> Ground:
    """The ground, from artifacts by name and the rows of the trials."""
    manifest = codec.load(inputs["r/manifest.json"], Manifest)
    discovery = codec.load(inputs["discovery.json"], dict[str, Discovery])
    kills = codec.load(inputs["kills.json"], Kills)
    return Ground(
        public=manifest.public,
        held_out=manifest.held_out,
        families={g.id: g.family for g in codec.load_lines(inputs["pool.jsonl"], Golden)},
        lacks=lacks(manifest.public, manifest.held_out, discovery, kills),
        queried=frozenset(family for row in trials for family in row["asked"]),
    )
