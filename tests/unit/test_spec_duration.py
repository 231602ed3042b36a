from __future__ import annotations

import pytest

from programsmith.errors import InputError
from programsmith.spec.duration import seconds


@pytest.mark.parametrize(("text", "wanted"), [("5h", 18000.0), ("90m", 5400.0), ("30s", 30.0), ("12", 12.0), (7, 7.0)])
def test_durations_are_seconds(text: object, wanted: float) -> None:
    assert seconds(text, "budget.agent_wall") == wanted


def test_a_duration_without_a_known_unit_is_refused() -> None:
    with pytest.raises(InputError, match="agent_wall"):
        seconds("5 days", "budget.agent_wall")
