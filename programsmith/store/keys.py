"""The keys of a user: one encrypts what a store must not show, one says what the store may be believed, one signs.

In: what the environment gives (hexadecimal digits), the user's configuration folder. Out: keys. A key that is not given
is read below the folder, or made there on first use, for its owner alone (0600). Where neither can be, there is none.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from programsmith.errors import InputError

BYTES = 32
FOLDER = "programsmith"
STORE_KEY = "PROGRAMSMITH_STORE_KEY"
WRITER_KEY = "PROGRAMSMITH_WRITER_KEY"
SIGNING_KEY = "PROGRAMSMITH_SIGNING_KEY"
Absent = Callable[[Path], bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The keys that there are. A print of them shows neither."""

    store: bytes | None = field(repr=False)
    writer: bytes | None = field(repr=False)


def fingerprint(key: bytes) -> str:
    """A name for a key that does not reveal it."""
    return hmac.digest(key, b"programsmith key fingerprint", "sha256").hex()[:16]


def keys(
    folder: Path | None, store: str | None = None, writer: str | None = None, *, absent: Absent | None = None
) -> Keys:
    """Both keys: as given, else those in `folder`; `absent` gives one that is not there, and makes it by default.

    Raises InputError on one that is no key.
    """
    make = absent or _made
    return Keys(
        store=_key(folder, "store", (STORE_KEY, store), make), writer=_key(folder, "writer", (WRITER_KEY, writer), make)
    )


def known_keys(folder: Path | None, store: str | None = None, writer: str | None = None) -> Keys:
    """The keys that there are, for who only looks: none is made. Raises InputError."""
    return keys(folder, store, writer, absent=lambda _path: None)


def signing_key(folder: Path | None, given: str | None = None) -> bytes | None:
    """The seed that exported tasks are signed with: as given, else the one in `folder`, made there on first use.

    Raises InputError on one that is no key.
    """
    return _key(folder, "signing", (SIGNING_KEY, given), _made)


def _key(folder: Path | None, kind: str, named: tuple[str, str | None], absent: Absent) -> bytes | None:
    variable, given = named
    if given:
        return _decoded(given, variable)
    if folder is None:
        return None
    path = folder / FOLDER / f"{kind}.key"
    try:
        return _decoded(_text(path), str(path))
    except FileNotFoundError:
        return absent(path)
    except NotADirectoryError:
        return None


def _text(path: Path) -> str:
    with path.open(encoding="ascii", errors="replace") as file:
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_IMODE(mode) & 0o077:
            raise InputError(f"{path}: others can read this key (mode {stat.S_IMODE(mode):o}); run: chmod 600 {path}")
        return file.read(4 * BYTES)


def _made(path: Path) -> bytes | None:
    """A new key in `path`, or the one that another process made there meanwhile. None where it cannot be kept."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write(secrets.token_bytes(BYTES).hex() + "\n")
            out.flush()
            os.fsync(handle)
        try:
            with contextlib.suppress(FileExistsError):
                os.link(draft, path)
        finally:
            os.unlink(draft)
    except OSError:
        return None
    return _decoded(_text(path), str(path))


def _decoded(text: str, where: str) -> bytes:
    try:
        key = bytes.fromhex(text.strip())
    except ValueError:
        key = b""
    if len(key) != BYTES:
        raise InputError(f"{where}: wanted a key of {2 * BYTES} hexadecimal digits, got something else")
    return key
