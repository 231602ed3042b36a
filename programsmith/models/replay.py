"""Answers that somebody wrote: a model that costs nothing and says the same each time, for tests and demonstrations.

In: a folder of the project, with `<block>.yaml` for each block that asks. It is a list of `{answer: …}`, played in the
order of the calls of one run; an item with `request: <SHA-256>` answers that very question wherever it comes. A text is
said as it stands, any other value as its JSON. Raises InputError where no answer is there, naming the question.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from programsmith.errors import InputError
from programsmith.models.request import Reply, Request

FORM = "a list of items with `answer`, and `request` where it answers one question alone"


def folder(model: str, project: Path) -> Path:
    """The folder of a replay model."""
    return project / model.partition("/")[2]


def file(model: str, block: str, project: Path) -> Path:
    """Where the answers for one block are."""
    return folder(model, project) / f"{block}.yaml"


def replayed(request: Request, project: Path) -> Reply:
    """The answer that was written for a request. Raises InputError."""
    path = file(request.model, request.block, project)
    items = _items(path)
    own = [item for item in items if item.get("request") == request.asked]
    plain = [item for item in items if "request" not in item]
    found = own or plain[request.number : request.number + 1]
    if not found:
        wanted = f"an answer to call {request.number + 1} of {request.block}, or to request {request.asked}"
        raise InputError(f"{path}: wanted {wanted}, got {len(items)} others; add an item with `answer`")
    said = found[0]["answer"]
    return Reply(text=said if isinstance(said, str) else json.dumps(said))


def _items(path: Path) -> list[dict[str, Any]]:
    import yaml  # heavy

    try:
        found = yaml.safe_load(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"{path}: wanted {FORM}, got no such file") from None
    except (yaml.YAMLError, OSError, ValueError) as fault:
        raise InputError(f"{path}: wanted {FORM}, got a fault: {' '.join(str(fault).split())}") from None
    if not isinstance(found, list) or not all(isinstance(item, dict) and "answer" in item for item in found):
        raise InputError(f"{path}: wanted {FORM}, got something else")
    return found
