"""A scripted agent that re-implements tally and, as its seed has it, misreads some of the documentation.

It hands in its own program, with the help texts from /app/docs. `--seed N` decides what it gets wrong; a careful one
gets all of it right. It looks at nothing but the documentation, and not at the cases.
"""

import argparse
import json
import pathlib
import random
import shutil

from misreadings import MISREADINGS

APP = pathlib.Path("/app")
OWN = pathlib.Path(__file__).parent / "attempt"
CAREFUL, HASTY = 0.2, 0.4  # share of attempts without any slip; chance of each slip in the others


def slips(seed):
    """What the attempt with this seed gets wrong."""
    chance = random.Random(seed)
    if chance.random() < CAREFUL:
        return []
    return [name for name in MISREADINGS if chance.random() < HASTY]


def program(seed, texts):
    """The program that the attempt hands in; `texts` are the lines of each help text."""
    source = (OWN / "main.py").read_text()
    for name in slips(seed):
        right, wrong = MISREADINGS[name]
        if source.count(right) != 1:
            raise SystemExit("%s: its line is not in the program once" % name)
        source = source.replace(right, wrong)
    return source.replace("HELP = {}", "HELP = " + json.dumps(texts, indent=1, sort_keys=True))


def help_texts(docs):
    """Lines of each help text, by what shows it."""
    return {file.name[: -len(".txt")]: file.read_text().splitlines() for file in sorted(docs.glob("help/*.txt"))}


def main():
    """Write the submission."""
    words = argparse.ArgumentParser()
    words.add_argument("--seed", type=int, required=True)
    seed = words.parse_args().seed
    (APP / "submission" / "main.py").write_text(program(seed, help_texts(APP / "docs")))
    shutil.copy(OWN / "compile.sh", APP / "submission" / "compile.sh")
    print("wrote a program%s" % "".join("; " + name for name in slips(seed)))


if __name__ == "__main__":
    main()
