"""A request that the gateway does not send: what the client is told, and why in one word."""

from __future__ import annotations

from enum import StrEnum


class Why(StrEnum):
    """Why a request was refused, as the call record says it."""

    PATH = "path"  # no route of that method and path
    FRAMING = "framing"  # an encoded body, a query that no route has
    LARGE = "large"
    JSON = "json"  # no strict JSON
    MODEL = "model"  # not one of the trial's
    KIND = "unknown_kind"  # a value, block or tool of no shape
    FIELD = "unknown_field"
    CODE = "provider_code"  # the provider would run code
    SERVER = "provider_server"  # the provider would call a server
    STATE = "provider_state"  # the provider would keep or take back state
    SEARCH = "provider_search"
    BUDGET = "budget"
    CALLS = "calls"
    BUSY = "busy"
    FAULT = "fault"  # of the gateway itself: no matter of who asked


class Refused(Exception):  # noqa: N818 - an answer, not an error of ours
    """`told` names the row of `answers` in rules/failures.yaml."""

    def __init__(self, told: str, why: Why, message: str) -> None:
        super().__init__(message)
        self.told, self.why, self.message = told, why, message
