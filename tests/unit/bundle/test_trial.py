from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from programsmith.blocks import grade, trial
from programsmith.bundle.sides import read_sides
from programsmith.errors import InfraError, InputError, PrerequisiteError
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.trial import Stop
from programsmith.sandboxes.base import BUBBLEWRAP
from programsmith.sandboxes.owners import prefix
from tests.unit.bundle.conftest import Bench

SUBMISSION_BYTES = 33554432


@pytest.fixture
def viewed(toys, tmp_path) -> Bench:
    """Trials in a view of this host: about what no backend has a part in."""
    return Bench(toy=toys("python", "python"), folder=tmp_path)


def test_nothing_scores_nothing_and_the_solution_scores_one(bench) -> None:
    nop = bench.run({"agent": "nop", "model": None, "trials": 1})
    assert (nop.trial.stop, nop.files, nop.grade().reward) == (Stop.DONE, {}, 0)
    oracle = bench.run({"agent": "oracle", "model": None, "trials": 1})
    graded = oracle.grade()
    assert (graded.reward, graded.word, graded.artifact) == (1, "AC", oracle.trial.artifact)
    assert sum(passed for passed, _ in graded.families.values()) == len(graded.held_out)
    assert set(graded.public.values()) == {"AC"}


def test_the_oracles_files_reach_no_agent_that_is_not_the_oracle(bench) -> None:
    left = bench.sh("ls -A /app/submission /opt")
    assert left.seen in {f"/app/submission:\n\n/opt:\n{own}" for own in ("python\n", "")}


def test_a_script_gets_its_seed_the_instruction_and_its_folder_read_only(bench) -> None:
    entry = bench.script(
        "import os, sys, pathlib\n"
        "print(sys.argv[1:], os.environ['SEED'], os.getcwd())\n"
        "print(pathlib.Path(os.environ['INSTRUCTION']).read_text()[:20])\n"
        "for place in ('/opt/agent', '/app', '/app/docs', '/usr', '/home/agent', '/tmp', '/app/submission'):\n"
        "    try:\n"
        "        open(place + '/x', 'w').close(); print('wrote', place)\n"
        "    except OSError as fault:\n"
        "        print(fault.strerror, place)\n"
    )
    left = bench.run(entry, 4)
    assert left.seen.splitlines()[0] == "['--seed', '4'] 4 /app"
    assert "# Re-implement `rot`" in left.seen
    refused = [line.split()[-1] for line in left.seen.splitlines() if line.startswith("Read-only file system")]
    assert refused == ["/opt/agent", "/app", "/app/docs", "/usr"]
    assert [line.split()[-1] for line in left.seen.splitlines() if line.startswith("wrote")] == [
        "/home/agent",
        "/tmp",
        "/app/submission",
    ]
    assert list(left.files) == [b"x"]


def test_the_public_runner_works_in_there(bench) -> None:
    left = bench.sh("printf 'printf \"#!/usr/bin/python3\\n\" >executable; chmod 755 executable' "
                    ">submission/compile.sh; ./check; echo code $?")  # fmt: skip
    assert "of 7 public cases pass\ncode 1" in left.seen


@pytest.mark.parametrize(
    ("ending", "stop"),
    [
        ("true", Stop.DONE),
        ("exit 3", Stop.CRASHED),
        ("kill -9 $$", Stop.CRASHED),
        ("sleep 60", Stop.WALL),
        ("trap '' TERM; while :; do sleep 1; done", Stop.WALL),
        ("while :; do :; done & while :; do :; done & while :; do :; done & wait", Stop.LIMIT),
        ("while :; do echo more; done", Stop.LIMIT),
    ],
    ids=["done", "error", "signal", "asleep", "deaf", "cpu", "output"],
)
def test_whatever_stops_a_trial_the_submission_is_kept(bench, ending: str, stop: Stop) -> None:
    bench.wall = "2s"
    bench.trial_limits = {"output_bytes": 1 << 16}
    left = bench.sh(f"echo kept >submission/file; {ending}")
    if "wait" in ending:  # on a machine with one free processor the wall comes first
        assert left.trial.stop in {Stop.LIMIT, Stop.WALL}
    else:
        assert left.trial.stop is stop
    assert left.files == {b"file": FileEntry(b"file", content=b"kept\n")}
    assert left.transcript["extra"]["stop"] == left.trial.stop.value


def test_survivors_are_dead_before_the_submission_is_read(bench) -> None:
    mark = f"survivor-{os.getpid()}"
    entry = bench.script(
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        f"        os.execv('/usr/bin/python3', ['/usr/bin/python3', '-c', LATE, '{mark}'])\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "while not os.path.exists('/app/submission/alive'): time.sleep(0.01)\n".replace(
            "LATE",
            repr(
                "import time, signal\n"
                "for n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\n"
                "open('/app/submission/alive', 'w').close()\n"
                "while True:\n"
                "    time.sleep(0.3)\n"
                "    open('/app/submission/late', 'a').write('x')"
            ),
        )
    )
    left = bench.run(entry)
    assert left.trial.stop is Stop.DONE
    assert list(left.files) == [b"alive"]
    assert not any(mark.encode() in line for line in _command_lines())


def _command_lines() -> list[bytes]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found.append((folder / "cmdline").read_bytes())
        except OSError:
            continue
    return found


def test_links_stay_links_and_what_is_no_file_is_named(bench) -> None:
    secret = bench.folder / "secret"
    secret.write_text("of the host")
    left = bench.sh(
        f"cd submission; ln -s /etc/passwd compile.sh; ln -s {secret} leak; ln -s . loop; "
        "python3 -c 'import os; os.mkfifo(\"pipe\")'; "
        "mkdir -p a/b; echo x >a/b/c; ln a/b/c hard; chmod 700 a; chmod 600 a/b/c"
    )
    assert left.trial.left_out == ("pipe",)
    assert left.files[b"leak"] == FileEntry(b"leak", "link", 0o777, os.fsencode(secret))
    assert left.files[b"loop"].kind == "link"
    assert (left.files[b"a/b/c"].mode, left.files[b"hard"].content) == (0o644, b"x\n")
    assert (left.grade().reward, left.grade().word) == (0, "NO_BUILD")
    assert b"of the host" not in left.job.outputs["t/artifact.tar"].read_bytes()


def test_a_submission_cannot_be_put_elsewhere(bench) -> None:
    left = bench.sh(
        "rm -rf submission; mv submission /tmp/x; ln -s /etc submission; rmdir submission; ls -ld submission"
    )
    assert left.files == {b"etc": FileEntry(b"etc", "link", 0o777, b"/etc")}
    assert "drwx" in left.seen


def test_two_gigabytes_end_at_the_limit_and_break_the_policy(bench) -> None:
    bench.trial_limits = {"work_bytes": 192 << 20}
    left = bench.sh("for n in 1 2 3 4 5 6 7 8; do head -c 268435456 /dev/zero >submission/$n; done; "
                    "head -c 2147483648 /dev/zero >/home/agent/more; sleep 5")  # fmt: skip
    assert left.trial.stop is Stop.LIMIT
    assert left.trial.left_out == ("more",)
    assert sum(len(e.content) for e in left.files.values()) == SUBMISSION_BYTES + 1
    graded = left.grade()
    assert (graded.reward, graded.word, set(graded.held_out.values())) == (0, "POLICY", {"NOT_RUN"})


def test_more_files_than_are_received_break_the_policy(bench) -> None:
    left = bench.run(bench.script("for n in range(5100): open(f'/app/submission/{n}', 'w').close()\n"))
    assert (left.trial.stop, left.trial.left_out, len(left.files)) == (Stop.DONE, ("more",), 5001)
    assert left.grade().word == "POLICY"


@pytest.mark.parametrize(("name", "levels"), [("n" * 250, 30), ("d", 300)], ids=["long", "deep"])
def test_a_path_that_no_verifier_receives_breaks_the_policy(bench, name, levels) -> None:
    """Nothing on the way may fail of it: that would be a fault of ours, and a trial that is had again for nothing."""
    code = f"import os\nos.chdir('/app/submission')\nfor _ in range({levels}): os.mkdir({name!r}); os.chdir({name!r})\n"
    left = bench.run(bench.script(code))
    assert left.trial.stop is Stop.DONE
    graded = left.grade()
    assert (graded.word, graded.ends) == ("POLICY", ())


def test_an_agent_reaches_no_network(bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        left = bench.run(
            bench.script(
                "import socket\n"
                f"for host in ('127.0.0.1', '169.254.169.254', '192.0.2.1', '::1'):\n"
                "    try:\n"
                f"        socket.create_connection((host, {port}), 1); print('reached', host)\n"
                "    except OSError as fault:\n"
                "        print('no', host)\n"
                "try:\n"
                "    print('resolved', socket.getaddrinfo('example.com', 80))\n"
                "except OSError:\n"
                "    print('no name')\n"
            )
        )
    assert left.seen.splitlines() == [
        "no 127.0.0.1",
        "no 169.254.169.254",
        "no 192.0.2.1",
        "no ::1",
        "no name",
    ]


def test_an_agent_finds_neither_held_out_cases_nor_solution_nor_host(bench) -> None:
    bundle = bench.toy.bundle
    sealed = [(bundle / name).read_bytes()[:24] for name in ("tests/held_out.sealed", "solution/solution.sealed")]
    hidden = [c.case.id.encode() for c in read_sides(bundle).held_out]
    (bench.folder / "host-marker").touch()
    left = bench.run(
        bench.script(
            "import os, sys\n"
            f"marks = {[*sealed, *hidden]!r}\n"
            "for root, folders, files in os.walk('/'):\n"
            "    folders[:] = [f for f in folders if (root, f) not in (('/', 'proc'), ('/opt', 'agent'))]\n"
            "    for name in files + folders:\n"
            "        path = os.path.join(root, name)\n"
            "        if name in ('held_out.sealed', 'solution', 'verify.pyz', 'host-marker'): print(path)\n"
            "        if os.path.isfile(path) and not path.startswith(('/usr', '/opt/python', '/sys')):\n"
            "            try: content = open(path, 'rb').read()\n"
            "            except PermissionError: continue\n"
            "            for mark in marks:\n"
            "                if mark in content: print(path, mark)\n"
            "print('looked')\n"
        )
    )
    assert left.seen == "looked\n"
    unlisted = "/root /work /var" if bench.kind == BUBBLEWRAP else ""  # an image is whole
    host = bench.sh(
        f"ls -d {bench.folder} {bundle} {unlisted} /proc/1/root/etc/shadow; id -u; ls /proc | grep -c '^[0-9]'"
    )
    assert host.seen.splitlines()[0] == "1000"
    assert int(host.seen.splitlines()[1]) <= 4


def test_a_ceiling_trial_alone_reads_the_source_and_never_changes_it(bench) -> None:
    entry = bench.script("import os\nprint(sorted(os.listdir('/app/source')))\nopen('/app/source/rot.py', 'a')\n")
    knowing = bench.run(entry, ceiling=True)
    assert "'rot.py'" in knowing.seen
    assert "Error: [Errno" in knowing.seen
    plain = bench.run(entry)
    assert "No such file or directory: '/app/source'" in plain.seen
    assert knowing.trial.ceiling
    assert not plain.trial.ceiling
    assert knowing.trial.key != plain.trial.key
    assert "No such file" not in (bench.toy.bundle / "instruction.md").read_text()


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"agent": "scripted", "script": "agents/none.py", "model": None}, InputError),
        ({"agent": "codex", "model": "o/m"}, InputError),
    ],
)
def test_what_is_not_there_makes_no_trial(viewed, entry: dict[str, object], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        viewed.run(entry)
    assert not list(viewed.folder.rglob("artifact.tar"))


def test_a_script_that_cannot_be_started_makes_no_trial(bench) -> None:
    with pytest.raises(PrerequisiteError, match="cannot be started"):
        bench.run(bench.script("#!/usr/bin/python3\n", "agent", 0o644))
    assert bench.run(bench.script("#!/usr/bin/python3\n", "agent", 0o755)).trial.stop is Stop.DONE
    assert bench.run(bench.script("exit 4\n", "agent.sh")).trial.stop is Stop.CRASHED


def test_a_full_disk_makes_no_trial(bench) -> None:
    bench.trial_limits = {"work_bytes": 1 << 60}
    with pytest.raises(InfraError, match="make room and run again"):
        bench.sh("echo x >submission/x")
    assert not list(bench.folder.rglob("artifact.tar"))


def test_a_bundle_that_does_not_open_makes_no_trial(own_bench) -> None:
    bench = own_bench
    (bench.toy.bundle / "solution" / "solution.sealed").write_bytes(b"broken" * 20)
    with pytest.raises(InfraError, match="unseal"):
        bench.run({"agent": "oracle", "model": None, "trials": 1})
    (bench.toy.bundle / "solution" / "solution.sealed").unlink()
    with pytest.raises(InfraError, match="no solution"):
        bench.run({"agent": "oracle", "model": None, "trials": 1})


def test_a_folder_that_shows_too_much_is_refused(viewed) -> None:
    (viewed.project / "cache").mkdir(parents=True)
    (viewed.project / "solve.py").touch()
    with pytest.raises(InputError, match="would see cache/"):
        viewed.run({"agent": "scripted", "script": "solve.py", "model": None})
    with pytest.raises(InputError, match="would see cache/"):
        viewed.run({"agent": "command", "command": "true", "folder": "."})


def test_a_command_sees_the_folder_that_it_asks_for(bench) -> None:
    entry = {**bench.script("print('from the folder')\n"), "agent": "command", "folder": "agents", "script": None}
    left = bench.run({**entry, "command": "python3 /opt/agent/agent.py"})
    assert left.seen == "from the folder\n"


def test_a_command_costs_the_price_that_its_entry_states(viewed) -> None:
    entry = {"agent": "command", "model": None, "command": "exit 3", "folder": None, "usd": 0.25}
    free, priced = viewed.job({**entry, "usd": None}), viewed.job(entry)
    assert (trial.bound(free), trial.bound(priced)) == (0.0, 0.25)
    assert trial.key(free) == trial.key(priced)
    left = viewed.run(entry).trial
    assert (left.stop, left.usd) == (Stop.CRASHED, 0.25)


def test_equal_attempts_have_equal_keys_and_artifacts(viewed) -> None:
    entry = viewed.script("import sys\nopen('/app/submission/seed', 'w').write(sys.argv[-1])\n")
    first, again, other = viewed.run(entry, 1), viewed.run({**entry, "trials": 12}, 1), viewed.run(entry, 2)
    assert (first.trial.key, first.trial.artifact) == (again.trial.key, again.trial.artifact)
    assert first.trial.key != other.trial.key
    assert first.trial.artifact != other.trial.artifact


def test_a_trials_key_changes_with_all_that_an_agent_sees_and_with_nothing_else(own_bench) -> None:
    bench = own_bench
    entry = bench.script("print(1)\n")
    keys = [trial.key(bench.job(entry))]

    def changed() -> bool:
        keys.append(trial.key(bench.job(entry)))
        return keys[-1] not in keys[:-1]

    assert not changed()
    manifest = bench.toy.path("r/manifest.json")
    before = manifest.read_text()
    for name in ("tests/held_out.sealed", "tests/verify.pyz", "task.toml"):
        value = json.loads(before)
        value["files"][name] = "0" * 64
        manifest.write_text(json.dumps(value))
        assert not changed(), name
    for name in ("instruction.md", "environment/app/public.jsonl", "environment/app/new"):
        value = json.loads(before)
        value["files"][name] = "0" * 64
        manifest.write_text(json.dumps(value))
        assert changed(), name
    manifest.write_text(before)
    assert not changed()
    bench.toy.path("r/environments.json").write_text("{}")
    assert not changed()
    for name, new in (("wall", "61s"), ("generation", 2), ("trial_limits", {"pids": 99})):
        setattr(bench, name, new)
        assert changed(), name
    bench.script("print(2)\n")
    assert changed()
    bench.script("more\n", "beside.txt")
    assert changed()


def test_a_grades_key_changes_with_what_is_measured_and_by_what(own_bench) -> None:
    bench = own_bench
    left = bench.sh("echo 1 >submission/file")
    manifest, environment = bench.toy.path("r/manifest.json"), bench.toy.path("r/environments.json")
    before, place = manifest.read_text(), environment.read_text()
    first = grade.key(left.job)
    assert grade.key(left.job) == first
    for name, counts in (("tests/verify.pyz", True), ("tests/held_out.sealed", True), ("tests/policy.json", True),
                         ("instruction.md", False), ("environment/app/check", False)):  # fmt: skip
        value = json.loads(before)
        value["files"][name] = "0" * 64
        manifest.write_text(json.dumps(value))
        assert (grade.key(left.job) != first) == counts, name
    manifest.write_text(before)
    environment.write_text(json.dumps({**json.loads(place), "fingerprint": "other"}))
    assert grade.key(left.job) != first
    environment.write_text(json.dumps({**json.loads(place), "probe": "other"}))
    assert grade.key(left.job) == first
    assert grade.key(bench.sh("echo 2 >submission/file").job) != first


def test_bytes_of_any_kind_make_a_transcript_of_text(bench) -> None:
    left = bench.sh(r"printf '\377\000ok\n'; head -c 200000 /dev/zero | tr '\0' x; echo end >&2")
    assert left.seen.startswith("\\xff\x00ok\nxxx")
    assert left.seen.endswith("xxend\n")
    assert "bytes left out]" in left.seen
    assert len(left.seen) < 70000
    assert left.transcript["steps"][0]["source"] == "user"
    assert left.transcript["schema_version"] == "ATIF-v1.8"


def test_nothing_of_a_trial_stays_on_the_host(bench) -> None:
    shared = Path("/var/lib/programsmith") if os.geteuid() == 0 else Path("~/.cache/programsmith").expanduser()
    bench.sh("mkdir -p submission/a/b; chmod 0 submission/a; chmod 0 /home/agent")
    assert list(shared.glob(f"{prefix('workspace')}*")) == []
