"""How the oracle's own runs of one case may differ: in streams that a spec compares loosely, and just so.

In: the spec's comparator of each stream, two expected sides. Out: the streams in which they differ, or that they differ
otherwise. Only streams that did differ get the spec's comparator in the case; the others are compared exactly.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from programsmith.goldens.capture import same
from programsmith.payload.verifier.compare import choice, comparator, mask_pattern
from programsmith.payload.verifier.model import Expected

STILL: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Allowance:
    """Comparator text by stream; a stream that is not named is compared exactly. Raises ValueError on use."""

    compare: Mapping[str, str] = field(default_factory=dict)

    def differences(self, a: Expected, b: Expected) -> frozenset[str] | None:
        """Streams in which the two differ as they may, none where they are the same; None where they differ otherwise.

        Of two outputs `a` is what is expected, `b` what was got.
        """
        if same(a, b):
            return STILL
        chosen = choice(self.compare.items())
        if not same(a, replace(b, stdout=a.stdout, stderr_empty=a.stderr_empty)):
            return None
        found = set()
        if a.stdout != b.stdout:
            if not comparator(chosen["stdout"])(a.stdout, b.stdout):
                return None
            found.add("stdout")
        if a.stderr_empty != b.stderr_empty:
            if chosen["stderr"] != "ignore":
                return None
            found.add("stderr")
        return frozenset(found)

    def visible(self, expected: Expected, streams: frozenset[str]) -> Expected:
        """What of an expected side is compared at all: without what a mask leaves out."""
        text = dict(self.of(streams)).get("stdout", "")
        if not text.startswith("{") or json.loads(text)["kind"] != "mask":
            return expected
        return replace(expected, stdout=mask_pattern(json.loads(text)["pattern"]).sub(b"", expected.stdout))

    def of(self, streams: frozenset[str]) -> tuple[tuple[str, str], ...]:
        """The comparators of these streams, as a case holds them."""
        chosen = choice(self.compare.items())
        return tuple((stream, chosen[stream]) for stream in sorted(streams))
