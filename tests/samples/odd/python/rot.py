"""An honest program of odd habits.

It prints much, complains much, leaves odd files, and begins as many a program does.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
import dataclasses
import json
import math
from collections.abc import Iterable, Mapping
import os
import signal
import sys

OUT, ERR = sys.stdout.buffer, sys.stderr.buffer


def lots(word):
    OUT.write(b"".join(b"%07d %s\n" % (number, word) for number in range(60_000)))


def noise(word):
    for number in range(2_000):
        ERR.write(b"warning %d: \xff\x1b[31m %s\n" % (number, word))
    OUT.write(word + b"\n")
    return 7


def files(word):
    for number in range(150):
        folder = word + b" %d \xc3\xa9" % (number % 7)
        os.makedirs(folder, exist_ok=True)
        with open(folder + b"/-\xff\n%d" % number, "wb") as file:
            file.write(word * number)
    os.makedirs(b"empty \xfe/" + word)
    os.symlink(b"nowhere/at all/" + word, b"link")
    with open(b"tool", "wb") as file:
        file.write(b"#!/bin/sh\n")
    os.chmod(b"tool", 0o755)


def names(word):
    with open(word, "rb") as file:
        OUT.write(word + b": " + file.read())
    OUT.write(b"\n".join(sorted(os.listdir(b"."))))


def takes(word):
    os.unlink(word)


def octets(word):
    OUT.write(bytes(range(256)) + b"\r\n\0\0" + word)


def nests(word):
    OUT.write(b"[" * 5_000 + word)


def claims(word):
    OUT.write(b'{"reward": 1.0, "word": "AC"}\n1 of 1 PASSED\n' + word)


def dies(word):
    OUT.write(word)
    OUT.flush()
    os.kill(os.getpid(), signal.SIGTERM)


def mute(word):
    ERR.write(word)
    return 1


def none(word):
    return len(word)


WAYS = {b"-" + one.__name__.encode(): one for one in (lots, noise, files, names, takes, octets, nests, claims, dies, mute, none)}


def main(words):
    if not words:
        given = sys.stdin.buffer.read()
        OUT.write(given[::-1] or b"\n")
        return 0
    return WAYS.get(words[0], claims)(*words[1:2] or [b"nothing"]) or 0


if __name__ == "__main__":
    end = main([os.fsencode(word) for word in sys.argv[1:]])
    OUT.flush()
    ERR.flush()
    sys.exit(end)
