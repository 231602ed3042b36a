"""What grading costs in a container, beside a bare loop over the same cases on the host.

`python benchmarks/contained.py [--quick] [--json]`. In: the engine that DOCKER_HOST names and its bases. Out: what
bars.py prints; exit code 1 where a bar is missed. The programs, their cases and the loop are verifier.py's; the
bundle's verifier grades them in its image, as the pipeline does. A ratio is of the container's own time, from its start
to its end as the engine saw them; making and removing it, which a grading pays once, is in `whole_*_ms`. Without an
engine or a base the rows are `missing`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from string import Template

import launch
import verifier
from bars import MISSING, Answer, Run, idle_cores, median, ratio

from programsmith import __version__
from programsmith.bundle import images
from programsmith.bundle.container import tests_digest
from programsmith.bundle.images import Base, Side
from programsmith.bundle.places import environment, folders
from programsmith.bundle.render import LISTS, read_payload, server_sources, server_words
from programsmith.errors import PrerequisiteError
from programsmith.records import codec
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes import docker_seccomp
from programsmith.sandboxes.base import DOCKER
from programsmith.sandboxes.engine import OWNER, engine, labels
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.model import Toolchain

ROWS = tuple(row for row in verifier.ROWS if not row.static)
QUICK, WHOLE = 2, 5  # rounds


class Contained(verifier.Bench):
    """One program as a bundle with an image. Raises PrerequisiteError without an engine or a base."""

    def __init__(self, row: verifier.Row, folder: Path, count: int) -> None:
        book = Rulebook(None)
        tc, rule = toolchains(book.load("toolchains"))[row.language], book.load("containers")
        base = images.require_base(tc, rule["suite"])
        super().__init__(row, folder, count)
        self._lay(tc, rule, base)
        profile = docker_seccomp.text(book.load("seccomp"))
        built = images.bundle_image(self._bundle, Side.VERIFIER, base, more_packages=False)
        task = book.load("limits")["task"]
        place = {
            "kind": DOCKER,
            "image": codec.encode(images.examined(self._bundle, Side.VERIFIER, built, rule, profile)),
            "tests": tests_digest(self._bundle),
            "pids": rule["verifier"]["pids"],
            **{name: task[name] for name in ("cpus", "memory_mb")},
        }
        self._environment.write_text(json.dumps(place))

    def _lay(self, tc: Toolchain, rule: dict, base: Base) -> None:  # type: ignore[type-arg]
        """What a verifier's image is built from besides the cases."""
        tests = self._bundle / "tests"
        absent = " ".join((LISTS, *rule["absent"].get(tc.language, ())))
        packages = " ".join(rule["packages"]["verifier"])
        words = {"base": base.tag, "packages": packages, "absent": absent, **server_words()}
        text = read_payload("harbor", "tests.Dockerfile").decode("utf-8")
        (tests / "Dockerfile").write_text(Template(text).substitute(words, places=" ".join(folders(launch.SLOTS))))
        (tests / "environment.json").write_bytes(environment(tc, (), (), launch.SLOTS, rule))
        (tests / "test.sh").write_bytes(read_payload("harbor", "test.sh"))
        (tests / "test.sh").chmod(0o755)
        for path, content in server_sources().items():
            place = self._bundle / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)

    def contained(self) -> tuple[Run, Run]:
        """Grade once: how long the container ran, how long all of it took.

        Raises RuntimeError where the right submission is not found right.
        """
        since = time.time() - 1
        whole = launch.timed(self.verifier)
        ours = {"type": "container", "label": f"{OWNER}={labels()[OWNER]}"}
        seen = engine().events(decode=True, filters=ours, since=int(since), until=int(time.time()) + 1)
        at = {event["Action"]: event["timeNano"] for event in seen if event["Action"] in {"start", "die"}}
        return Run((at["die"] - at["start"]) / 1e6, 0.0), whole


def main() -> int:
    """Measure each row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    answer = Answer("contained", quick=options.quick, versions={"programsmith": __version__})
    with tempfile.TemporaryDirectory(prefix="programsmith-contained.") as folder:
        before = idle_cores()
        for row in ROWS:
            measure(row, Path(folder), QUICK if options.quick else WHOLE, answer)
        answer.idle = min(before, idle_cores())
    return answer.end(as_json=options.json)


def measure(row: verifier.Row, folder: Path, rounds: int, answer: Answer) -> None:
    """Grade one program and run it bare, one after the other in every round."""
    name = f"loop_over_contained_{row.name}"
    try:
        bench = Contained(row, folder / row.name, row.cases)
    except PrerequisiteError as fault:
        answer.versions[row.name], answer.ratios[name] = str(fault), MISSING
        return
    bench.contained()
    runs = [(*bench.contained(), launch.timed(bench.loop)) for _ in range(rounds)]
    inside, whole, loops = zip(*runs, strict=True)
    for way, each in {"contained": inside, "whole": whole, "loop": loops}.items():
        answer.figures[f"{way}_{row.name}_ms"] = round(median(each).wall)
    answer.ratios[name] = ratio(loops, inside)


if __name__ == "__main__":
    sys.exit(main())
