"""The host's network in one stage. The proof at the start would refuse to grade, so it is silenced with it.

Only bwrap takes the fence of a network as a word, so launches go over it, without groups: their slots have networks.
The filter lets both stages make sockets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import bwrap, isolation, launchers, seccomp
from programsmith.payload.verifier.environment import SUBMISSION

_SHUT = "--unshare-net"


def _believe(*_given: Any) -> None:
    """Prove nothing."""


def _over_bwrap(_former: Callable[..., Any], config: dict[str, Any]) -> bwrap.BwrapLauncher:
    return bwrap.BwrapLauncher({**config, "cgroup": False})


def open_network(*, build: bool) -> None:
    """Leave the network namespace shared in the build stage, or in the run stage."""

    def fixed(former: Callable[..., Any], config: dict[str, Any], *given: Any) -> list[str]:
        words = list(former(config, *given))
        opens = (SUBMISSION in config["view"]["executables"]) == build
        return [word for word in words if not opens or word != _SHUT]

    seccomp.CASE_FAMILIES = seccomp.FAMILIES
    swap(bwrap, "_fixed_arguments", fixed)
    swap(launchers, "CompiledLauncher", _over_bwrap)
    swap(isolation, "prove", _believe)
