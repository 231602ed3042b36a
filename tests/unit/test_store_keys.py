from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from programsmith.errors import InputError
from programsmith.store.keys import Keys, keys, known_keys, signing_key


def test_keys_are_made_once_for_their_owner_alone(tmp_path: Path) -> None:
    first = keys(tmp_path)
    assert first.store is not None
    assert first.writer is not None
    assert first.store != first.writer
    assert keys(tmp_path) == first
    folder = tmp_path / "programsmith"
    assert sorted(p.name for p in folder.iterdir()) == ["store.key", "writer.key"]
    assert {stat.S_IMODE(p.stat().st_mode) for p in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_keys_that_are_given_make_no_file(tmp_path: Path) -> None:
    assert keys(tmp_path, "0a" * 32, "0b" * 32) == Keys(store=b"\n" * 32, writer=b"\x0b" * 32)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("given", ["xyz", "0a" * 31, "0a" * 33, "é" * 64])
def test_a_key_that_is_none_is_refused_by_name_and_not_shown(tmp_path: Path, given: str) -> None:
    with pytest.raises(InputError, match="PROGRAMSMITH_STORE_KEY: wanted a key of 64 hexadecimal digits") as fault:
        keys(tmp_path, given)
    assert given not in str(fault.value)
    keys(tmp_path)
    path = tmp_path / "programsmith" / "writer.key"
    path.write_text(given)
    with pytest.raises(InputError, match=r"writer\.key: wanted a key"):
        keys(tmp_path)


def test_a_key_that_others_can_read_is_refused_with_the_remedy(tmp_path: Path) -> None:
    keys(tmp_path)
    path = tmp_path / "programsmith" / "store.key"
    path.chmod(0o644)
    with pytest.raises(InputError, match=f"chmod 600 {path}"):
        keys(tmp_path)


def test_where_no_key_can_be_kept_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    none = Keys(store=None, writer=None)
    assert keys(tmp_path / "file") == none
    assert keys(None) == none


def test_a_print_of_keys_shows_none() -> None:
    assert repr(Keys(store=b"s" * 32, writer=b"w" * 32)) == "Keys()"


def test_processes_that_make_the_key_at_once_agree(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from programsmith.store.keys import keys; k = keys(Path(sys.argv[1]));"
    )
    code += "print(k.store.hex(), k.writer.hex())"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=-1, text=True, env=env) for _ in range(4)
    ]
    assert len({process.communicate(timeout=60)[0] for process in running}) == 1


def test_who_only_looks_makes_no_key(tmp_path: Path) -> None:
    assert known_keys(tmp_path) == Keys(store=None, writer=None)
    assert list(tmp_path.iterdir()) == []
    assert known_keys(tmp_path, "0a" * 32).store == b"\n" * 32
    made = keys(tmp_path)
    assert known_keys(tmp_path) == made


def test_the_signing_key_is_made_on_first_use_as_the_others_are(tmp_path: Path) -> None:
    made = signing_key(tmp_path)
    path = tmp_path / "programsmith" / "signing.key"
    assert made is not None
    assert signing_key(tmp_path) == made == bytes.fromhex(path.read_text())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert signing_key(tmp_path, "0c" * 32) == b"\x0c" * 32
    assert signing_key(None) is None
    with pytest.raises(InputError, match="PROGRAMSMITH_SIGNING_KEY: wanted a key of 64 hexadecimal digits"):
        signing_key(tmp_path, "0c")
