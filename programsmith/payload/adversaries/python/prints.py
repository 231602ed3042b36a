"""Prints what a careless reader chokes on, in the way that way.txt names."""

from __future__ import annotations

import importlib
import sys

WAYS = {"garbage": bytes(range(256)) * 16 + b"\xed\xa0\x80", "nests": b"[" * 200_000 + b"]" * 200_000}

if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    kit = importlib.import_module("kit")
    kit.say(1, WAYS[kit.word("way")])
