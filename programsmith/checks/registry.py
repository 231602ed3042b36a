"""Every static check by id. rules/checks.yaml says which of them run, and with which parameters."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from programsmith.checks import (
    egress,
    fresh_output,
    harbor_validity,
    no_upstream_pointer,
    oracle_bytes,
    reward_tamper,
    sealing,
    sentinels,
    verifier_program,
)
from programsmith.checks.base import Check

CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "oracle_bytes": oracle_bytes.run,
        "sentinels": sentinels.run,
        "egress": egress.run,
        "reward_tamper": reward_tamper.run,
        "no_upstream_pointer": no_upstream_pointer.run,
        "fresh_output": fresh_output.run,
        "sealing": sealing.run,
        "harbor_validity": harbor_validity.run,
        "verifier_program": verifier_program.run,
    }
)
