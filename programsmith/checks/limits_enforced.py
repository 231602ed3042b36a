"""Limits hold over everything that a case starts: CPU, memory, processes, output, what it writes, time.

The bundle's own verifier grades, under the rule's small limits, a program that answers exactly where it could use more.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from programsmith.checks.attempts import alone, attempts, judged
from programsmith.checks.base import Row, Scene

WALL = "wall"
PATIENCE = 30.0  # seconds that the clock leaves to the other tries, on whatever host
RERUNS = 2  # launches that a busy host broke
TRIES = {
    "cpu": "uses more CPU time, split over processes",
    "memory": "uses more memory, spread over processes",
    "processes": "starts more processes",
    "output": "goes on printing after the right answer",
    "work": "writes more bytes",
    WALL: "takes more time",
}


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:
    """Make each try in a case of its own; that of the clock, which takes time and nothing else, beside the others."""
    patient = {**parameters, "wall_extra_seconds": PATIENCE, "reruns": RERUNS}
    others = [name for name in TRIES if name != WALL]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(alone, scene, WALL, parameters)
        words = {**attempts(scene, others, patient), **waiting.result()}
    return judged(words, TRIES, f"{len(TRIES)} limits hold", "limits")
