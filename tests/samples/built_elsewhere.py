"""Builds both images of an exported task from its Dockerfiles and nothing else, and grades in them.

`built_elsewhere.py TASK SCRATCH`, in an engine that DOCKER_HOST names. Prints the rewards of the task's own solution
and of nothing at all. The verifier's image has no archive of a root in it.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

from programsmith.bundle.container import tests_digest
from programsmith.bundle.grade import grade
from programsmith.bundle.images import Side, context
from programsmith.bundle.solution import solution
from programsmith.payload.verifier.tree import write_tree
from programsmith.records import codec
from programsmith.sandboxes.base import Image
from programsmith.sandboxes.docker_images import build_image, read_layers
from programsmith.sandboxes.engine import engine

task, scratch = Path(sys.argv[1]), Path(sys.argv[2])
assert engine().images.list() == []
built = {side: build_image(context(task, side), f"task:{side}", {}, "none") for side in Side}
names = {m.name for layer in read_layers(built[Side.VERIFIER]) for m, _ in layer.entries}
assert not [name for name in names if name.endswith(".tar.gz") and name.startswith("tests/")]
limits = tomllib.loads((task / "task.toml").read_text())["verifier"]["environment"]
inside = json.loads((task / "tests" / "environment.json").read_bytes())
place = {
    "kind": "docker", "fingerprint": "", "pids": 2048, "cpus": limits["cpus"], "memory_mb": limits["memory_mb"],
    "image": codec.encode(Image(id=str(built[Side.VERIFIER].id))), "tests": tests_digest(task),
    **{stage: inside[stage] for stage in ("run", "build", "original")},
}  # fmt: skip
(scratch / "environment.json").write_text(json.dumps(place))
for name, files in {"solution": solution(task), "nop": ()}.items():
    write_tree(str(scratch / name), files)
    got = grade(task, scratch / name, scratch / "environment.json", scratch / f"{name}.out")
    print(name, got.reward, got.word)
