"""Turn letters by some places: `rot [-n N] [-e] [-o FILE] [FILE]`."""

import os
import sys


def turn(data, places):
    out = bytearray()
    for byte in data:
        for first in (65, 97):
            if first <= byte < first + 26:
                byte = (byte - first + places) % 26 + first
                break
        out.append(byte)
    return bytes(out)


def fail(message):
    sys.stderr.write(f"rot: {message}\n")
    return 3


def main(words):
    places, target, source = 13, None, None
    while words:
        word = words.pop(0)
        if word == "-n":
            value = words.pop(0)
            if not value.isdigit():
                return fail("wanted a number")
            places = int(value)
        elif word == "-e":
            places = int(os.environ.get("ROT", "13"))
        elif word == "-o":
            target = words.pop(0)
        elif word.startswith("-"):
            return fail("unknown option")
        else:
            source = word
    try:
        data = open(source, "rb").read() if source else sys.stdin.buffer.read()
    except OSError:
        return fail("cannot read")
    out = turn(data, places)
    if target:
        with open(target, "wb") as file:
            file.write(out)
    else:
        sys.stdout.buffer.write(out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
