"""Agents that ask the original: what crosses and comes back, what is refused, what is told of it."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import errno
import gzip
import json
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from programsmith.agents.queries import Queried, answering
from programsmith.blocks import goldens
from programsmith.errors import InfraError, InputError
from programsmith.payload.query.ask import RefusedError, asked
from programsmith.payload.query.desk import Desk, Meter
from programsmith.payload.query.given import Given
from programsmith.payload.query.original import Original, Secret
from programsmith.payload.query.wire import (
    ANSWER_MOST,
    MAGIC,
    Answer,
    Query,
    decode_answer,
    encode_query,
    receive,
    send,
)
from programsmith.payload.verifier.launcher import Request, Result
from programsmith.payload.verifier.model import FileEntry
from programsmith.records import codec
from programsmith.records.lock import OracleFacts
from programsmith.records.trial import Stop
from programsmith.rulebook.load import Rulebook
from programsmith.sources.tree import read_tar
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.views import run_view
from tests.unit.bundle.conftest import LIMITS

ASK = "/app/reference/rot"
ROOMY = Meter(queries=2000, bytes=1 << 28, slots=2)


def given_of(toy, meter: Meter = ROOMY, **changes) -> Given:
    """What whoever answers for a task is given, in the limits of a test."""
    facts = codec.load(toy.path("facts.json"), OracleFacts)
    given = Given(
        tree=tuple(read_tar(toy.path("oracle.tar"))),
        program=facts.program,
        tool=facts.tool,
        suffixes=toolchains(Rulebook(None).load("toolchains"))[facts.language].suffixes,
        limits=dataclasses.replace(LIMITS, cpu_seconds=2, wall_seconds=20),
        meter=meter,
        shown=(),
        variables=(b"ROT",),
    )
    return dataclasses.replace(given, **changes)


@contextlib.contextmanager
def served(toy, folder: Path, meter: Meter = ROOMY, **changes) -> Iterator[tuple[Queried, str, Path]]:
    """The original of a task, where a test asks it itself: with the path of the socket and of the log."""
    facts = codec.load(toy.path("facts.json"), OracleFacts)
    toolchain = toolchains(Rulebook(None).load("toolchains"))[facts.language]
    own = given_of(toy, meter, **changes)
    log = folder / "queries.jsonl"
    with answering(own, run_view(toolchain, facts.exec_allowed), folder / "oracle", log) as queried:
        yield queried, f"{queried.live[0].source}/ask", log


def rows(log: Path) -> list:
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def says(path: str, sent: bytes) -> Answer | None:
    """What comes to whoever sends just these bytes, and no more."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(path)
        with contextlib.suppress(BrokenPipeError):
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
        said = receive(connection, ANSWER_MOST)
    return decode_answer(said) if said else None


def test_the_original_answers_as_it_ends_and_every_query_is_told(asking_bench) -> None:
    left = asking_bench.sh(
        f"printf 'Hello \\377' | {ASK} -n 1 | od -c | head -1; {ASK} --bad; echo code $?; ROT=3 {ASK} </dev/null; "
        f"mkdir /tmp/w; cd /tmp/w; echo abc >in; {ASK} -n 1 -o out in; {ASK} -o d/out in; echo code $?; cat out; ls"
    )
    said = [line for line in left.seen.splitlines() if not line.startswith(("rot:", "reference: withheld"))]
    assert "reference: withheld" in left.seen  # a traceback, which shows lines of the original
    assert said == ["0000000   I   f   m   m   p     377", "code 3", "code 1", "bcd", "in", "out"]
    *told, total = left.queries
    assert (left.trial.queries, total["queries"], total["refused"]) == (5, 5, {})
    assert [row["exit_code"] for row in told] == [0, 3, 0, 0, 1]
    assert [base64.b64decode(word) for word in told[3]["argv"]] == [b"-n", b"1", b"-o", b"out", b"in"]
    assert (told[0]["stdin"]["bytes"], told[2]["env"], told[3]["files"]["entries"]) == (7, [], 1)
    assert told[3]["left"]["entries"] == 2
    assert left.trial.asked == ("--bad", "-n", "-n -o", "-o", "plain")
    assert told[0]["files"]["entries"] == 0  # from /app itself nothing crosses


def test_over_the_meter_a_query_is_refused_and_the_trial_is_one(asking_bench) -> None:
    asking_bench.meter = {"queries": 2}
    left = asking_bench.sh(f"for n in 1 2 3 4; do {ASK} </dev/null; echo code $?; done")
    assert [line for line in left.seen.splitlines() if line.startswith("code")] == ["code 0"] * 2 + ["code 125"] * 2
    assert left.seen.count("reference: refused: spent: all 2 queries") == 2
    assert (left.trial.stop, left.trial.queries, len(left.queries)) == (Stop.DONE, 2, 3)
    assert left.queries[-1]["refused"] == {"spent": 2}


def test_nothing_of_the_original_is_where_the_agent_is(asking_bench) -> None:
    source = next(e for e in read_tar(asking_bench.toy.path("oracle.tar")) if e.path.endswith(b"rot.py"))
    mark = next(line for line in source.content.splitlines() if line.startswith(b"def turn")).decode()
    left = asking_bench.sh(
        f"grep -rl --exclude-dir=proc --exclude-dir=sys '{mark}' / 2>/dev/null; ls /opt /run/oracle; "
        f"{ASK} -n 0 /opt/oracle/lib/rot.py; echo code $?; echo '/opt/oracle/lib/rot.py' | {ASK} -n 0; echo code $?"
    )
    assert "rot.py" not in left.seen.replace("/opt/oracle/lib/rot.py'", "")
    assert mark not in left.seen
    assert left.seen.count("code 125") == 2
    assert left.seen.count("reference: refused: outside") == 2
    assert "ask" in left.seen.split()


def test_the_task_says_what_can_be_asked_and_one_without_does_not(asked_toys, toys) -> None:
    text = (asked_toys("python", "python").bundle / "instruction.md").read_text()
    for said in (ASK, "2000 queries", "268435456 bytes", "code 125", "No variable of yours"):
        assert said in text, said
    plain = toys("python", "python").bundle
    assert "reference" not in (plain / "instruction.md").read_text()
    assert not (plain / "environment/app/reference").exists()


def test_what_asks_at_grading_time_finds_nobody_and_scores_nothing(asking_bench) -> None:
    program = f'#!/usr/bin/python3\\nimport os, sys\\nos.execv("{ASK}", sys.argv)\\n'
    left = asking_bench.sh(
        f"cd submission; printf '{program}' >main.py; printf 'cp main.py executable; chmod 755 executable' >compile.sh;"
        f" sh compile.sh; echo abc | ./executable -n 1"
    )
    graded = left.grade()
    assert "bcd" in left.seen
    assert (graded.reward, set(graded.held_out.values()) & {"AC"}) == (0, set())


def test_a_machine_program_cannot_be_made_to_print_itself(asked_toys, tmp_path: Path) -> None:
    toy = asked_toys("c", "c")
    program = codec.load(toy.path("facts.json"), OracleFacts).program.encode()
    with served(toy, tmp_path) as (_, path, _):
        assert asked(Query(argv=(b"-n", b"1"), stdin=b"abc"), path).stdout == b"bcd"
        for place in (program, b"/proc/self/exe", b"/proc/1/exe", b"/proc/self/mem", b"../opt/oracle/bin/rot"):
            answer = asked(Query(argv=(b"-n", b"0", place)), path)
            assert (answer.exit_code, answer.stdout) == (3, b""), place


def test_an_answer_that_shows_the_originals_own_text_is_withheld(asked_toys, tmp_path: Path) -> None:
    toy = asked_toys("python", "python")
    text = next(e.content for e in read_tar(toy.path("oracle.tar")) if e.path.endswith(b"rot.py"))
    part = text[300:700]
    turned = asked_bytes(toy, tmp_path, b"-n", b"13", stdin=part)  # which the query itself did not bring as it is
    again = tmp_path / "again"
    again.mkdir()
    with served(toy, again) as (_, path, _):
        brought = asked(Query(argv=(b"-n", b"0"), stdin=part), path)
        assert brought.word == "ran"  # who has it already learns nothing
        assert asked(Query(argv=(b"-n", b"13"), stdin=turned), path).word == "withheld"


@pytest.mark.parametrize("filling", [b" ", b"-=", b"\0"])
def test_an_answer_that_unfolds_to_much_or_is_filling_costs_little(filling: bytes) -> None:
    text = b"def turn():\n" + filling * 200 + b"secret text of the program\n"
    secret = Secret(files=(text,), shown=(), size=64, distinct=6)
    flood, bomb = filling * (1 << 17), gzip.compress(gzip.compress(bytes(1 << 25), 1, mtime=0), mtime=0)
    for content, word in ((flood, "ran"), (bomb, "withheld"), (b"x" + text, "withheld")):
        assert Original(Prints(content), BASE, secret).answer(Query(argv=())).word == word


class Prints:
    """A launcher whose program prints one thing."""

    name = "prints"

    def __init__(self, content: bytes) -> None:
        self.content = content

    def probe(self) -> tuple[str, ...]:
        return ()

    def run(self, request: Request) -> Result:
        return Result(started=True, exit_code=0, stdout=self.content, files=request.files)

    def close(self) -> None:
        pass


BASE = Request(program="/bin/x", argv=(b"x",), env=(), limits=LIMITS)


def asked_bytes(toy, folder: Path, *argv: bytes, stdin: bytes) -> bytes:
    with served(toy, folder) as (_, path, _):
        return asked(Query(argv=argv, stdin=stdin), path).stdout


def test_no_variable_reaches_the_original_that_no_public_case_sets(asked_toys, tmp_path: Path) -> None:
    with served(asked_toys("python", "python"), tmp_path) as (_, path, _):
        for name in (b"LD_PRELOAD", b"PYTHONPATH", b"PATH", b"", b"ROT2"):
            assert asked(Query(argv=(), env=((name, b"x"),)), path).word == "variables"
        assert asked(Query(argv=(b"-e",), env=((b"ROT", b"1"),), stdin=b"a"), path).stdout == b"b"


def test_one_that_meets_a_limit_or_floods_is_refused_and_the_next_is_answered(asked_toys, tmp_path: Path) -> None:
    limits = dataclasses.replace(LIMITS, output_bytes=1000, work_bytes=1 << 20, wall_seconds=20)
    with served(asked_toys("python", "python"), tmp_path, limits=limits) as (_, path, log):
        assert asked(Query(argv=(), stdin=b"x" * 5000), path).word == "limit"
        assert asked(Query(argv=(), stdin=b"x"), path).word == "ran"
    assert [row["word"] for row in rows(log)[:-1]] == ["limit", "ran"]


FORGED = {
    "no_magic": struct.pack(">Q", 4) + b"abcd",
    "cut_length": b"\0\0",
    "cut_body": struct.pack(">Q", 1000) + b"abcd",
    "endless": struct.pack(">Q", 1 << 62) + b"x" * 100_000,
    "promises": struct.pack(">Q", len(MAGIC) + 4) + MAGIC + b"\xff" * 4,
    "words": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
}


def test_whoever_forges_a_client_is_refused_counted_and_harms_nobody(asked_toys, tmp_path: Path) -> None:
    with served(asked_toys("python", "python"), tmp_path) as (_, path, log):
        assert says(path, b"") is None
        found = {name: says(path, sent) for name, sent in FORGED.items()}
        assert {name: answer and answer.word for name, answer in found.items()} == {
            **dict.fromkeys(FORGED, "malformed"), "endless": "too_large", "words": "too_large",
        }  # fmt: skip
        with socket.socket(socket.AF_UNIX) as silent:  # and one that waits keeps nobody waiting
            silent.connect(path)
            assert asked(Query(argv=(), stdin=b"a"), path).stdout == b"n"
    assert rows(log)[-1]["queries"] == len(FORGED) + 1


def test_a_thousand_at_once_are_all_answered_or_refused(asked_toys, tmp_path: Path) -> None:
    meter, ended = Meter(queries=20, bytes=1 << 28, slots=2), []
    with served(asked_toys("python", "python"), tmp_path, meter) as (_, path, log):

        def many() -> None:
            ended.extend(asked(Query(argv=(), stdin=b"a"), path).word for _ in range(50))

        threads = [threading.Thread(target=many) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    assert (len(ended), ended.count("ran"), ended.count("spent")) == (1000, 20, 980)
    assert (len(rows(log)), rows(log)[-1]["refused"]) == (21, {"spent": 980})


class Short(socket.socket):
    """A listener in a process that has no descriptor left the first times."""

    fails = 20

    def accept(self) -> tuple[socket.socket, object]:
        self.fails -= 1
        if self.fails >= 0:
            raise OSError(errno.EMFILE, "too many")
        return super().accept()


def test_a_fault_of_ours_ends_one_query_and_whoever_asks_next_is_answered(tmp_path: Path) -> None:
    def answer(query: Query) -> Answer:
        if query.argv:
            raise ValueError(query.argv[0])
        return Answer(exit_code=0)

    path, told = str(tmp_path / "ask"), list[Mapping]()
    listener = Short(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    desk = Desk(listener, answer, ROOMY, told.append)
    desk.open()
    try:
        assert [says(path, framed(Query(argv=(b"x",)))).word for _ in range(20)] == ["fault"] * 20
        assert says(path, framed(Query(argv=()))).exit_code == 0
    finally:
        desk.close()
    assert ([row.get("fault") for row in told], desk.broken) == ([*["ValueError"] * 20, None], "")


def framed(query: Query) -> bytes:
    body = encode_query(query)
    return struct.pack(">Q", len(body)) + body


def test_after_the_end_nobody_is_answered_on_whatever_connection(asked_toys, tmp_path: Path) -> None:
    with served(asked_toys("python", "python"), tmp_path) as (queried, path, _):
        kept = socket.socket(socket.AF_UNIX)
        kept.connect(path)
        assert asked(Query(argv=(), stdin=b"a"), path).word == "ran"
    with kept:
        kept.settimeout(60)
        with contextlib.suppress(BrokenPipeError):
            send(kept, encode_query(Query(argv=())))
        assert receive(kept, ANSWER_MOST) == b""
    with pytest.raises(RefusedError, match="absent"):
        asked(Query(argv=()), path)
    assert queried.settle() == 1
    assert not os.path.exists(path)


def test_a_host_that_cannot_start_the_original_is_no_trial(asked_toys, tmp_path: Path) -> None:
    toy = asked_toys("python", "python")
    limits = dataclasses.replace(LIMITS, work_files=-1)  # what no launcher takes
    with served(toy, tmp_path, limits=limits) as (queried, path, _):
        assert asked(Query(argv=()), path).word == "broken"
    with pytest.raises(InfraError, match="run again"):
        queried.settle()


def test_a_host_that_falters_for_a_moment_breaks_no_trial() -> None:
    faults = [*["launch: [Errno 11]"] * 3, None]
    launcher = Prints(b"")
    launcher.run = lambda request: Result(fault=faults.pop(0))
    secret = Secret(files=(), shown=(), size=64, distinct=6)
    assert Original(launcher, BASE, secret).answer(Query(argv=())).word == "failed"
    assert faults == []


def test_a_query_that_alone_breaks_a_launch_is_the_agents_own(asked_toys, tmp_path: Path) -> None:
    files = (FileEntry(b"x" * 255, content=b"a"), FileEntry(b"\xff\n", content=b"b"))
    with served(asked_toys("python", "python"), tmp_path) as (queried, path, _):
        assert asked(Query(argv=(), files=files, stdin=b"a"), path).word == "ran"
    assert queried.settle() == 1


def test_the_key_of_a_trial_tells_what_may_be_asked(asked_toys: Callable, toys: Callable, tmp_path: Path) -> None:
    from programsmith.blocks import trial
    from tests.unit.bundle.benches import Bench

    entry = {"agent": "nop", "model": None, "trials": 1}
    benches = {name: Bench(toy=made("python", "python"), folder=tmp_path / name)
               for name, made in {"asked": asked_toys, "plain": toys}.items()}  # fmt: skip
    keys = {name: trial.key(bench.job(entry)) for name, bench in benches.items()}
    benches["asked"].meter = {"queries": 3}
    keys["less"] = trial.key(benches["asked"].job(entry))
    assert len(set(keys.values())) == 3


def test_an_original_that_is_read_to_run_is_asked_only_where_the_spec_takes_that(toys: Callable) -> None:
    for language, access in (("c", "query"), ("python", "query_at_risk"), ("python", "none")):
        toy = dataclasses.replace(toys(language, language), spec={"task": {"oracle_access": access}})
        with contextlib.ExitStack() as stack:
            goldens._Bench(toy.job("goldens"), stack).require_closed()
    toy.spec["task"]["oracle_access"] = "query"
    with pytest.raises(InputError, match=r"read to run \(bin/rot\), got `query`: .* write `query_at_risk`"):
        goldens.run(toy.job("goldens"))
