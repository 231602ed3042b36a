"""The request of the Python init, read from its descriptor; its form is described in wire.h."""

from __future__ import annotations

NUMBERS = (
    "flags",
    "umask",
    "work_bytes",
    "work_files",
    "cpu_us",
    "memory",
    "max_files",
    "max_bytes",
    "max_depth",
    "shared",
    "clock",
)


class Request:
    """The request, read from its descriptor."""

    def __init__(self, fd: int) -> None:
        with open(fd, "rb") as source:
            source.seek(0)
            self._left = memoryview(source.read())
        self.number = {name: self._number() for name in NUMBERS}
        self.limits = [(self._number(), self._number(), self._number()) for _ in range(self._number())]
        self.hidden, self.work, self.cwd, self.program, self.filter, _hostname = (self._bytes() for _ in range(6))
        self.argv = [self._bytes() for _ in range(self._number())]
        self.env = dict(self._bytes().split(b"=", 1) for _ in range(self._number()))
        self.paths = [(self._number(), self._bytes()) for _ in range(self._number())]  # rights, path
        self.places = [self._bytes() for _ in range(self._number())]
        self.files = [
            (self._number(), self._number(), self._bytes(), self._bytes()) for _ in range(self._number())
        ]  # kind, mode, path, content

    def _number(self) -> int:
        value = int.from_bytes(self._left[:8], "little")
        self._left = self._left[8:]
        return value

    def _bytes(self) -> bytes:
        size = self._number()
        value = bytes(self._left[:size])
        self._left = self._left[size + 1 :]
        return value

    def has(self, flag: int) -> bool:
        """Whether a flag is set."""
        return bool(self.number["flags"] & flag)
