"""Sealing: deterministic, bound to bundle and purpose, opened by the right secret only."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import product

import pytest

from programsmith.bundle.seal import Sealed, seal, unseal
from programsmith.errors import InfraError
from programsmith.payload.verifier.unseal import NONCE_BYTES, SECRET_NAME, Purpose, SealError, decode_seal

TEXT = b"held out\n" * 50
OWNER = bytes(range(32))


@pytest.mark.parametrize("secret", [None, OWNER])
def test_sealed_bytes_open_again_and_are_equal_each_time(secret: bytes | None) -> None:
    sealed = seal(TEXT, identity="t@1", purpose=Purpose.HELD_OUT, owner_secret=secret)
    assert sealed == seal(TEXT, identity="t@1", purpose=Purpose.HELD_OUT, owner_secret=secret)
    assert unseal(sealed, secret) == TEXT
    assert b"held out" not in sealed.content


def test_no_two_bundles_purposes_or_texts_share_a_nonce_or_a_byte_of_cipher() -> None:
    made = [
        seal(text, identity=identity, purpose=purpose, owner_secret=OWNER).content
        for text, identity, purpose in product((TEXT, TEXT + b"x"), ("t@1", "t@2"), Purpose)
    ]
    assert len({content[:NONCE_BYTES] for content in made}) == len(made)
    assert len({content[NONCE_BYTES : NONCE_BYTES + 16] for content in made}) == len(made)


def test_an_owners_seal_holds_no_secret() -> None:
    sealed = seal(TEXT, identity="t@1", purpose=Purpose.SOLUTION, owner_secret=OWNER)
    assert json.loads(sealed.seal) == {"identity": "t@1", "purpose": "solution", "mode": "owner", "secret": None}
    for wrong in (None, bytes(32), OWNER[:-1]):
        with pytest.raises(InfraError, match=r"secret"):
            unseal(sealed, wrong)


def test_an_inline_secret_is_not_the_digest_that_provenance_publishes() -> None:
    import hashlib

    sealed = seal(TEXT, identity="t@1", purpose=Purpose.HELD_OUT)
    assert decode_seal(sealed.seal).secret != hashlib.sha256(TEXT).digest()


@pytest.mark.parametrize("at", [0, NONCE_BYTES, -1])
def test_altered_bytes_do_not_open(at: int) -> None:
    sealed = seal(TEXT, identity="t@1", purpose=Purpose.HELD_OUT)
    content = bytearray(sealed.content)
    content[at] ^= 1
    with pytest.raises(InfraError, match="do not open"):
        unseal(Sealed(content=bytes(content), seal=sealed.seal))


@pytest.mark.parametrize(
    ("name", "value"), [("identity", "t@2"), ("purpose", "solution"), ("secret", "AAAA"), ("mode", "owner")]
)
def test_a_seal_of_another_bundle_or_purpose_does_not_open(name: str, value: str) -> None:
    sealed = seal(TEXT, identity="t@1", purpose=Purpose.HELD_OUT)
    altered = json.dumps({**json.loads(sealed.seal), name: value}).encode()
    with pytest.raises(InfraError, match="unseal"):
        unseal(Sealed(content=sealed.content, seal=altered))


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"{}", b'{"identity": 1, "purpose": "held_out", "mode": "inline"}'])
def test_a_broken_seal_file_is_refused(raw: bytes) -> None:
    with pytest.raises(SealError, match=r"seal\.json"):
        decode_seal(raw)


def test_short_content_is_refused() -> None:
    sealed = seal(TEXT, identity="t@1", purpose=Purpose.HELD_OUT)
    for length in (0, 5, NONCE_BYTES, NONCE_BYTES + 3):
        with pytest.raises(InfraError, match="do not open"):
            unseal(Sealed(content=sealed.content[:length], seal=sealed.seal))


TAKE = """
from pathlib import Path
from programsmith.payload.verifier.unseal import refuse_dumps, take_secret
before = Path("/proc/self/environ").read_bytes()
secret = take_secret()
after = Path("/proc/self/environ").read_bytes()
refuse_dumps()
import ctypes, os
text = secret.hex().encode()
print(secret.hex(), text in before, text in after, "PROGRAMSMITH_SECRET" in os.environ)
print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


def test_the_secret_is_read_once_and_wiped_from_what_proc_shows() -> None:
    done = subprocess.run([sys.executable, "-c", TAKE], env={SECRET_NAME: OWNER.hex()}, capture_output=True, check=True)
    assert done.stdout.decode().split() == [OWNER.hex(), "True", "False", "False", "0"]


def test_a_secret_that_is_no_hexadecimal_is_refused() -> None:
    done = subprocess.run([sys.executable, "-c", TAKE], env={SECRET_NAME: "xyz"}, capture_output=True)
    assert b"wanted an even number of hexadecimal digits" in done.stderr
    assert b"xyz" not in done.stderr
