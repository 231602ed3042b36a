"""The host's digest: what turns it around, and that it is the same twice."""

from __future__ import annotations

from programsmith.sandboxes.host import host_digest


def test_the_same_host_has_the_same_digest_twice(tmp_path):
    (tmp_path / "libc.so.6").write_bytes(b"one")
    assert host_digest([f"{tmp_path}/*.so.6"]) == host_digest([f"{tmp_path}/*.so.6"])


def test_another_content_another_name_and_a_lost_file_change_it(tmp_path):
    library = tmp_path / "libc.so.6"
    library.write_bytes(b"one")
    patterns = [f"{tmp_path}/*.so.6"]
    seen = [host_digest(patterns)]
    library.write_bytes(b"two!")
    seen.append(host_digest(patterns))
    library.rename(tmp_path / "libm.so.6")
    seen.append(host_digest(patterns))
    (tmp_path / "libm.so.6").unlink()
    seen.append(host_digest(patterns))
    assert len(set(seen)) == len(seen)
