#!/usr/bin/python3 -IS
import sys

def main(words):
    out, upper = sys.stdout.buffer, False
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word == "-u":
            upper = True
        elif word == "-o" and words:
            out = open(words.pop(0), "wb")
        else:
            sys.stderr.write("twice: bad option\n")
            return 2
    for line in sys.stdin.buffer:
        line = line.upper() if upper else line
        out.write(line * 2)
    return 0

sys.exit(main(sys.argv[1:]))
