"""task.toml in Harbor's schema 1.4: written from facts, read back, held to our own strict schema.

In: facts of a task, or the bytes of a task.toml. Out: those bytes, or its mapping. Refuses every key and value that
we do not emit: Harbor itself drops a misspelt key without a word, and a task then runs otherwise than it says.
"""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from programsmith.errors import InputError
from programsmith.payload.verifier.unseal import SECRET_NAME

SCHEMA_VERSION = "1.4"
ORGANISATION = "programsmith"
REQUIRED = {
    "task.toml": False,
    "instruction.md": False,
    "README.md": False,
    "environment/Dockerfile": False,
    "environment/app/check": True,
    "environment/app/policy.json": False,
    "environment/app/public.jsonl": False,
    "tests/Dockerfile": False,
    "tests/launcher/launch/launch.c": False,
    "tests/test.sh": True,
    "tests/verify.pyz": False,
    "tests/environment.json": False,
    "tests/policy.json": False,
    "tests/plan.json": False,
    "tests/public.jsonl": False,
    "tests/held_out.sealed": False,
    "tests/seal.json": False,
    "solution/solve.sh": True,
    "solution/submissions.sealed": False,
}
"""Every file that a bundle must have, and whether it is executable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFacts:
    """What task.toml says. Seconds and megabytes; `metadata` becomes [metadata.programsmith].

    `logs` names a further container's folder that is kept of a trial.
    """

    name: str
    description: str
    keywords: tuple[str, ...]
    agent_seconds: float
    verifier_seconds: float
    build_seconds: float
    cpus: int
    memory_mb: int
    owner_sealed: bool
    metadata: Mapping[str, Any]
    logs: Mapping[str, str] | None = None


def task_toml(facts: TaskFacts) -> bytes:
    """The bytes of task.toml."""
    place = {
        "network_mode": "no-network",
        "build_timeout_sec": facts.build_seconds,
        "cpus": facts.cpus,
        "memory_mb": facts.memory_mb,
    }
    secret = {"env": {SECRET_NAME: "${" + SECRET_NAME + "}"}} if facts.owner_sealed else {}
    return dump_toml(
        {
            "schema_version": SCHEMA_VERSION,
            "artifacts": [
                {"source": "/app/submission"},
                {"source": "/logs/artifacts", "exclude": ["*"]},  # else handed over whole: a channel nobody declared
                *([dict(facts.logs)] if facts.logs else []),
            ],
            "task": {
                "name": f"{ORGANISATION}/{facts.name}",
                "description": facts.description,
                "keywords": list(facts.keywords),
            },
            "metadata": {"programsmith": facts.metadata},
            "agent": {"timeout_sec": facts.agent_seconds, "user": "agent"},
            "environment": {**place, "workdir": "/app"},
            "verifier": {
                "environment_mode": "separate",
                "timeout_sec": float(math.ceil(facts.verifier_seconds)),
                **secret,
                "environment": {**place, "workdir": "/tests"},
            },
            **({"solution": secret} if secret else {}),
        }
    )


def read_task(raw: bytes, schema: Mapping[str, Any], where: str = "task.toml") -> dict[str, Any]:
    """The mapping of a task.toml that keeps to `schema`. Raises InputError with the place of the first fault."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415

    try:
        value = tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise InputError(f"{where}: not TOML: {fault}") from fault
    faults = sorted(Draft202012Validator(schema).iter_errors(value), key=lambda f: list(map(str, f.absolute_path)))
    if faults:
        place = ".".join(map(str, faults[0].absolute_path)) or "top level"
        raise InputError(f"{where}: {place}: {faults[0].message}")
    return value


def with_metadata(raw: bytes, added: Mapping[str, Any]) -> bytes:
    """task.toml with `added` put on top of [metadata.programsmith]."""
    value = tomllib.loads(raw.decode("utf-8"))
    value["metadata"]["programsmith"].update(added)
    return dump_toml(value)


def task_digest(files: Mapping[str, bytes]) -> str:
    """The digest by which a dataset names a task: SHA-256 over sorted `path NUL sha256 newline` of its files."""
    total = hashlib.sha256()
    for path in sorted(p for p in files if _counts(p)):
        total.update(path.encode() + b"\0" + hashlib.sha256(files[path]).hexdigest().encode() + b"\n")
    return total.hexdigest()


def _counts(path: str) -> bool:
    return path in {"task.toml", "instruction.md", "README.md"} or path.startswith(
        ("environment/", "tests/", "solution/")
    )


def dump_toml(value: Mapping[str, Any]) -> bytes:
    """TOML of nested mappings, lists and scalars; keys keep their order, tables follow scalars.

    Raises ValueError on what TOML cannot say: null, a number that is not finite.
    """
    return "\n".join(_table((), value)).strip("\n").encode("utf-8") + b"\n"


def _table(path: tuple[str, ...], value: Mapping[str, Any]) -> Iterable[str]:
    tables = {k: v for k, v in value.items() if isinstance(v, Mapping)}
    scalars = {k: v for k, v in value.items() if k not in tables}
    if path and (scalars or not tables):
        yield f"\n[{'.'.join(map(_key, path))}]"
    for name, inner in scalars.items():
        yield f"{_key(name)} = {_scalar(inner)}"
    for name, inner in tables.items():
        yield from _table((*path, name), inner)


def _key(name: str) -> str:
    bare = name.replace("_", "").replace("-", "")
    return name if bare.isascii() and bare.isalnum() else _text(name)


def _scalar(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float() if math.isfinite(value):
            return repr(value)
        case str():
            return _text(value)
        case list() | tuple():
            return "[" + ", ".join(map(_scalar, value)) + "]"
        case Mapping():
            return "{ " + ", ".join(f"{_key(k)} = {_scalar(v)}" for k, v in value.items()) + " }"
        case _:
            raise ValueError(f"TOML has no form for {value!r}")


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
