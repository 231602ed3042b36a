"""A root tree that is being listed: host files, links and texts by their path inside, with everything they need.

In: programs, files and folders of the host. Out: entries by inside path, and the fingerprint over them. Programs bring
their link chain, interpreter and shared objects; nothing is run to find them out.
"""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from programsmith.errors import PrerequisiteError
from programsmith.sandboxes.digests import Digests
from programsmith.sandboxes.elf import Needs, find_library, loader_folders
from programsmith.sandboxes.shared import keep_file

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
_NO_PART = frozenset({"testdata"})  # of a moved folder: what a toolchain's own tests read
_SYSTEM = ("/usr/", "/opt/", "/bin/", "/sbin/", "/lib", "/etc/")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing inside: a copied host file (`source`), a link (`target`), a text, else an empty directory."""

    source: str = ""
    target: str = ""
    text: str = ""
    mode: int = 0o644
    digest: str = ""


def merged_links() -> tuple[tuple[str, str], ...]:
    """Links of the host's top level into /usr (`/bin` and kin), which paths inside rely on."""
    names = ("bin", "sbin", "lib", "lib64", "lib32")
    return tuple((f"/{n}", os.readlink(f"/{n}")) for n in names if os.path.islink(f"/{n}"))


def canonical_place(path: str) -> str:
    """`path` with its folder resolved: the last part may still be a link."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


class Root:
    """The listing."""

    def __init__(self, digests: Digests) -> None:
        self.entries: dict[str, Entry] = {}
        self.executables: set[str] = set()
        self._digests = digests

    def find(self, name: str) -> str:
        """Host path of a program. Raises PrerequisiteError where it is not installed."""
        found = shutil.which(name, path=SYSTEM_PATH) or shutil.which(name)
        if not found:
            raise PrerequisiteError(
                f"program {name!r} is not installed on this host; install it or change toolchains.yaml"
            )
        return canonical_place(os.path.abspath(found))

    def add_program(self, name: str) -> str:
        """Show a program under its name on PATH, with what it needs; returns its path inside."""
        host = self.find(name)
        inside = self.add_file(host, executable=True)
        self.executables.add(inside)
        usual = f"/usr/bin/{os.path.basename(name)}"
        if os.path.dirname(inside) != "/usr/bin" and usual not in self.entries:
            self.entries[usual] = Entry(target=inside)
        return inside

    def add_file(self, host: str, *, executable: bool = False, at: str = "") -> str:
        """Show one host file or link, following and showing the chain of links; returns its path inside."""
        inside = at or (host if host.startswith(_SYSTEM) else f"/usr/local/bin/{os.path.basename(host)}")
        if inside in self.entries:
            return inside
        if os.path.islink(host) and not at and inside == host:
            target = os.readlink(host)
            self.entries[inside] = Entry(target=target)
            led = canonical_place(os.path.join(os.path.dirname(host), target))
            if os.path.islink(led) or not os.path.isdir(led):
                self.add_file(led, executable=executable)
            return inside
        facts = self._digests.of(host)
        runs = executable or os.stat(host).st_mode & 0o111
        self.entries[inside] = Entry(source=host, mode=0o755 if runs else 0o644, digest=facts.sha256)
        if facts.needs:
            self._add_needs(facts.needs, os.path.dirname(os.path.realpath(host)))
        elif executable and facts.shebang:
            self._add_interpreter(facts.shebang)
        return inside

    def _add_interpreter(self, shebang: str) -> None:
        words = shebang.split()
        for word in words if os.path.basename(words[0]) == "env" else words[:1]:
            if not word.startswith("-") and "=" not in word:
                self.add_program(word)

    def _add_needs(self, needs: Needs, origin: str) -> None:
        if needs.interpreter:
            self.executables.add(self.add_file(canonical_place(needs.interpreter), executable=True))
        for name in needs.libraries:
            found = find_library(name, needs, origin)
            if found:
                self.add_library(name, found)

    def add_library(self, name: str, host: str) -> None:
        """Show a shared object where the loader finds it without a cache."""
        place = canonical_place(host)
        usual = loader_folders()
        if os.path.dirname(place) in usual:
            self.add_file(place)
        elif name.startswith("ld-linux"):
            self.add_file(place, executable=True)
        else:
            self.add_file(os.path.realpath(host), at=os.path.join(usual[0], os.path.basename(name)))

    def add_text(self, inside: str, text: str) -> None:
        """Show a small file of ours."""
        self.entries[inside] = Entry(text=text, digest=hashlib.sha256(text.encode()).hexdigest())

    def add_folder(self, host: str, at: str, skip: frozenset[str] = frozenset()) -> None:
        """Show a whole folder at `at`; names in `skip` are left out at every level."""
        todo = [(host, at)]
        while todo:
            folder, inside = todo.pop()
            self.entries.setdefault(inside, Entry(mode=0o755))
            with os.scandir(folder) as items:
                for item in sorted(items, key=lambda i: i.name):
                    if item.name in skip:
                        continue
                    if item.is_dir(follow_symlinks=False):
                        todo.append((item.path, f"{inside}/{item.name}"))
                    else:
                        self._add_item(item, f"{inside}/{item.name}")

    def _add_item(self, item: os.DirEntry[str], inside: str) -> None:
        if item.is_symlink():
            self.entries[inside] = Entry(target=os.readlink(item.path))
            target = os.path.realpath(item.path)
            if os.path.isfile(target) and inside == item.path:
                self.add_file(canonical_place(target))
        elif item.is_file():
            self.add_file(item.path, at=inside)

    def add_paths(self, patterns: tuple[str, ...]) -> None:
        """Show files and folders at the same place; patterns may hold wildcards. Raises PrerequisiteError for none."""
        for pattern in patterns:
            found = sorted(glob.glob(pattern))
            if not found:
                raise PrerequisiteError(f"nothing on this host matches {pattern!r}; install what provides it")
            for path in found:
                place = canonical_place(path)
                if os.path.isdir(place) and not os.path.islink(place):
                    self.add_folder(place, place)
                else:
                    self.add_file(place, at="" if os.path.islink(place) else place)
                    if os.path.isdir(place):
                        self.add_folder(os.path.realpath(place), os.path.realpath(place))

    def add_moved(self, host: str, inside: str) -> None:
        """Show a file or folder, links resolved, at another place; a program also by its name in /usr/bin."""
        real = os.path.realpath(host)
        if os.path.isdir(real):
            self.add_folder(real, inside, _NO_PART)
        elif os.access(real, os.X_OK) and not real.endswith(".so"):
            self.executables.add(self.add_file(real, executable=True, at=inside))
            usual = f"/usr/bin/{os.path.basename(inside)}"
            if usual != inside:
                self.entries[usual] = Entry(target=inside)
        else:
            self.add_file(real, at=inside)

    def fingerprint(self) -> str:
        """SHA-256 over path, kind, mode and content of every entry."""
        total = hashlib.sha256()
        for inside, e in sorted(self.entries.items()):
            total.update(os.fsencode(f"{len(inside)} {inside} {e.mode:o} {e.digest} {e.target}\n"))
        return total.hexdigest()

    def write(self, tree: Path) -> None:
        """Lay everything down below `tree`; equal files are one file on disk, whichever views hold them."""
        for inside, e in sorted(self.entries.items()):
            place = f"{tree}{inside}"
            os.makedirs(os.path.dirname(place), mode=0o755, exist_ok=True)
            if e.target:
                os.symlink(e.target, place)
            elif e.source or e.digest:
                _write_file(place, e)
            else:
                os.makedirs(place, mode=0o755, exist_ok=True)

    def tops(self) -> Iterator[str]:
        """Paths to bind: whole top-level folders, but each child of /opt, where trees of a launch are shown too."""
        found = {"/".join(p.split("/")[: 3 if p.startswith("/opt/") else 2]) for p in self.entries}
        return iter(sorted(found - {"/opt"}))


def _write_file(place: str, entry: Entry) -> None:
    if entry.source:
        kept = keep_file(entry.source, entry.digest, entry.mode)
        try:
            os.link(kept, place)
        except OSError:  # too many links, or a file system without them
            shutil.copyfile(kept, place)
            os.chmod(place, stat.S_IMODE(entry.mode))
        return
    with open(place, "w", encoding="utf-8") as out:
        out.write(entry.text)
    os.chmod(place, stat.S_IMODE(entry.mode))
