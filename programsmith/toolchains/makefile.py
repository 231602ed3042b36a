"""Enough of make to know what a Makefile builds: variables expanded, rules listed. Nothing is run."""

from __future__ import annotations

import re
from dataclasses import dataclass

ASSIGN = re.compile(r"\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*(\+|:{1,3}|\?)?=\s*(.*)")
RULE = re.compile(r"([^\t#:=][^#:=]*?)\s*::?\s*(?!=)(.*)")
REFERENCE = re.compile(r"\$[({]([\w.-]+)(?::([^=)}]*)=([^)}]*))?[)}]")
MOST_ROUNDS = 10
MOST_LETTERS = 20_000  # of an expanded text; a value is at most a fifth of it
MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: a target, what it needs, its recipe."""

    target: str
    needs: tuple[str, ...]
    recipe: tuple[str, ...]


class Makefile:
    """The variables and rules of one Makefile. Conditionals are read as if every branch were taken."""

    def __init__(self, content: bytes) -> None:
        self._values: dict[str, str] = {}
        self.rules: list[Rule] = []
        text = content[:MOST_BYTES].decode("utf-8", "surrogateescape").replace("\\\n", " ")
        lines = text.splitlines()
        for line in lines:
            if hit := ASSIGN.fullmatch(line.partition("#")[0]):
                self._assign(hit[1], hit[2], hit[3].strip())
        self._read_rules(lines)

    def _assign(self, name: str, operator: str | None, value: str) -> None:
        if operator == "+":
            self._values[name] = f"{self._values.get(name, '')} {value}"
        elif operator != "?" or name not in self._values:
            self._values[name] = value

    def _read_rules(self, lines: list[str]) -> None:
        heads: list[tuple[str, tuple[str, ...]]] = []
        recipe: list[str] = []
        for line in [*lines, "end:"]:
            if line.startswith("\t"):
                recipe.append(line.strip())
                continue
            hit = None if ASSIGN.fullmatch(line) else RULE.fullmatch(self.expand(line.rstrip()))
            if hit is None:
                continue
            self.rules += [Rule(target, needs, tuple(recipe)) for target, needs in heads]
            needs = tuple(hit[2].partition(";")[0].split())
            heads, recipe = [(target, needs) for target in hit[1].split()], []

    def words(self, name: str) -> list[str]:
        """The expanded words of a variable; none where it is not set."""
        return self.expand(self._values.get(name, "")).split()

    def expand(self, text: str) -> str:
        """`text` with variables replaced, `$(V:.c=.o)` included; what cannot be known stays as it is written."""
        for _ in range(MOST_ROUNDS):
            new = REFERENCE.sub(self._value, text)
            if new == text or len(new) > MOST_LETTERS:
                return text
            text = new
        return text

    def _value(self, hit: re.Match[str]) -> str:
        if hit[1] not in self._values:
            return hit[0] if hit[1] in {"CC", "LD"} else ""
        value = self._values[hit[1]][: MOST_LETTERS // 5]
        if hit[2] is None:
            return value
        end = re.escape(hit[2])
        return " ".join(re.sub(f"{end}$", lambda _: hit[3], word) for word in self.expand(value).split())
