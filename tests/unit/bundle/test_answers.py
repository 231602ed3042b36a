"""The container that answers queries beside an agent's in an exported task: what is in it, what is not."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from programsmith.blocks import create
from programsmith.bundle.answers import ANSWERING, ORIGINAL, PROGRAM, given, is_compose
from programsmith.bundle.seal import Sealed, unseal
from programsmith.bundle.sides import documents, read_public, read_sides
from programsmith.bundle.submissions import NOTE
from programsmith.bundle.tree import ANSWERS, COMPOSE, agent_side, read_bundle
from programsmith.bundle.zipapp import ask_pyz
from programsmith.payload.query.ask import RefusedError, asked
from programsmith.payload.query.given import Given, decode_given, encode_given, laid
from programsmith.payload.query.original import BrokenError
from programsmith.payload.query.search import RunIndex, readings
from programsmith.payload.query.serve import QUERIES, SUMS
from programsmith.payload.query.wire import REFUSED, Answer, Query
from programsmith.payload.verifier.unseal import SECRET_NAME
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes import open_launcher
from programsmith.sources.tree import read_tar
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.views import run_view
from tests.unit.bundle.benches import Bench
from tests.unit.bundle.conftest import Toy
from tests.unit.bundle.spoiled import write
from tests.unit.bundle.test_static import LOOKING, judged

LANGUAGES = ("python", "c")
SECRET = bytes(range(32))
PRIVILEGES = {"privileged", "cap_add", "devices", "pid", "ipc", "userns_mode", "ports", "networks"}
RUN_BYTES, ANSWER_BYTES = 64, 20


@pytest.fixture(params=LANGUAGES)
def asked_toy(request: pytest.FixtureRequest, asked_toys: Callable[[str, str], Toy]) -> Toy:
    return asked_toys(request.param, request.param)


def opened(toy: Toy) -> Given:
    """What the container of a task is given."""
    content, note = ((toy.bundle / path).read_bytes() for path in (ORIGINAL, NOTE))
    return decode_given(unseal(Sealed(content=content, seal=note), toy.owner_secret))


def test_it_is_given_what_the_host_of_a_trial_is_and_the_limits_of_the_rule(asked_toy: Toy, tmp_path: Path) -> None:
    job = Bench(toy=asked_toy, folder=tmp_path).job({"agent": "nop", "model": None, "trials": 1})
    bundle, rule = asked_toy.bundle, Rulebook(None).load("limits")
    host, here = given(job, read_public(bundle), documents(bundle)), opened(asked_toy)
    alike = {name: dataclasses.replace(one, shown=tuple(sorted(one.shown)), tree=tuple(sorted(one.tree)))
             for name, one in {"host": host, "here": here}.items()}  # fmt: skip
    assert alike["host"] == alike["here"]
    assert dataclasses.asdict(here.meter) == rule["query"]
    assert dataclasses.asdict(here.limits) == rule["capture"]
    assert decode_given(encode_given(here)) == here


def test_who_answers_shows_first_that_it_works_here(asked_toys: Callable[[str, str], Toy], tmp_path: Path) -> None:
    """An original may start and yet lack what it needs: its failures would pass for the original's own answers."""
    toy = asked_toys("python", "python")
    here = opened(toy)
    assert here.known
    assert set(here.known) <= set(read_public(toy.bundle))
    view = run_view(toolchains(Rulebook(None).load("toolchains"))["python"])
    with contextlib.closing(open_launcher(view)) as launcher:
        laid(here, str(tmp_path / "whole"), launcher).require_known(here.known)
        script = [e for e in here.tree if e.path == b"lib/rot.py"]
        broken = [dataclasses.replace(script[0], content=b"import words\n")]
        tree = tuple(e for e in here.tree if e.path != b"lib/rot.py") + tuple(broken)
        other = laid(dataclasses.replace(here, tree=tree), str(tmp_path / "broken"), launcher)
        other.require_host()
        with pytest.raises(BrokenError, match="does not answer the public case c"):
            other.require_known(here.known)


def test_no_file_shows_the_original_and_no_agents_side_could(asked_toy: Toy) -> None:
    files = read_bundle(asked_toy.bundle)
    assert set(ANSWERING) <= files.keys()
    assert {path for path in files if "reference" in path and path in agent_side(files)} == {
        "environment/app/reference/rot"
    }
    programs = {PROGRAM, "environment/app/check", "environment/app/reference/rot", "tests/verify.pyz"}
    index = RunIndex((e.content for e in read_tar(asked_toy.path("oracle.tar")) if e.kind == "file"), RUN_BYTES, 6)
    shown = [
        path for path in files.keys() - programs for text in readings(files[path].content) if any(index.runs(text))
    ]
    assert shown == []


def test_no_held_out_case_is_in_it(asked_toy: Toy) -> None:
    sides, here = read_sides(asked_toy.bundle), opened(asked_toy)
    public = b"\0".join(c.expected.stdout for c in sides.public)
    secret = [c.expected.stdout for c in sides.held_out if c.expected.stdout not in public]
    long = [answer for answer in secret if len(answer) >= ANSWER_BYTES]
    assert long
    assert not [answer for answer in long if any(answer in text for text in (*here.shown, encode_given(here)))]


def test_the_two_containers_share_a_socket_and_nothing_else_and_ask_for_no_privilege(asked_toy: Toy) -> None:
    raw = (asked_toy.bundle / COMPOSE).read_bytes()
    made = yaml.safe_load(raw)
    services, limits = made["services"], opened(asked_toy).limits
    assert (services.keys(), made["volumes"]) == ({"main", "reference"}, {"asking": {}})
    for name, service in services.items():
        assert (service["network_mode"], service["init"]) == ("none", True), name
        assert [(v["type"], v["source"], v["target"]) for v in service["volumes"]] == [
            ("volume", "asking", "/run/oracle")
        ]
        assert not service.keys() & {
            "privileged",
            "cap_add",
            "devices",
            "pid",
            "ipc",
            "userns_mode",
            "ports",
            "networks",
        }
    main, reference = services["main"], services["reference"]
    assert main["volumes"][0]["read_only"] is True
    assert main["depends_on"] == {"reference": {"condition": "service_healthy"}}
    assert (asked_toy.bundle / "environment" / reference["build"]["context"]).resolve() == asked_toy.bundle / ANSWERS
    assert {f"size={limits.work_bytes}" in place and "noexec" in place for place in reference["tmpfs"]} == {True}
    assert is_compose(raw)


def test_the_owners_secret_goes_to_who_answers_and_to_no_agent(asked_toy: Toy, tmp_path: Path) -> None:
    toy = asked_toy.copy(tmp_path / "toy")
    toy.owner_secret, toy.spec["seal"] = SECRET, "owner"
    shutil.rmtree(toy.bundle)
    create.run(toy.job("create"))
    services = yaml.safe_load((toy.bundle / COMPOSE).read_bytes())["services"]
    assert services["reference"]["environment"] == {SECRET_NAME: "${" + SECRET_NAME + "}"}
    assert "environment" not in services["main"]
    assert opened(toy).tree
    assert judged(toy, LOOKING) == {}


SPOILS = {
    "privileged": ("consumers", COMPOSE, lambda c: c.replace(b"    init: true\n", b"    privileged: true\n", 1)),
    "capability": ("consumers", COMPOSE, lambda c: c.replace(b"cap_drop", b"cap_add")),
    "network": ("consumers", COMPOSE, lambda c: c.replace(b"network_mode: none", b"network_mode: bridge", 1)),
    "writable": ("consumers", COMPOSE, lambda c: c.replace(b" read_only: true,", b"")),
    "service": ("consumers", COMPOSE, lambda c: c + b"  other: {}\n"),
    "slots": ("consumers", COMPOSE, lambda c: c.replace(b"cpus: 2", b"cpus: 9999")),
    "no_compose": ("consumers", COMPOSE, lambda _: b""),
    "second_compose": ("closed_tree consumers", "tests/compose.yaml", lambda _: b"services: {}\n"),
    "program": ("verifier_program", PROGRAM, lambda c: c + b"\n"),
    "launcher": ("verifier_program", f"{ANSWERS}launcher/launch/launch.c", lambda c: c + b"\n"),
    "dockerfile": ("reproducible_image", f"{ANSWERS}Dockerfile", lambda c: c.replace(b"0700", b"0755")),
    "another_original": ("oracle_access sealing", ORIGINAL, lambda c: c[:-1] + bytes([c[-1] ^ 1])),
    "another_note": ("sealing", f"{ANSWERS}seal.json", lambda c: c.replace(b"rot@", b"tor@")),
    "planted": ("closed_tree", f"{ANSWERS}more", lambda _: b"x"),
    "at_grading": ("closed_tree oracle_access", "tests/answer.pyz", lambda _: ask_pyz()),
}


@pytest.mark.parametrize("name", SPOILS)
def test_a_container_that_create_did_not_write_makes_its_checks_red(
    asked_toys: Callable[[str, str], Toy], tmp_path: Path, name: str
) -> None:
    wanted, path, edit = SPOILS[name]
    toy = asked_toys("python", "python").copy(tmp_path / "toy")
    place = toy.bundle / path
    write(toy, path, edit(place.read_bytes() if place.exists() else b""))
    assert set(judged(toy, LOOKING)) == set(wanted.split())


def test_where_nobody_may_ask_no_container_is_added(toys: Callable[[str, str], Toy], tmp_path: Path) -> None:
    toy = toys("python", "python").copy(tmp_path / "toy")
    assert not {path for path in read_bundle(toy.bundle) if path == COMPOSE or path.startswith(ANSWERS)}
    write(toy, COMPOSE, b"services: {}\n")
    assert set(judged(toy, LOOKING)) == {"consumers", "closed_tree"}


@contextlib.contextmanager
def answering(toy: Toy, place: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The server of a task's container as a process of its own, which says that it is ready."""
    words = [toy.bundle, place, place / "logs", "python"]
    command = [sys.executable, "-m", "tests.samples.answering", *map(str, words)]
    with subprocess.Popen(command, cwd=Path(__file__).parents[3], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == b"ready\n"
            yield process
        finally:
            process.terminate()


def ask(place: Path, *argv: bytes, stdin: bytes = b"") -> Answer:
    return asked(Query(argv=argv, stdin=stdin), str(place / "ask"))


def test_one_that_dies_is_started_again_and_what_was_used_up_stays_so(
    asked_toys: Callable[[str, str], Toy], tmp_path: Path
) -> None:
    toy = asked_toys("python", "python").copy(tmp_path / "toy")
    limits = Rulebook(None).load("limits")
    toy.rules = {"limits": {**limits, "query": {**limits["query"], "queries": 3}}}
    shutil.rmtree(toy.bundle)
    create.run(toy.job("create"))
    place = tmp_path / "place"
    place.mkdir()
    with answering(toy, place) as process:
        assert ask(place, b"-n", b"1", stdin=b"abc").stdout == b"bcd"
        assert ask(place, b"/opt/oracle/lib/rot.py").word == "outside"
        process.kill()
        process.wait()
        with pytest.raises(RefusedError, match="absent"):
            ask(place)
    with answering(toy, place):
        assert ask(place, b"-n", b"2", stdin=b"abc").stdout == b"cde"
        assert ask(place, stdin=b"abc").word == "spent"
    rows = [json.loads(line) for line in (place / "logs" / QUERIES).read_bytes().splitlines()]
    assert [row["word"] for row in rows] == ["ran", "outside", "ran"]
    sums = json.loads((place / "logs" / SUMS).read_bytes())
    assert (sums["queries"], sums["refused"]) == (3, {"outside": 1, "spent": 1})
    assert not (place / "ask").exists()


def test_beside_an_agent_alone_the_command_is_refused(asked_toys: Callable[[str, str], Toy], tmp_path: Path) -> None:
    command = asked_toys("python", "python").bundle / "environment/app/reference/rot"
    done = subprocess.run([sys.executable, "-IS", command], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True)
    assert done.returncode == REFUSED
    assert done.stderr.startswith(b"reference: refused: absent: ")
