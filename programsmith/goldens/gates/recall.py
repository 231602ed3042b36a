"""Families whose output is a digest-like function of the input: hashes, ciphers, codecs.

Nobody finds such a function by looking at cases: who solves them recalls an algorithm. They count only up to a share.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from programsmith.goldens.capture import inputs_of, outputs_of
from programsmith.records.golden import Golden

_RUN = re.compile(rb"[A-Za-z0-9+/_-]+={0,2}")
_HEX = re.compile(rb"(?i)(?=.*[0-9])(?=.*[a-f])[0-9a-f]+")
_MIXED = re.compile(rb"(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z]).+", re.DOTALL)


def is_digest_like(golden: Golden, letters: int) -> bool:
    """Whether at least half of what a case shows are runs of `letters` or more of a code, which it did not bring."""
    shown, brought = outputs_of(golden.expected), inputs_of(golden.case)
    runs = (r for r in _RUN.findall(shown) if len(r) >= letters and (_HEX.fullmatch(r) or _MIXED.fullmatch(r)))
    coded = sum(len(r) for r in runs if r not in brought)
    return 2 * coded >= len(b"".join(shown.split())) > 0


def recall_families(goldens: Iterable[Golden], letters: int) -> dict[str, int]:
    """Cases of each family of which at least half are digest-like."""
    kinds: defaultdict[str, list[bool]] = defaultdict(list)
    for golden in goldens:
        kinds[golden.family].append(is_digest_like(golden, letters))
    return {family: len(found) for family, found in sorted(kinds.items()) if 2 * sum(found) >= len(found)}


def counted(kept: int, families: Mapping[str, int], share: float) -> int:
    """How many of `kept` cases count: of recall families at most `share` of them."""
    recall = sum(families.values())
    return kept - max(0, recall - int(share * kept))
