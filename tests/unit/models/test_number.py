"""An answer is kept by what was asked, not by code: whoever changes how it is put to a provider raises the number."""

from __future__ import annotations

import ast
import hashlib
import json
from pathlib import Path

from programsmith.models import providers, request

PINNED = Path(__file__).parents[2] / "samples" / "asked.json"
ASKS = ("_anthropic", "_chat", "_gemini")


def code() -> str:
    """SHA-256 of the functions that put a request to a provider, whatever their comments and lines."""
    tree = ast.parse(Path(providers.__file__).read_text(encoding="utf-8"))
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in ASKS]
    assert len(found) == len(ASKS)
    return hashlib.sha256("\n".join(map(ast.unparse, found)).encode()).hexdigest()


def test_how_a_provider_is_asked_carries_a_number() -> None:
    now = {"number": request.NUMBER, "code": code()}
    assert json.loads(PINNED.read_text()) == now, (
        f"how a provider is asked changed. Would it answer otherwise? Then raise NUMBER in models/request.py, and "
        f"every answer is bought anew. Else it stays. Either way write into {PINNED.name}: {json.dumps(now)}"
    )
