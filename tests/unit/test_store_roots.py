"""Roots: what projects that share a store need stays, whoever collects."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from programsmith.compiler.paths import Project
from programsmith.compiler.storing import collect
from programsmith.errors import InfraError, InputError
from programsmith.store.backend import Namespace
from programsmith.store.cache import COLLECTION, ActionCache, Hit
from programsmith.store.directory import Directory
from programsmith.store.garbage import YOUNG_SECONDS, collected
from programsmith.store.leases import Leases
from programsmith.store.roots import Root, keep_root, roots

sys.path.insert(0, str(Path(__file__).parents[1] / "samples"))

from shelf import OWN, made  # noqa: E402

from programsmith.compiler.storage import root_of  # noqa: E402

KEYS = [digit * 64 for digit in "abcdef"]
LONG_AGO = 1000


class Place:
    """A project that uses a store for its specs."""

    def __init__(self, root: Path, store: Path, *specs: str) -> None:
        self.project = Project(root)
        self.store = store
        for name in specs:
            self.file(name).parent.mkdir(parents=True, exist_ok=True)
            self.file(name).write_text(f"version: 1\nname: {name}\nsource: {{path: .}}\n")

    def file(self, name: str) -> Path:
        return self.project.root / "specs" / f"{name}.yaml"

    def cache(self, spec: str) -> ActionCache:
        root = root_of(self.project, self.file(spec))
        return ActionCache(Directory(self.store), OWN, Leases(self.store / "leases"), root)

    def keep(self, key: str, spec: str) -> None:
        text = self.project.root / f"{key[:1]}.txt"
        text.write_text(f"{key} of {spec}")
        assert self.cache(spec).publish(key, made({"t": text}, spec=spec)) is None
        os.utime(self.store / "ac" / key[:2] / key, (LONG_AGO, LONG_AGO))

    def has(self, key: str, spec: str) -> bool:
        (self.project.root / "back").unlink(missing_ok=True)
        return isinstance(self.cache(spec).look(key, {"t": self.project.root / "back"}), Hit)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROGRAMSMITH_STORE", str(tmp_path / "store"))
    return tmp_path / "store"


@pytest.fixture
def here(tmp_path: Path, store: Path) -> Place:
    return Place(tmp_path / "here", store, "one", "over")


@pytest.fixture
def there(tmp_path: Path, store: Path) -> Place:
    return Place(tmp_path / "there", store, "two", "three")


def test_what_another_project_needs_stays_however_long_nobody_used_it(here: Place, there: Place) -> None:
    here.keep(KEYS[0], "one")
    here.keep(KEYS[1], "over")
    there.keep(KEYS[2], "two")
    here.file("over").unlink()
    found = collect(here.project, 0)
    assert (found["entries"], found["roots"], found["roots_kept"]) == (1, 1, 2)
    assert [here.has(KEYS[0], "one"), here.has(KEYS[1], "over"), there.has(KEYS[2], "two")] == [True, False, True]


def test_taking_something_from_the_store_keeps_it_too(here: Place, there: Place, tmp_path: Path) -> None:
    here.keep(KEYS[0], "over")
    assert isinstance(there.cache("two").lookup(KEYS[0], "two", {"t": tmp_path / "taken"}), Hit)
    here.file("over").unlink()
    assert collect(here.project, 0)["entries"] == 0
    assert there.has(KEYS[0], "two")


def test_a_project_that_vanished_keeps_its_own_until_it_is_forgotten(here: Place, there: Place) -> None:
    there.keep(KEYS[0], "two")
    for name in ("two", "three"):
        there.file(name).unlink()
    assert collect(here.project, 0)["entries"] == 0
    assert collect(here.project, 0, forget=1)["roots"] == 0
    (root,) = roots(Directory(here.store))
    os.utime(here.store / "roots" / root.name[:2] / root.name, (time.time() - 2 * 86400,) * 2)
    assert collect(here.project, 0, forget=3)["roots"] == 0
    found = collect(here.project, 0, forget=1)
    assert (found["roots"], found["entries"]) == (1, 1)


def test_a_build_that_uses_the_store_counts_as_a_use_of_its_root(there: Place) -> None:
    there.keep(KEYS[0], "two")
    (root,) = roots(Directory(there.store))
    os.utime(there.store / "roots" / root.name[:2] / root.name, (LONG_AGO, LONG_AGO))
    there.keep(KEYS[1], "two")
    (again,) = roots(Directory(there.store))
    assert (again.name, again.seconds > LONG_AGO) == (root.name, True)


def test_a_moved_project_keeps_its_own_by_its_former_root(here: Place, there: Place, tmp_path: Path) -> None:
    there.keep(KEYS[0], "two")
    there.project.root.rename(tmp_path / "moved")
    assert collect(here.project, 0)["entries"] == 0
    moved = Place(tmp_path / "moved", there.store, "two", "three")
    assert collect(moved.project, 0)["entries"] == 0
    assert moved.has(KEYS[0], "two")


@pytest.mark.parametrize("content", [b"", b"{}", b"cut o", b'{"spec": 1}', b"[" * 100_000])
def test_a_damaged_root_stops_a_collection_before_anything_goes(here: Place, there: Place, content: bytes) -> None:
    there.keep(KEYS[0], "two")
    there.keep(KEYS[1], "gone")
    (root,) = (r for r in roots(Directory(here.store)) if r.root.spec == "two")
    path = here.store / "roots" / root.name[:2] / root.name
    path.write_bytes(content)
    with pytest.raises(InfraError, match=f"roots/{root.name[:2]}/{root.name} is damaged"):
        collect(here.project, 0)
    assert there.has(KEYS[0], "two")
    assert there.has(KEYS[1], "gone")


def test_a_root_that_says_something_else_than_its_name_is_damaged(here: Place, there: Place) -> None:
    there.keep(KEYS[0], "two")
    (root,) = roots(Directory(here.store))
    path = here.store / "roots" / root.name[:2] / root.name
    path.write_bytes(path.read_bytes().replace(b'"two"', b'"owt"'))
    with pytest.raises(InfraError, match="damaged"):
        collect(here.project, 0)


def test_a_link_among_the_roots_is_none(here: Place, there: Place) -> None:
    there.keep(KEYS[0], "two")
    (root,) = roots(Directory(here.store))
    path = here.store / "roots" / root.name[:2] / root.name
    path.rename(here.store / "elsewhere")
    path.symlink_to(here.store / "elsewhere")
    with pytest.raises(InfraError, match="no regular file"):
        collect(here.project, 0)


@pytest.mark.parametrize("days", [-1, float("nan")])
def test_days_are_a_number_from_zero_up(here: Place, days: float) -> None:
    with pytest.raises(InputError, match="--forget"):
        collect(here.project, 0, forget=days)


def test_a_root_is_there_before_the_first_object_and_in_no_midst_of_a_collection(store: Path, here: Place) -> None:
    leases = Leases(store / "leases")
    with leases.alone(COLLECTION):
        publishing = threading.Thread(target=here.keep, args=(KEYS[0], "one"))
        publishing.start()
        publishing.join(0.2)
        assert publishing.is_alive()
        assert list(Directory(store).list(Namespace.ROOTS)) == []
    publishing.join(10)
    assert [r.root.spec for r in roots(Directory(store))] == ["one"]


def test_collections_beside_builders_of_two_projects_take_nothing_that_is_needed(here: Place, there: Place) -> None:
    def work(place: Place, spec: str, digits: str) -> None:
        for n in range(20):
            place.keep(digits + f"{n:062x}", spec)

    threads = [threading.Thread(target=work, args=args) for args in ((here, "one", "aa"), (there, "two", "bb"))]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        later = time.time() + 2 * YOUNG_SECONDS
        collected(Directory(here.store), Leases(here.store / "leases"), live=(), since=later, now=later)
    assert all(here.has("aa" + f"{n:062x}", "one") and there.has("bb" + f"{n:062x}", "two") for n in range(20))


def test_a_root_that_somebody_invents_removes_nothing(here: Place) -> None:
    here.keep(KEYS[0], "one")
    keep_root(Directory(here.store), Root(spec="one", file="/x", project="/y", machine="z"))
    assert collect(here.project, 0)["entries"] == 0
