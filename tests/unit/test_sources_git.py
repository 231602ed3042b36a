"""Fetching with git: the user's configuration counts, nobody is asked anything, trees are read object by object."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from programsmith.errors import InfraError, InputError
from programsmith.sources.forge import name_of, owner_of, public
from programsmith.sources.git import read_git, read_tree
from programsmith.sources.origin import RefusedError, show


class _Closed(BaseHTTPRequestHandler):
    """A host that wants a password."""

    def do_GET(self) -> None:
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="x"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Keep standard error clean."""


@pytest.fixture
def closed_host() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Closed) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_host_that_wants_a_password_is_infra_and_asks_nobody(closed_host, kit, tmp_path):
    with pytest.raises(InfraError, match="asks for a credential"):
        read_git(f"{closed_host}/o/toy", None, tmp_path / "s", kit.caps)


def test_the_users_own_redirection_counts(kit, tmp_path, monkeypatch):
    repo = kit.repository(tmp_path / "toy", kit.program)
    config = tmp_path / "gitconfig"
    config.write_text(f'[url "{repo}"]\n\tinsteadOf = https://host.invalid/o/toy\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    origin = read_git("https://host.invalid/o/toy", None, tmp_path / "s", kit.caps)
    assert origin.commit == kit.git(repo, "rev-parse", "HEAD")
    assert (origin.label, origin.owner) == ("https://host.invalid/o/toy", "o/toy")


def test_a_local_path_that_is_no_repository_is_wrong_input(kit, tmp_path):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "nowhere.git", f"file://{tmp_path}/nowhere.git"):
        with pytest.raises(InputError, match=f"source.git: {path} is no repository that can be read: "):
            read_git(str(path), "v1", tmp_path / "s", kit.caps)


def test_a_url_cannot_be_an_option(kit, tmp_path):
    with pytest.raises(InputError, match="begins with a dash"):
        read_git("--upload-pack=touch x", None, tmp_path / "s", kit.caps)


def test_a_source_above_the_caps_is_refused_while_it_is_read(kit, tmp_path):
    repo = kit.repository(tmp_path / "toy", {"big": b"\1" * ((1 << 20) + 1)})
    with pytest.raises(RefusedError, match="big has 1048577 bytes"):
        read_git(str(repo), None, tmp_path / "s", kit.caps)


def test_a_tag_goes_before_a_branch_of_the_same_name(kit, tmp_path):
    repo = kit.repository(tmp_path / "toy", kit.program)
    first = kit.git(repo, "rev-parse", "HEAD")
    kit.git(repo, "tag", "same")
    (repo / "b.py").write_text("x = 1\n")
    kit.commit(repo)
    kit.git(repo, "branch", "same")
    found = read_git(str(repo), "same", tmp_path / "s", kit.caps)
    assert (found.commit, found.tag) == (first, "same")
    assert read_git(str(repo), first, tmp_path / "by_id", kit.caps).tag == ""
    assert read_git(str(repo), None, tmp_path / "head", kit.caps).tag == ""


@pytest.mark.parametrize("name", [b"", b".", b"..", b"a/b", b".git", b".GiT"])
def test_a_tree_with_a_name_that_no_checkout_allows_is_refused(name):
    with pytest.raises(RefusedError, match="forbidden name"):
        list(read_tree(b"100644 " + name + b"\0" + b"\1" * 20))


def test_a_tree_is_read_as_bytes():
    content = b"100755 caf\xe9\0" + b"\1" * 20 + b"40000 d\0" + b"\2" * 20
    assert list(read_tree(content)) == [(0o100755, b"caf\xe9", "01" * 20), (0o40000, b"d", "02" * 20)]


@pytest.mark.parametrize(
    ("url", "owner", "name"),
    [
        ("https://github.com/JqLang/jq.git", "jqlang/jq", "jq"),
        ("https://user:secret@host/o/n/", "o/n", "n"),
        ("git@github.com:o/n.git", "o/n", "n"),
        ("ssh://git@host:22/group/sub/n", "sub/n", "n"),
        ("/home/me/n", None, "n"),
        ("../n", None, "n"),
        ("file:///srv/o/n", None, "n"),
    ],
)
def test_a_url_tells_owner_and_name(url, owner, name):
    assert (owner_of(url), name_of(url)) == (owner, name)


def test_a_password_is_not_written_down():
    assert public("https://user:secret@host/o/n") == "https://host/o/n"


def test_a_path_is_shown_without_control_characters():
    assert show(b"a\x1b[31m\xff\n") == "a\\x1b[31m\\xff\\n"


def test_a_callers_own_repository_is_left_alone(kit, tmp_path, monkeypatch):
    repo = kit.repository(tmp_path / "toy", kit.program)
    mine = kit.repository(tmp_path / "mine", {"a": "1"})
    before = kit.git(mine, "for-each-ref")
    monkeypatch.setenv("GIT_DIR", str(mine / ".git"))
    origin = read_git(str(repo), None, tmp_path / "s", kit.caps)
    monkeypatch.delenv("GIT_DIR")
    assert len(origin.entries) == len(kit.program)
    assert kit.git(mine, "for-each-ref") == before
