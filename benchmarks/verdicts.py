"""Whether a bundle's own submissions get the verdict that they must, and tell nine mutants of the verifier from it.

`python benchmarks/verdicts.py FOLDER [--quick] [--json]`. In: the folder of a built revision, as `cache/NAME/r0`; the
secret of one that its owner sealed, in the environment. Out: what bars.py prints; exit code 1 where a bar is missed.
--quick tries each mutant with the one submission that must tell; without it with all.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bars import Answer, idle_cores

from programsmith.adversaries.mutants import MUTANTS, differences, mutate
from programsmith.bundle.sides import read_sides
from programsmith.bundle.submissions import read_submissions
from programsmith.payload.verifier.unseal import take_secret


def main(words: Sequence[str] | None = None) -> int:
    """Grade them all, then with each mutant; the exit code."""
    parser = argparse.ArgumentParser(description="Try a verifier on submissions whose verdict is known.")
    parser.add_argument("folder", type=Path, help="a built revision, as cache/NAME/r0")
    parser.add_argument("--quick", action="store_true", help="each mutant with one submission")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args(words)
    answer = Answer("verdicts", quick=asked.quick, idle=idle_cores())
    with tempfile.TemporaryDirectory(prefix="verdicts-") as scratch:
        Path(scratch).chmod(0o755)
        measure(asked.folder.resolve(), Path(scratch), answer)
    return answer.end(as_json=asked.json)


def measure(folder: Path, scratch: Path, answer: Answer) -> None:
    """Fill in the figures. Raises InfraError."""
    bundle, environment, secret = folder / "bundle", folder / "environments.json", take_secret()
    sides, wanted = read_sides(bundle, secret), read_submissions(bundle, secret)
    odd = differences(bundle, sides, wanted, environment, scratch / "real", secret)
    for name, fault in odd.items():
        print(f"{name}: {fault}", file=sys.stderr)
    answer.figures |= {"submissions": len(wanted), "unexpected": len(odd)}
    caught = 0
    for mutant, (_, telling) in MUTANTS.items():
        tried = [one for one in wanted if one.id == telling or not answer.quick]
        mutated = mutate(bundle, mutant, scratch / mutant)
        told = differences(mutated, sides, tried, environment, scratch / f"{mutant}.tried", secret)
        answer.figures[f"tell_{mutant}"] = len(told)
        caught += bool(told)
    answer.figures["mutants_caught"] = caught


if __name__ == "__main__":
    sys.exit(main())
