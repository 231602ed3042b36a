"""A scripted agent that re-implements tally and, as its seed has it, misreads some of the documentation.

It writes its own program, with the help texts from /app/docs, runs the public cases on it, and mends what at least two
of them show: a single odd case it overlooks. `--seed N` decides what it misreads; a careful one misreads nothing.
"""

import argparse
import json
import pathlib
import random
import shutil

import public
from misreadings import MISREADINGS

APP = pathlib.Path("/app")
OWN = pathlib.Path(__file__).parent / "attempt"
CAREFUL, HASTY = 0.2, 0.4  # share of attempts without any slip; chance of each slip in the others
NOTICED = 2  # public cases that must show a slip


def slips(seed):
    """What the attempt with this seed misreads."""
    chance = random.Random(seed)
    if chance.random() < CAREFUL:
        return []
    return [name for name in MISREADINGS if chance.random() < HASTY]


def program(names, texts):
    """The program with these slips; `texts` are the lines of each help text."""
    source = (OWN / "main.py").read_text()
    for name in names:
        right, wrong = MISREADINGS[name]
        if source.count(right) != 1:
            raise SystemExit("%s: its lines are not in the program once" % name)
        source = source.replace(right, wrong)
    return source.replace("HELP = {}", "HELP = " + json.dumps(texts, indent=1, sort_keys=True))


def overlooked(names, texts, cases):
    """The slips that fewer public cases show than are noticed."""

    def failing(slipped, some):
        compiled = compile(program(slipped, texts), "main.py", "exec")
        return [case for case in some if not public.passes(compiled, case)]

    red = failing(names, cases)
    shown = {name: len(red) - len(failing([n for n in names if n != name], red)) for name in names}
    return [name for name in names if shown[name] < NOTICED]


def help_texts(docs):
    """Lines of each help text, by what shows it."""
    return {file.name[: -len(".txt")]: file.read_text().splitlines() for file in sorted(docs.glob("help/*.txt"))}


def main():
    """Write the submission."""
    words = argparse.ArgumentParser()
    words.add_argument("--seed", type=int, required=True)
    texts = help_texts(APP / "docs")
    misread = slips(words.parse_args().seed)
    left = overlooked(misread, texts, public.cases(APP / "public.jsonl"))
    (APP / "submission" / "main.py").write_text(program(left, texts))
    shutil.copy(OWN / "compile.sh", APP / "submission" / "compile.sh")
    print("misread: %s\noverlooked: %s" % ("; ".join(misread) or "nothing", "; ".join(left) or "nothing"))


if __name__ == "__main__":
    main()
