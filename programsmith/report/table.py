"""Rows as aligned lines."""

from __future__ import annotations

from collections.abc import Sequence


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Each column as wide as its widest cell; a row's last cell takes what it needs."""
    widths: dict[int, int] = {}
    for row in rows:
        for i, cell in enumerate(row[:-1]):
            widths[i] = max(widths.get(i, 0), len(cell))
    return [
        "  ".join([*(f"{cell:<{widths[i]}}" for i, cell in enumerate(row[:-1])), *row[-1:]]).rstrip() for row in rows
    ]
