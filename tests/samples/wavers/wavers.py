#!/usr/bin/python3
"""Prints what its first argument names: one of its surroundings each."""

import locale
import os
import random
import sys
import time


def order() -> str:
    return " ".join(os.listdir("."))


def shuffled() -> str:
    lines = list("abcdefgh")
    random.SystemRandom().shuffle(lines)
    return "\n".join(lines)


def width() -> str:
    return "x" * min(100, os.get_terminal_size(0).columns if os.isatty(0) else int(os.environ["COLUMNS"]))


PRINTS = {
    "steady": lambda: "steady",
    "tz": lambda: time.strftime("%H", time.localtime(0)),
    "locale": lambda: str(locale.setlocale(locale.LC_ALL, "")),
    "home": lambda: os.path.expanduser("~"),
    "user": lambda: os.environ["USER"],
    "hostname": lambda: os.uname().nodename,
    "cwd": os.getcwd,
    "umask": lambda: oct(os.umask(0)),
    "columns": width,
    "term": lambda: os.environ["TERM"],
    "one_cpu": lambda: str(len(os.sched_getaffinity(0))),
    "directory_order": order,
    "hash_seed": lambda: " ".join({"alpha", "beta", "gamma", "delta", "epsilon"}),
    "clock": lambda: time.strftime("%b", time.gmtime()),
    "heap": lambda: os.environ.get("MALLOC_PERTURB_", "none"),
    "over_strict": lambda: sys.argv[0],
    "shuffled": shuffled,
    "jitter": lambda: f"sum {1 + random.SystemRandom().random() / 1e6}",
    "stamp": lambda: f"run {random.SystemRandom().randrange(1000, 9999)} ends",
    "listing": lambda: "\n".join(os.listdir(".")),
    "sometimes": lambda: (sys.stderr.write("x" * random.SystemRandom().randrange(2)), "said")[1],
    "always": lambda: str(random.SystemRandom().random()),
}

if __name__ == "__main__":
    print(PRINTS[sys.argv[1]](), *sys.argv[2:])
