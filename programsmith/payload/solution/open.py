"""Opens a sealed tar and lays it down: AES-256-GCM and HKDF in plain Python, for places that have nothing else.

In: `solution.sealed` and `seal.json` beside this file, the folder to fill; a second argument names another sealed tar
(`submissions`). Out: the files of the tar. Refuses a wrong or missing secret and altered bytes. Slow (about a second
per 100 kB) and not hardened against timing.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import io
import json
import os
import sys
import tarfile
from collections.abc import Iterator

SECRET_NAME = "PROGRAMSMITH_SECRET"  # noqa: S105 - the variable's name
SALT = b"programsmith seal"
ROUNDS = 14
REDUCE = 0xE1 << 120  # GCM's polynomial, bits in GCM's order


def double(byte: int) -> int:
    """Twice a byte in AES's field."""
    return (byte << 1) ^ (0x11B if byte & 0x80 else 0)


def substitution() -> bytes:
    """AES's substitution table: inverse in the field, then the affine map."""
    powers, logs = [1], {1: 0}
    for exponent in range(1, 255):
        powers.append(powers[-1] ^ double(powers[-1]))
        logs[powers[-1]] = exponent
    table = bytearray()
    for byte in range(256):
        inverse = powers[-logs[byte] % 255] if byte else 0
        spread = inverse
        for turn in range(1, 5):
            spread ^= (inverse << turn | inverse >> (8 - turn)) & 0xFF
        table.append(spread ^ 0x63)
    return bytes(table)


SUBSTITUTION = substitution()
DOUBLED = bytes(double(b) for b in SUBSTITUTION)
SHIFTED = tuple((4 * (column + row) + row) % 16 for column in range(4) for row in range(4))


def expand(key: bytes) -> list[bytes]:
    """Round keys of a 32-byte key."""
    words = [key[i : i + 4] for i in range(0, 32, 4)]
    constant, half = 1, len(words) // 2
    for at in range(8, 4 * (ROUNDS + 1)):
        word = words[-1]
        if at % 8 == 0:
            word = bytes(SUBSTITUTION[b] for b in word[1:] + word[:1])
            word = bytes((word[0] ^ constant,)) + word[1:]
            constant = double(constant)
        elif at % 8 == half:
            word = bytes(SUBSTITUTION[b] for b in word)
        words.append(bytes(a ^ b for a, b in zip(words[-8], word, strict=True)))
    return [b"".join(words[i : i + 4]) for i in range(0, len(words), 4)]


def encrypt(block: bytes, keys: list[bytes]) -> bytes:
    """One block through AES."""
    state = bytes(a ^ b for a, b in zip(block, keys[0], strict=True))
    for key in keys[1:-1]:
        s = [state[i] for i in SHIFTED]
        mixed = bytearray(16)
        for c in range(0, 16, 4):
            column = s[c : c + 4]
            for row in range(4):
                a, b, d, e = (column[(row + k) % 4] for k in range(4))
                mixed[c + row] = DOUBLED[a] ^ DOUBLED[b] ^ SUBSTITUTION[b] ^ SUBSTITUTION[d] ^ SUBSTITUTION[e]
        state = bytes(a ^ b for a, b in zip(mixed, key, strict=True))
    return bytes(SUBSTITUTION[state[i]] ^ k for i, k in zip(SHIFTED, keys[-1], strict=True))


def byte_products(point: int) -> list[list[int]]:
    """For each byte position of a block, each byte value times `point` in GCM's field."""
    bits = []
    for _ in range(128):
        bits.append(point)
        point = point >> 1 ^ (REDUCE if point & 1 else 0)
    tables = []
    for at in range(16):
        row = [0] * 256
        for value in range(256):
            for bit in range(8):
                if value >> (7 - bit) & 1:
                    row[value] ^= bits[8 * at + bit]
        tables.append(row)
    return tables


def tag_sum(parts: list[bytes], products: list[list[int]]) -> int:
    """GHASH of byte strings, each padded to whole blocks."""
    total = 0
    for part in parts:
        for at in range(0, len(part), 16):
            block = part[at : at + 16].ljust(16, b"\0")
            mixed = (total ^ int.from_bytes(block, "big")).to_bytes(16, "big")
            total = 0
            for row, byte in zip(products, mixed, strict=True):
                total ^= row[byte]
    return total


def stream(nonce: bytes, keys: list[bytes], blocks: int) -> Iterator[bytes]:
    """Key stream of the body, block by block."""
    for counter in range(2, blocks + 2):
        yield encrypt(nonce + counter.to_bytes(4, "big"), keys)


def unseal(sealed: bytes, key: bytes, bound: bytes) -> bytes:
    """The clear bytes. Raises ValueError where the tag does not fit."""
    nonce, body, tag = sealed[:12], sealed[12:-16], sealed[-16:]
    keys = expand(key)
    products = byte_products(int.from_bytes(encrypt(bytes(16), keys), "big"))
    lengths = (8 * len(bound)).to_bytes(8, "big") + (8 * len(body)).to_bytes(8, "big")
    mask = int.from_bytes(encrypt(nonce + b"\0\0\0\1", keys), "big")
    wanted = (tag_sum([bound, body, lengths], products) ^ mask).to_bytes(16, "big")
    if not hmac.compare_digest(wanted, tag):
        raise ValueError("the sealed bytes do not open with this secret")
    pad = b"".join(stream(nonce, keys, (len(body) + 15) // 16))
    return bytes(a ^ b for a, b in zip(body, pad, strict=False))


def derive(secret: bytes, bound: bytes) -> bytes:
    """HKDF-SHA256 to 32 bytes."""
    extracted = hmac.digest(SALT, secret, "sha256")
    return hmac.digest(extracted, bound + b"\1", hashlib.sha256)


def lay(clear: bytes, folder: str) -> None:
    """Write the folders and regular files of a tar below `folder`."""
    with tarfile.open(fileobj=io.BytesIO(clear)) as tar:
        for member in tar:
            path = os.path.join(folder, member.name)
            body = tar.extractfile(member) if member.isfile() else None
            os.makedirs(path if member.isdir() else os.path.dirname(path), exist_ok=True)
            if body is not None:
                with open(path, "wb") as file:
                    file.write(body.read())
                os.chmod(path, member.mode)


def main(folder: str, what: str = "solution") -> int:
    """Open the solution beside this file into `folder`, or what else is sealed with it."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "seal.json"), "rb") as file:
        seal = json.load(file)
    with open(os.path.join(here, f"{what}.sealed"), "rb") as file:
        sealed = file.read()
    given = os.environ.get(SECRET_NAME)  # noqa: TID251 - a program of its own
    if seal["secret"] is None and given is None:
        print(f"sealed by its owner: give the secret as hexadecimal digits in {SECRET_NAME}", file=sys.stderr)
        return 3
    secret = bytes.fromhex(given or "") if seal["secret"] is None else base64.b64decode(seal["secret"])
    bound = json.dumps([seal["identity"], seal["purpose"]], separators=(",", ":")).encode("ascii")
    clear = unseal(sealed, derive(secret, bound), bound)
    lay(clear, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
