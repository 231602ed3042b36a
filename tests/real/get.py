"""Bring the archives of tests/real/*.yaml with the ordinary package client: `python tests/real/get.py [MIRROR]`.

In: each spec's archive name and SHA-256. Out: the archives in tests/real/sources/. MIRROR is a Debian mirror; without
it the host's own sources are asked. The host's package configuration and lists stay as they are.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
SUITE = "bookworm"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def main(argv: list[str]) -> int:
    """Bring what is missing; exit status 1 where something cannot be had."""
    wanted = dict(archives())
    missing = {path: digest for path, digest in wanted.items() if not valid(path, digest)}
    if missing:
        with tempfile.TemporaryDirectory(prefix="archives-") as folder:
            client = Client(Path(folder), argv[1] if argv[1:] else own_mirror())
            for path, digest in missing.items():
                client.bring(path, digest)
    broken = [path for path, digest in wanted.items() if not valid(path, digest)]
    for path in wanted:
        print(f"{path}: {'cannot be had' if path in broken else 'ok'}")
    return bool(broken)


def archives() -> Iterator[tuple[Path, str]]:
    """(path, SHA-256) of every spec's archive."""
    for spec in sorted(HERE.glob("*.yaml")):
        source = yaml.safe_load(spec.read_text("utf-8"))["source"]
        if "archive" in source:
            yield HERE.parent.parent / source["archive"], source["sha256"]


def valid(path: Path, digest: str) -> bool:
    """Whether the archive is there, byte for byte."""
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def own_mirror() -> str:
    """The Debian mirror that the host's package client uses."""
    for file in sorted(Path("/etc/apt").glob("sources.list*")):
        texts = [f.read_text("utf-8") for f in (sorted(file.iterdir()) if file.is_dir() else [file])]
        for uri in re.findall(r"https?://\S+/debian/?(?=\s|$)", "\n".join(texts)):
            return str(uri)
    sys.exit("no Debian mirror in /etc/apt; name one: python tests/real/get.py MIRROR")


class Client:
    """The package client over lists and a cache of its own below `folder`."""

    def __init__(self, folder: Path, mirror: str) -> None:
        self._folder, self._mirror = folder, mirror
        sources = folder / "sources.list"
        sources.write_text(f"deb-src [signed-by={KEYRING}] {mirror} {SUITE} main\n", "utf-8")
        for name in ("lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True)
        self._options = [
            *("-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=/dev/null"),
            *("-o", f"Dir::State::lists={folder / 'lists'}", "-o", f"Dir::Cache={folder / 'cache'}"),
            *("-o", "APT::Sandbox::User=root"),
        ]
        self._run("apt-get", "update")

    def bring(self, path: Path, digest: str) -> None:
        """Download the source package whose upstream archive has this name and digest."""
        package = path.name.partition("_")[0]
        records = self._run("apt-cache", "showsrc", "--only-source", package).split("\n\n")
        record = next(
            (r for r in records if re.search(rf"^ {digest} \d+ {re.escape(path.name)}$", r, re.MULTILINE)), ""
        )
        version = re.search(r"^Version: (\S+)$", record, re.MULTILINE)
        if not version:
            print(f"{package}: no source package of {SUITE} holds {path.name} with SHA-256 {digest}", file=sys.stderr)
            return
        self._run("apt-get", "source", "--download-only", f"{package}={version[1]}")
        path.parent.mkdir(exist_ok=True)
        shutil.move(self._folder / path.name, path)

    def _run(self, program: str, *words: str) -> str:
        command = [program, *self._options, "-q", *words]
        done = subprocess.run(command, cwd=self._folder, capture_output=True, text=True)
        if done.returncode:
            why = " ".join(line for line in done.stderr.splitlines() if line.startswith("E: "))
            sys.exit(f"{program} {words[0]} of {self._mirror} failed: {why or done.stderr.strip()}")
        return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv))
