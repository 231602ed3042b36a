"""The weakened bundle: a copy with exactly one defence removed.

In: a bundle, a defence, what its absence would give away. Out: the copy's folder. A shipped verifier has no switches:
what is weakened is another verifier (payload/adversaries/weak/<defence>.py goes into it and runs first), or other files
of the bundle, and static tells both from the bundle that create wrote.
"""

from __future__ import annotations

import functools
import importlib.util
import io
import marshal
import shutil
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from programsmith.adversaries.history import history
from programsmith.bundle.controls import Files, pack
from programsmith.bundle.harbor import dump_toml
from programsmith.bundle.render import CANARIES, PAYLOAD, read_payload
from programsmith.bundle.sides import Sides
from programsmith.bundle.tree import DOCS, PUBLIC
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import encode_cases
from programsmith.payload.verifier.tree import write_tree
from programsmith.payload.verifier.unseal import NONCE_BYTES, bound, decode_seal, derive_key

WEAK = "programsmith/payload/adversaries/weak"
HELPERS = frozenset({"__init__", "place", "network", "swap", "loose"})
UNSHIPPED = ("plain.py", "landlock.py")  # of the public runner; weaknesses use them
FIXED_TIME = (1980, 1, 1, 0, 0, 0)
UNCHECKED = (1).to_bytes(4, "little")  # of a compiled module: its source is never compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoils:
    """What a missing defence gives away: the cut's cases, the solution, the source's address, the twin's files."""

    sides: Sides
    solution: Files
    pointer: str
    twin: Files


def weaken(bundle: Path, defence: str, out: Path, spoils: Spoils) -> Path:
    """Copy `bundle` to `out` without `defence`; return `out`. Raises KeyError where nothing removes the defence."""
    module = PAYLOAD / "adversaries" / "weak" / f"{defence}.py"
    edit = EDITS.get(defence)
    if edit is None and not module.exists():
        raise KeyError(f"{defence}: neither payload/adversaries/weak/{defence}.py nor an edit of the bundle removes it")
    shutil.copytree(bundle, out)
    if module.exists():
        verifier = out / "tests" / "verify.pyz"
        verifier.write_bytes(weak_program(verifier.read_bytes(), defence))
    if edit is not None:
        edit(out, spoils)
    return out


def weak_program(verifier: bytes, defence: str) -> bytes:
    """The verifier with one weakness more: its module goes in, and is called before anything else."""
    with zipfile.ZipFile(io.BytesIO(verifier)) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    weak = PAYLOAD / "adversaries" / "weak"
    for path in weak.glob("*.py"):
        if path.stem in {*HELPERS, defence}:
            held[f"{WEAK}/{path.name}"] = path.read_bytes()
    held |= {f"programsmith/payload/verifier/{name}": read_payload("verifier", name) for name in UNSHIPPED}
    held["programsmith/payload/adversaries/__init__.py"] = b""

    removed = sorted({Path(name).stem for name in held if name.startswith(WEAK)} - HELPERS)  # source and compiled
    package = WEAK.replace("/", ".")
    calls = "".join(f"from {package}.{name} import remove\nremove()\n" for name in removed)
    main = f"import sys\n{calls}from programsmith.payload.verifier.__main__ import main\nsys.exit(main())\n"
    held["__main__.py"] = main.encode("ascii")
    return _zip(held)


def _zip(held: Mapping[str, bytes]) -> bytes:
    """A zip application with its modules compiled beside their sources: each is started a few times, and no more."""
    ready = {f"{name}c": _compiled(name, source) for name, source in held.items() if name.endswith(".py")}
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for name, content in sorted({**held, **ready}.items()):
            archive.writestr(zipfile.ZipInfo(name, FIXED_TIME), content)
    return raw.getvalue()


@functools.cache
def _compiled(name: str, source: bytes) -> bytes:
    """What this Python makes of a module; another one, as in a container, takes the source."""
    code = compile(source, name, "exec", dont_inherit=True)
    return importlib.util.MAGIC_NUMBER + UNCHECKED + importlib.util.source_hash(source) + marshal.dumps(code)


def _lay(folder: Path, files: Iterable[FileEntry]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    write_tree(str(folder), files)


def _twin(bundle: Path, spoils: Spoils) -> None:
    """A program of the tool's name in the verifier's image."""
    _lay(bundle / "tests" / "twin", spoils.twin)


def _original(bundle: Path, spoils: Spoils) -> None:
    """The original lies beside the documentation."""
    _lay(bundle / "environment" / "app" / "original", spoils.solution)


def _answers(bundle: Path, spoils: Spoils) -> None:
    """The agent's public cases are the held-out ones."""
    (bundle / PUBLIC).write_bytes(encode_cases(spoils.sides.held_out))


def _clear(bundle: Path, spoils: Spoils) -> None:
    """The held-out cases lie in clear."""
    (bundle / "tests" / "held_out.sealed").write_bytes(encode_cases(spoils.sides.held_out))


def _one_key(bundle: Path, spoils: Spoils) -> None:
    """The solution is sealed under the key of the cases."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    raw = (bundle / "tests" / "seal.json").read_bytes()
    facts = decode_seal(raw)
    key, nonce = derive_key(facts.secret or b"", facts), bytes(NONCE_BYTES)
    folder = bundle / "solution"
    content = AESGCM(key).encrypt(nonce, pack(spoils.solution), bound(facts))
    (folder / "solution.sealed").write_bytes(nonce + content)
    (folder / "seal.json").write_bytes(raw)


def _pointer(bundle: Path, spoils: Spoils) -> None:
    """The documentation says where the original comes from."""
    place = bundle / DOCS / "UPSTREAM"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"taken from {spoils.pointer}\n", encoding="utf-8")


def _history(bundle: Path, spoils: Spoils) -> None:
    """Version history came along."""
    _lay(bundle / "environment" / "app" / ".git", history(spoils.solution))


def _artifacts(bundle: Path, spoils: Spoils) -> None:  # noqa: ARG001 - every edit has the same form
    """The agent's /tests is handed over too."""
    place = bundle / "task.toml"
    value = tomllib.loads(place.read_text(encoding="utf-8"))
    value["artifacts"].append({"source": "/tests"})
    place.write_bytes(dump_toml(value))


def _no_canaries(bundle: Path, spoils: Spoils) -> None:  # noqa: ARG001 - every edit has the same form
    """No folder asks to be left out."""
    for folder in CANARIES:
        (bundle / folder / "CANARY").unlink()


def _key_beside(bundle: Path, spoils: Spoils) -> None:  # noqa: ARG001 - every edit has the same form
    """The verifier's sealed cases lie beside the documentation, with their key."""
    for name in ("held_out.sealed", "seal.json"):
        shutil.copy(bundle / "tests" / name, bundle / "environment" / "app" / name)


def _shared(bundle: Path, spoils: Spoils) -> None:  # noqa: ARG001 - every edit has the same form
    """Agent and verifier share one container."""
    place = bundle / "task.toml"
    value = tomllib.loads(place.read_text(encoding="utf-8"))
    value["verifier"]["environment_mode"] = "shared"
    place.write_bytes(dump_toml(value))


EDITS: Mapping[str, Callable[[Path, Spoils], None]] = {
    "exec_listed": _twin,
    "no_oracle_bytes": _original,
    "no_held_out_answers": _answers,
    "sealed_held_out": _clear,
    "two_keys": _one_key,
    "no_pointer": _pointer,
    "no_history": _history,
    "one_artifact": _artifacts,
    "canaries": _no_canaries,
    "key_apart": _key_beside,
    "separate_verifier": _shared,
}
"""What a weakened bundle holds that the bundle does not."""
