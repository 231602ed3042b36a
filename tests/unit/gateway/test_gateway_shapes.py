"""What of a request passes, by the packaged table: every spelling of what a provider would do elsewhere is out."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from programsmith.gateway.refusal import Refused
from programsmith.gateway.shapes import Shapes
from programsmith.rulebook.load import Rulebook

SHAPES = Shapes(Rulebook(None).load("gateway")["shapes"])
PNG = "iVBORw0KGgo="


def anthropic(*blocks: Any, **more: Any) -> dict[str, Any]:
    content = list(blocks) or "hi"
    return {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": content}], **more}


def nested(block: Any) -> dict[str, Any]:
    return anthropic({"type": "tool_result", "tool_use_id": "t", "content": [block]})


def answer(*items: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "input": list(items) or "hi", **more}


def talk(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": list(parts) or "hi"}], **more}


def part(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": list(parts) or [{"text": "hi"}]}], **more}


URL = "https://192.0.2.1/?leak"
SVG = f'<svg xmlns="http://www.w3.org/2000/svg"><image href="{URL}"/></svg>'
DRAWING = f"data:image/svg+xml;base64,{base64.b64encode(SVG.encode()).decode()}"
REFUSED: list[tuple[str, Any, str]] = [
    ("messages", anthropic({"type": "image", "source": {"type": "url", "url": URL}}), "unknown_kind"),
    ("messages", anthropic({"type": "image", "source": {"type": "file", "file_id": "f"}}), "unknown_kind"),
    ("messages", anthropic({"type": "document", "source": {"type": "url", "url": URL}}), "unknown_kind"),
    ("messages", anthropic({"type": "document", "source": {"type": "base64", "data": "JVBERi0="}}), "unknown_kind"),
    ("messages", nested({"type": "image", "source": {"type": "url", "url": URL}}), "unknown_kind"),
    ("messages", nested({"type": "document", "source": {"type": "content", "content": [
        {"type": "image", "source": {"type": "url", "url": URL}}]}}), "unknown_kind"),
    ("messages", anthropic({"type": "image", "source": {
        "type": "base64", "media_type": "image/png", "data": PNG, "url": URL}}), "unknown_field"),
    ("messages", anthropic({"type": "image", "source": {
        "type": "base64", "media_type": "text/html", "data": PNG}}), "unknown_kind"),
    ("messages", anthropic({"type": "container_upload", "file_id": "f"}), "unknown_kind"),
    ("messages", anthropic({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}), "unknown_kind"),
    ("messages", anthropic({"type": "web_fetch_tool_result", "tool_use_id": "s", "content": {}}), "unknown_kind"),
    ("messages", anthropic({"type": "mcp_tool_use", "id": "s", "name": "x", "input": {}}), "unknown_kind"),
    ("messages", anthropic({"type": ["image"]}), "unknown_kind"),
    ("messages", anthropic({"text": "x"}), "unknown_kind"),
    ("messages", anthropic("x"), "unknown_kind"),
    ("messages", anthropic(mcp_servers=[{"type": "url", "url": URL, "name": "x"}]), "provider_server"),
    ("messages", anthropic(container={"skills": []}), "provider_code"),
    ("messages", [1], "unknown_kind"),
    ("messages", anthropic(system=[{"type": "image"}]), "unknown_kind"),
    ("messages", {"model": "m", "messages": [{"role": "user", "content": "x", "attachments": []}]}, "unknown_field"),
    ("messages", {"model": "m", "messages": [{"role": "tool", "content": "x"}]}, "unknown_kind"),
    ("responses", answer(previous_response_id="r"), "provider_state"),
    ("responses", answer(conversation="c"), "provider_state"),
    ("responses", answer(background=True), "provider_state"),
    ("responses", answer(prompt={"id": "p"}), "provider_state"),
    ("responses", answer({"type": "item_reference", "id": "i"}), "unknown_kind"),
    ("responses", answer({"type": "mcp_call", "id": "i"}), "unknown_kind"),
    ("responses", answer({"type": "web_search_call", "id": "i"}), "unknown_kind"),
    ("responses", answer({"type": "message", "role": "user", "content": [
        {"type": "input_image", "image_url": URL}]}), "unknown_kind"),
    ("responses", answer({"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}), "unknown_field"),
    ("responses", answer({"role": "user", "content": [{"type": "input_file", "file_url": URL}]}), "unknown_kind"),
    ("responses", answer({"type": "function_call_output", "call_id": "c", "output": [
        {"type": "input_file", "file_url": URL}]}), "unknown_kind"),
    ("responses", answer(tool_choice={"type": "web_search_preview"}), "unknown_kind"),
    ("chat", talk(web_search_options={"search_context_size": "low"}), "provider_search"),
    ("chat", talk({"type": "image_url", "image_url": {"url": URL}}), "unknown_kind"),
    ("chat", talk({"type": "image_url", "image_url": {"url": "data:text/html,x"}}), "unknown_kind"),
    ("chat", talk({"type": "image_url", "image_url": {"url": " " + URL}}), "unknown_kind"),
    ("chat", talk({"type": "image_url", "image_url": {"url": DRAWING}}), "unknown_kind"),
    ("chat", talk({"type": "image_url", "image_url": {"url": "data:image/png," + URL}}), "unknown_kind"),
    ("responses", answer({"role": "user", "content": [{"type": "input_image", "image_url": DRAWING}]}), "unknown_kind"),
    ("chat", talk({"type": "file", "file": {"file_id": "f"}}), "unknown_kind"),
    ("chat", talk({"type": "input_audio", "input_audio": {}}), "unknown_kind"),
    ("chat", talk(n=5), "unknown_kind"),
    ("chat", talk(n=True), "unknown_kind"),
    ("chat", talk(audio={"voice": "x", "format": "wav"}), "unknown_kind"),
    ("gemini", part({"fileData": {"fileUri": URL}}), "unknown_field"),
    ("gemini", part({"file_data": {"file_uri": URL}}), "unknown_field"),
    ("gemini", part({"text": "x", "executableCode": {"code": "x"}}), "unknown_field"),
    ("gemini", part({"inlineData": {"mimeType": "application/pdf", "data": "x"}}), "unknown_kind"),
    ("gemini", part(cachedContent="cachedContents/x"), "provider_state"),
    ("gemini", part(generationConfig={"candidateCount": 8}), "unknown_kind"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "value", "why"), REFUSED, ids=[f"{i}-{s}-{w}" for i, (s, _, w) in enumerate(REFUSED)]
)
def test_what_would_mean_something_else_without_it_is_refused(shape: str, value: Any, why: str) -> None:
    with pytest.raises(Refused) as refused:
        SHAPES.shaped(shape, value)
    assert refused.value.why == why
    assert "192.0.2.1" not in refused.value.message


TOOLS: dict[str, list[dict[str, Any]]] = {
    "messages": [
        {"type": name, "name": name.rpartition("_")[0]}
        for name in (
            "web_search_20250305", "web_search_20260318", "web_fetch_20250910", "web_fetch_20260318",
            "code_execution_20250522", "code_execution_20260521", "computer_20250124", "computer_toolset_20260801",
            "browser_toolset_20260801", "tool_search_tool_bm25_20251119", "mcp_toolset", "advisor_20260301", "bash",
        )
    ],
    "responses": [
        {"type": name}
        for name in (
            "web_search", "web_search_preview", "web_search_2025_08_26", "file_search", "code_interpreter",
            "computer_use_preview", "computer", "image_generation", "mcp", "shell", "tool_search",
            "programmatic_tool_calling",
        )
    ],
    "chat": [{"type": name} for name in ("web_search", "mcp", "browser_search", "code_interpreter", "builtin")],
    "gemini": [
        {name: {}}
        for name in (
            "googleSearch", "google_search", "googleSearchRetrieval", "codeExecution", "code_execution", "urlContext",
            "url_context", "googleMaps", "fileSearch", "computerUse", "enterpriseWebSearch", "mcpServers", "retrieval",
        )
    ],
}  # fmt: skip
OWN: dict[str, dict[str, Any]] = {
    "messages": {"name": "Bash", "input_schema": {"type": "object", "properties": {"url": {"type": "string"}}}},
    "responses": {"type": "function", "name": "shell", "parameters": {"type": "object"}},
    "chat": {"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}},
    "gemini": {"functionDeclarations": [{"name": "run", "parametersJsonSchema": {"type": "object"}}]},
}
ASKS = {"messages": anthropic, "responses": answer, "chat": talk, "gemini": part}


@pytest.mark.parametrize(("shape", "tool"), [(shape, tool) for shape, tools in TOOLS.items() for tool in tools])
def test_every_tool_of_a_provider_is_left_out_and_named(shape: str, tool: dict[str, Any]) -> None:
    asked = ASKS[shape](tools=[tool, OWN[shape]])
    shaped = SHAPES.shaped(shape, asked)
    assert shaped.value["tools"] == [OWN[shape]]
    assert any(tool.get("type", next(iter(tool))) in name for name in shaped.left_out)
    assert "tools" not in SHAPES.shaped(shape, ASKS[shape](tools=[tool])).value


def test_a_function_with_a_providers_tool_inside_loses_it() -> None:
    both = {**OWN["gemini"], "googleSearch": {}}
    assert SHAPES.shaped("gemini", part(tools=[both])).value["tools"] == [OWN["gemini"]]
    space = {"type": "namespace", "name": "n", "tools": [OWN["responses"], {"type": "web_search"}]}
    assert SHAPES.shaped("responses", answer(tools=[space])).value["tools"][0]["tools"] == [OWN["responses"]]


@pytest.mark.parametrize(
    ("shape", "fields"),
    [
        ("messages", {
            "service_tier": "auto", "speed": "fast", "inference_geo": "us", "fallbacks": [{"model": "x"}],
            "context_management": {"edits": []}, "compaction": {}, "thread": {}, "user_profile_id": "x", "betas": [],
            "Model": "y", "unheard_of": 1,
        }),
        ("responses", {
            "store": True, "service_tier": "priority", "prompt_cache_key": "k", "prompt_cache_retention": "24h",
            "context_management": [], "safety_identifier": "x", "client_metadata": {}, "max_tool_calls": 3,
        }),
        ("chat", {
            "store": True, "service_tier": "priority", "prompt_cache_key": "k", "modalities": ["audio"],
            "prediction": {}, "metadata": {}, "user": "u", "extra_body": {}, "plugins": [{"id": "web"}],
        }),
        ("gemini", {"labels": {}, "serviceTier": "priority", "store": True, "model": "models/other"}),
    ],
)  # fmt: skip
def test_fields_that_no_shape_lists_are_left_out_and_named(shape: str, fields: dict[str, Any]) -> None:
    shaped = SHAPES.shaped(shape, ASKS[shape](**fields))
    assert shaped.value == ASKS[shape]()
    assert shaped.left_out == set(fields)


@pytest.mark.parametrize(("shape", "field"), [("messages", "output_config"), ("responses", "text")])
def test_of_how_an_answer_looks_only_what_is_listed_passes(shape: str, field: str) -> None:
    shaped = SHAPES.shaped(shape, ASKS[shape](**{field: {"format": {"type": "text"}, "source": {"url": URL}}}))
    assert shaped.value[field] == {"format": {"type": "text"}}
    assert shaped.left_out == {f"{field}.source"}


def test_what_a_coding_agent_sends_passes_whole() -> None:
    cache = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    asked = anthropic(
        {"type": "text", "text": "hi", **cache},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {"type": "url", "url": URL, "file_id": [None]}},
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x"}], "is_error": False},
        {"type": "thinking", "thinking": "", "signature": "s"},
        system=[{"type": "text", "text": "s", **cache}],
        tools=[OWN["messages"], {"type": "bash_20250124", "name": "bash"}],
        thinking={"type": "enabled", "budget_tokens": 1024},
        stream=True,
        metadata={"user_id": "u"},
        output_config={"effort": "high", "format": {"type": "json_schema", "schema": {"type": "object"}}},
    )
    shaped = SHAPES.shaped("messages", asked)
    assert shaped.value == asked
    assert (shaped.left_out, shaped.images, shaped.image_bytes) == (set(), 1, len(PNG))


def test_what_an_agent_of_responses_sends_passes() -> None:
    asked = answer(
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "x"}]},
        {"type": "reasoning", "summary": [], "encrypted_content": "e"},
        {"type": "function_call", "name": "exec", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
        instructions="i",
        tools=[OWN["responses"], {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}}],
        include=["reasoning.encrypted_content"],
        stream=True,
        tool_choice="auto",
        reasoning={"effort": "high", "summary": "auto"},
        text={"verbosity": "low", "format": {"type": "text"}},
    )
    assert SHAPES.shaped("responses", asked).value == asked


def test_names_of_what_is_left_out_are_bounded() -> None:
    asked = anthropic(**{f"field{n}" + "x" * 500: n for n in range(1000)})
    left = SHAPES.shaped("messages", asked).left_out
    assert len(left) == 50
    assert max(map(len, left)) <= 100
    assert json.dumps(sorted(left))
