"""The engine's form of the system call policy in rules/seccomp.yaml.

In: the rule. Out: one JSON text, as the engine's `seccomp=` option takes it. Closed by default: what the rule does not
list is refused, so a call that a newer kernel brings is none that a container can make.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from programsmith.rulebook.load import Rulebook

_ALLOW, _ERRNO = "SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"
_FAMILIES = 64  # more than there are
_NATIVE = ("SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64")


@cache
def seccomp_profile() -> str:
    """The profile of every container. Raises InputError."""
    return text(Rulebook(None).load("seccomp"))


def text(rule: Mapping[str, Any]) -> str:
    """The profile of a rule as the engine takes it."""
    return json.dumps(profile(rule), sort_keys=True)


def profile(rule: Mapping[str, Any]) -> dict[str, Any]:
    """The rule in the engine's form."""
    calls = [
        {"names": rule["allow"], "action": _ALLOW},
        {"names": rule["absent"], "action": _ERRNO, "errnoRet": errno.ENOSYS},
        _when(["clone"], 0, rule["new_namespaces"], "SCMP_CMP_MASKED_EQ"),
    ]
    calls += [_socket(family, open_to=family in rule["families"]) for family in range(_FAMILIES)]
    calls += [_when(["personality"], 0, domain, "SCMP_CMP_EQ") for domain in rule["personalities"]]
    return {
        "defaultAction": _ERRNO,
        "archMap": [{"architecture": name, "subArchitectures": []} for name in _NATIVE],
        "syscalls": calls,
    }


def _socket(family: int, *, open_to: bool) -> dict[str, Any]:
    """A family that is closed is one that this kernel does not have."""
    rule = _when(["socket", "socketpair"], 0, family, "SCMP_CMP_EQ")
    return rule if open_to else {**rule, "action": _ERRNO, "errnoRet": errno.EAFNOSUPPORT}


def _when(names: list[str], index: int, value: int, test: str) -> dict[str, Any]:
    """Allow the calls where an argument passes a test; a mask must leave nothing."""
    return {
        "names": names,
        "action": _ALLOW,
        "args": [{"index": index, "value": value, "valueTwo": 0, "op": test}],
    }
