"""The JSON form of a root view, read by the host side and by the verifier alike."""

from __future__ import annotations

from typing import Any

from programsmith.payload.verifier.launcher import Mount, View


def encode_view(view: View) -> dict[str, Any]:
    """JSON form of a view."""
    return {
        "mounts": [[m.source, m.target] for m in view.mounts],
        "links": [list(link) for link in view.links],
        "dirs": list(view.dirs),
        "executables": list(view.executables),
        "fingerprint": view.fingerprint,
    }


def decode_view(value: dict[str, Any]) -> View:
    """View of its JSON form."""
    return View(
        mounts=tuple(Mount(source=source, target=target) for source, target in value["mounts"]),
        links=tuple((path, target) for path, target in value["links"]),
        dirs=tuple(value["dirs"]),
        executables=tuple(value["executables"]),
        fingerprint=value["fingerprint"],
    )
