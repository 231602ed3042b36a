"""Gives masked machine code its own bytes back."""

from __future__ import annotations

import os

MASK = 0x5A
MASKED, EXECUTABLE = "/app/submission/answer.dat", "/app/submission/executable"


def unmasked() -> bytes:
    """The program."""
    with open(MASKED, "rb") as file:
        return bytes(byte ^ MASK for byte in file.read())


if __name__ == "__main__":
    with open(EXECUTABLE, "wb") as out:
        out.write(unmasked())
    os.chmod(EXECUTABLE, 0o755)  # noqa: S103
