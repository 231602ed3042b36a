"""Commands of an agent run in the task's sandbox as if they ran beside it: what crosses the bridge, in each backend."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from tests.contract.pairs import KINDS, ended, pair


@pytest.fixture(scope="module", params=KINDS)
def said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What an agent saw that tried everything once."""
    with pair(request.param, tmp_path_factory.mktemp("bridge"), withheld=("OWN_*",)) as (opened, plan):
        how = ended(opened, plan, "bridged.py")
    assert (how.agent.exit_code, how.agent.stderr, how.agent.limits_hit) == (0, b"", frozenset())
    assert how.task.exit_code == 0
    return json.loads(how.agent.stdout)  # type: ignore[no-any-return]


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_exit_codes(said: dict[str, Any]) -> None:
    assert said["exit_codes"] == [0, 1, 37, 126, 127, 255]


def test_death_by_a_signal(said: dict[str, Any]) -> None:
    assert said["signal_deaths"] == [-9, -15, -11, -10]


def test_stdin(said: dict[str, Any]) -> None:
    assert said["stdin"] == digest(bytes(range(256)) * 4096)
    assert said["end_of_stdin"] == [True, True]
    assert said["file_as_stdin"] == ["b'one\\n'", "b'two\\n'", "b'three\\n'"]


def test_the_current_folder(said: dict[str, Any]) -> None:
    inner, lost, private = said["directory"]
    assert inner == "/home/agent/a b/ü\n"
    assert lost == "127"
    assert "No such file or directory" in private


def test_the_mask_of_new_files(said: dict[str, Any]) -> None:
    assert said["mask"] == ["0037", "0o640"]


def test_large_output(said: dict[str, Any]) -> None:
    assert said["large_output"] == [digest(bytes(range(256)) * 256 * 512), str(1 << 20), str(1 << 20)]
    assert said["reader_that_leaves"] == [-13]


def test_jobs_in_the_background(said: dict[str, Any]) -> None:
    assert said["background"] == ["3", "False", "done\n"]
    assert said["background_output"] == "late\n"


def test_signals_reach_the_command(said: dict[str, Any]) -> None:
    assert said["signals"] == ["got\n", 9, -15]
    assert said["killed_group"] == [-9, "[]"]
    assert said["ignored_signals"] == "1 0 0"


def test_the_environment_without_what_is_withheld(said: dict[str, Any]) -> None:
    seen = said["environment"]
    assert seen.pop("PATH") == "/usr/bin:/bin"
    assert seen.pop("ODD") == "\udcff\n\x01"
    assert seen.pop("PLAIN") == "a=b"
    assert set(seen.values()) == {None}


def test_words(said: dict[str, Any]) -> None:
    same, own, long = said["words"]
    assert (same, long) == ("True", "13 1200000")
    assert own in {"odd name", "/usr/bin/sh"}  # a script is told its own path alone, so a shim in Python knows no other
    assert said["unknown"] == ["none", 127]


def test_commands_side_by_side(said: dict[str, Any]) -> None:
    assert said["many"] == list(range(20))


def test_streams_that_are_closed_or_lead_elsewhere(said: dict[str, Any]) -> None:
    assert said["closed_streams"] == "0 closed 1 closed "
    *refused, passed = said["refused_streams"]
    assert (all(refused), passed) == (True, 0)


def test_more_descriptors_than_streams_do_the_server_no_harm(said: dict[str, Any]) -> None:
    assert said["too_many_streams"] == [[0, 0, 0, 0, 3, 0, 0, 0], 5]


def test_a_terminal(said: dict[str, Any]) -> None:
    assert said["terminal"] == {"said": ["True 100 40 True True"], "echoed": True, "ended": -2}


def test_what_both_sides_see(said: dict[str, Any]) -> None:
    places = said["places"]
    assert [places[at] for at in ("/home/agent", "/tmp", "/app/submission")] == ["a", "a", "a"]
    assert "No such file" in places["private"]
    assert "No such file" in places["tree"]
