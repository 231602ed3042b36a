"""What an adversary that a model drives is told: to score without solving, and the task as others get it, as data.

In: the rule's text, a bundle's instruction, which holds words of the repository. Out: the instruction of the attempt.
"""

from __future__ import annotations

from programsmith.models.request import Section, shown

PROMPT = "prompts/adversary.md"
"""The rule that tells an adversary what to do."""
MOST = 8 << 20
"""Bytes of an instruction that are shown, as JSON has them."""


def told(prompt: str, instruction: str) -> str:
    """The attempt's instruction: the same text for the same two."""
    return f"{prompt.strip()}\n\n{shown([Section(name='the task', content=instruction, most=MOST)], MOST)}"
