"""Failures of a provider in its own words: by protocol and class, turns of a provider that answers so."""

from __future__ import annotations

from typing import Any

from tests.samples.provider import Turn

HTML = b"<html><head><title>502 Bad Gateway</title></head></html>"
QUOTA = "You exceeded your current quota, please check your plan and billing details."


def said(status: int, kind: str, message: str) -> Turn:
    """An error as Anthropic words it."""
    return Turn(status=status, error={"type": "error", "error": {"type": kind, "message": message}})


def coded(status: int, code: str | None, message: str, kind: str = "invalid_request_error") -> Turn:
    """An error as OpenAI words it."""
    return Turn(status=status, error={"error": {"message": message, "type": kind, "param": None, "code": code}})


def named(status: int, name: str, message: str, *details: Any) -> Turn:
    """An error as Google words it."""
    inner = {"code": status, "message": message, "status": name, "details": list(details)}
    return Turn(status=status, error={"error": inner})


WAITS = named(
    429, "RESOURCE_EXHAUSTED", QUOTA, {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "26.5s"}
)
OPENAI = {
    "auth": [
        coded(401, "invalid_api_key", "Incorrect API key provided: sk-x."),
        coded(403, "unsupported_country_region_territory", "Country, region, or territory not supported"),
        coded(404, "model_not_found", "The model does not exist or you do not have access to it."),
        coded(429, "insufficient_quota", QUOTA, "insufficient_quota"),
    ],
    "rate_limit": [
        coded(429, "rate_limit_exceeded", "Rate limit reached for gpt-5 on tokens per min (TPM)", "tokens"),
        coded(429, None, "Too many requests"),
    ],
    "overload": [
        coded(500, None, "The server had an error while processing your request.", "server_error"),
        coded(503, None, "The engine is currently overloaded, please try again later", "server_error"),
    ],
    "context_length": [
        coded(400, "context_length_exceeded", "This model's maximum context length is 128000 tokens."),
        coded(400, "context_length_exceeded", "Your input exceeds the context window of this model."),
        coded(400, "string_above_max_length", "Invalid 'input': string too long."),
        Turn(
            status=400, error={"object": "error", "message": "This model's maximum context length is 4096", "code": 400}
        ),
    ],
    "refusal": [
        coded(
            400, "invalid_prompt", "Invalid prompt: your prompt was flagged as potentially violating our usage policy."
        ),
        coded(400, "content_filter", "The response was filtered due to the prompt"),
        Turn(stop="content_filter"),
    ],
    "network": [Turn(raw=HTML, kind="text/html"), Turn(status=301, error=HTML)],
}
FAILING: dict[str, dict[str, list[Turn]]] = {
    "anthropic": {
        "auth": [
            said(401, "authentication_error", "invalid x-api-key"),
            said(403, "permission_error", "Your API key does not have permission to use the specified resource"),
            said(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
            said(404, "not_found_error", "model: claude-x"),
        ],
        "rate_limit": [said(429, "rate_limit_error", "This request would exceed your organization's rate limit")],
        "overload": [
            said(529, "overloaded_error", "Overloaded"),
            said(500, "api_error", "Internal server error"),
            said(504, "timeout_error", "Request timed out"),
        ],
        "context_length": [
            said(400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
            said(
                400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 188240 + 21333 > 2"
            ),
            said(413, "request_too_large", "Request exceeds the maximum size"),
        ],
        "refusal": [
            said(400, "invalid_request_error", "Output blocked by content filtering policy"),
            Turn(stop="refusal"),
        ],
        "network": [Turn(raw=HTML, kind="text/html"), Turn(status=302, error=HTML)],
    },
    "responses": OPENAI,
    "chat": OPENAI,
    "gemini": {
        "auth": [
            named(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
            named(400, "INVALID_ARGUMENT", "API key expired. Please renew the API key."),
            named(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
            named(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers"),
            named(404, "NOT_FOUND", "models/gemini-x is not found for API version v1beta"),
        ],
        "rate_limit": [WAITS, named(429, "RESOURCE_EXHAUSTED", "Exhausted.")],
        "overload": [
            named(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
            named(500, "INTERNAL", "An internal error has occurred."),
            named(504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
        ],
        "context_length": [
            named(
                400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed (8)."
            )
        ],
        "refusal": [Turn(stop="SAFETY"), Turn(stop="PROHIBITED_CONTENT")],
        "network": [Turn(raw=HTML, kind="text/html"), Turn(status=307, error=HTML)],
    },
}
