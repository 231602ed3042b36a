"""One launch in the verifier's container, by the launcher that grades there; and the forms that cross its border.

As a program: `STAGE REQUEST RESULT`, with the environment file of the tests folder beside the verifier. It reads the
request, launches it at the stage `build` or `run` and writes the result. The forms are JSON; bytes are base64.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from typing import Any

from programsmith.payload.verifier.launcher import Mount, Request, Result, Surroundings
from programsmith.payload.verifier.launchers import opened
from programsmith.payload.verifier.model import Limits, b64, decode_file, encode_file, unb64

ENVIRONMENT = "/tests/environment.json"
KINDS = ("file", "dir", "link", "special")


def encode_request(request: Request) -> dict[str, Any]:
    """JSON form of a request."""
    return {
        "program": request.program,
        "argv": [b64(word) for word in request.argv],
        "env": [[b64(name), b64(value)] for name, value in request.env],
        "limits": dataclasses.asdict(request.limits),
        "stdin": b64(request.stdin),
        "files": [encode_file(entry) for entry in request.files],
        "mounts": [[mount.source, mount.target] for mount in request.mounts],
        "hidden": list(request.hidden),
        "collect": request.collect,
        "collect_bytes": request.collect_bytes,
        "surroundings": dataclasses.asdict(request.surroundings),
    }


def decode_request(value: dict[str, Any]) -> Request:
    """Request of its JSON form."""
    return Request(
        program=value["program"],
        argv=tuple(unb64(word) for word in value["argv"]),
        env=tuple((unb64(name), unb64(own)) for name, own in value["env"]),
        limits=Limits(**value["limits"]),
        stdin=unb64(value["stdin"]),
        files=tuple(decode_file(entry) for entry in value["files"]),
        mounts=tuple(Mount(source=source, target=target) for source, target in value["mounts"]),
        hidden=tuple(value["hidden"]),
        collect=value["collect"],
        collect_bytes=value["collect_bytes"],
        surroundings=Surroundings(**value["surroundings"]),
    )


def encode_result(result: Result) -> dict[str, Any]:
    """JSON form of a result."""
    plain = {f.name: getattr(result, f.name) for f in dataclasses.fields(result)}
    return {
        **plain,
        "stdout": b64(result.stdout),
        "stderr": b64(result.stderr),
        "limits_hit": sorted(result.limits_hit),
        "files": None if result.files is None else [encode_file(entry) for entry in result.files],
    }


def decode_result(value: dict[str, Any]) -> Result:
    """Result of its JSON form. Raises KeyError, TypeError, ValueError on anything else."""
    files = value["files"]
    found = None if files is None else tuple(decode_file(entry) for entry in files)
    if any(entry.kind not in KINDS for entry in found or ()):
        raise ValueError("an entry of no kind that there is")
    streams = {"stdout": unb64(value["stdout"]), "stderr": unb64(value["stderr"])}
    return Result(**{**value, **streams, "limits_hit": frozenset(value["limits_hit"]), "files": found})


def main() -> int:
    """Launch once."""
    stage, asked, told = sys.argv[1:]
    with open(ENVIRONMENT, "rb") as source:
        environment = source.read()
    with open(asked, "rb") as source:
        request = decode_request(json.loads(source.read()))
    with opened(environment) as launchers:
        launcher = launchers.build if stage == "build" else launchers.run if stage == "run" else launchers.original()
        result = launcher.run(request)
        said = {"result": encode_result(result), "enforced": list(launchers.enforced)}
    with open(f"{told}.part", "w", encoding="ascii") as out:
        json.dump(said, out)
    os.replace(f"{told}.part", told)
    return 0


if __name__ == "__main__":
    sys.exit(main())
