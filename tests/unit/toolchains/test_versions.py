"""Versions compare as numbers, and specifiers mean what Python's packaging says."""

from __future__ import annotations

import pytest

from programsmith.toolchains.versions import at_least, satisfies


@pytest.mark.parametrize(
    ("version", "minimum", "met"),
    [("3.11.2", "3.11", True), ("3.9", "3.11", False), ("3.11", "3.11.0", True), ("2.71", "2.69b", True),
     ("", "1", False)],
)  # fmt: skip
def test_a_minimum_is_met_by_numbers_not_by_letters(version, minimum, met):
    assert at_least(version, minimum) is met


@pytest.mark.parametrize(
    ("specifiers", "met"),
    [
        (">=3.8", True), (">=3.8,<4", True), (">=3.12", False), ("<3.11", False), ("!=3.11.*", False),
        ("!=3.10.*", True), ("==3.*", True), ("==3.10.*", False), ("~=3.8", True), ("~=3.11.1", True),
        ("~=3.10.0", False),
        ("==3.11.2", True),
        (">3.11.2", False), ("<=3.11.2", True), ("", True),
    ],
)  # fmt: skip
def test_specifiers(specifiers, met):
    assert satisfies("3.11.2", specifiers) is met
