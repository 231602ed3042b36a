"""A registry of JavaScript packages on the loopback: real tarballs, served to the real client."""

from __future__ import annotations

import base64
import hashlib
import http.server
import io
import json
import tarfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any


def tarball(files: Mapping[str, str]) -> bytes:
    """A package as it is published; every file is executable."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"package/{path}")
            member.size, member.mode = len(text.encode()), 0o755
            archive.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()


def package(name: str, files: Mapping[str, str], **more: Any) -> tuple[dict[str, Any], bytes]:
    """(manifest, tarball) of version 1.0.0."""
    manifest = {"name": name, "version": "1.0.0", **more}
    return manifest, tarball({"package.json": json.dumps(manifest), **files})


def integrity(packed: bytes) -> str:
    """The digest that a lock holds."""
    return "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()


@contextmanager
def registry(*packages: tuple[dict[str, Any], bytes]) -> Iterator[str]:
    """Serve packages; the address. `asked` paths are not kept: what was fetched shows in the result."""
    known = {manifest["name"]: (manifest, packed) for manifest, packed in packages}

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/").replace("%2f", "/").partition("/-/")[0]
            if name not in known:
                self.send_error(404)
                return
            manifest, packed = known[name]
            at = f"http://127.0.0.1:{self.server.server_address[1]}/{name}/-/{name}-1.0.0.tgz"
            dist = {"tarball": at, "integrity": integrity(packed)}
            told = {"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {**manifest, "dist": dist}}}
            body = packed if "/-/" in self.path else json.dumps(told).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
