"""Where a tree holds scripts, no machine code runs but that of the view; each try works where the tree may hold any."""

from __future__ import annotations

import dataclasses
import os
import platform
from pathlib import Path

import pytest

from programsmith.payload.verifier.launcher import Launcher, Mount
from tests.contract import contained
from tests.contract.launches import case, ended, limits

RETURNS_42 = {"x86_64": "b82a000000c3", "aarch64": "40058052c0035fd6"}
CODE = bytes.fromhex(RETURNS_42.get(platform.machine(), ""))
TRIES = f"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
code = bytes.fromhex({CODE.hex()!r})

def call(at):
    print(ctypes.CFUNCTYPE(ctypes.c_int)(at)(), flush=True)

def room(protection, file=-1):
    at = libc.mmap(None, 4096, protection, 2 if file >= 0 else 34, file, 0)
    if at in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "mmap")
    return at

def written():
    at = room(7)
    ctypes.memmove(at, code, len(code))
    call(at)

def turned():
    at = room(3)
    ctypes.memmove(at, code, len(code))
    if libc.mprotect(at, 4096, 5):
        raise OSError(ctypes.get_errno(), "mprotect")
    call(at)

def implied():
    if libc.personality(0x400000) < 0:
        raise OSError(ctypes.get_errno(), "personality")
    turned_to_data = room(3)
    ctypes.memmove(turned_to_data, code, len(code))
    call(turned_to_data)

def poked():
    with open("/proc/self/mem", "r+b", 0) as memory:
        at = ctypes.cast(libc.abs, ctypes.c_void_p).value
        memory.seek(at)
        memory.write(code)
    call(at)

def mapped(path):
    call(room(5, os.open(path, os.O_RDONLY)))

with open("code", "wb") as file:
    file.write(code)
files = {{"tree": "/opt/tree/code", "script": "/opt/tree/script", "work": "code"}}
tries = {{"written": written, "turned": turned, "implied": implied, "poked": poked}}
for name, do in {{**tries, **{{f"of the {{n}}": lambda path=path: mapped(path) for n, path in files.items()}}}}.items():
    pid = os.fork()
    if not pid:
        print(name, end=" ", flush=True)
        try:
            do()
        except OSError as fault:
            print(fault.errno, flush=True)
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        print("died", flush=True)
"""


def tries(launcher: Launcher, tree: Mount) -> dict[str, str]:
    said = ended(launcher.run(case(TRIES, mounts=(tree,)))).decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in said)


@pytest.mark.skipif(not CODE, reason="machine code of x86_64 or aarch64: run on such a machine")
def test_beside_scripts_no_code_runs_that_the_view_does_not_hold(launcher: Launcher, tree: Mount) -> None:
    Path(tree.source, "code").write_bytes(CODE)
    Path(tree.source, "script").write_bytes(CODE)
    Path(tree.source, "script").chmod(0o755)
    free = tries(launcher, tree)
    assert {name for name, said in free.items() if said == "42"} >= {"written", "turned", "of the tree"}
    held = tries(launcher, dataclasses.replace(tree, scripts=()))
    assert "code" in launcher.probe()
    assert (free["poked"], held["poked"]) == ("13" if contained.is_inside() else "30",) * 2
    assert set(held.values()) <= {"1", "13", "30", "died"}


@pytest.mark.skipif(not CODE, reason="machine code of x86_64 or aarch64: run on such a machine")
def test_where_the_machine_makes_code_no_file_becomes_code_all_the_same(launcher: Launcher, tree: Mount) -> None:
    Path(tree.source, "code").write_bytes(CODE)
    Path(tree.source, "script").write_bytes(CODE)
    held = tries(launcher, dataclasses.replace(tree, scripts=(), makes_code=True))
    assert (held["written"], held["turned"]) == ("42", "42")
    assert {said for name, said in held.items() if name.startswith("of the ")} <= {"1", "13"}


def test_scripts_are_started_and_read_and_nothing_else_is_started(launcher: Launcher, tree: Mount) -> None:
    for name in ("script", "other"):
        Path(tree.source, name).write_text("#!/usr/bin/python3 -I\nimport ctypes, json, math\nprint('ran')\n")
        Path(tree.source, name).chmod(0o755)
    code = (
        "import subprocess\nprint(open('/opt/tree/other').readline().strip())\nfor name in ('script', 'other'):\n"
        " try: print(subprocess.run(['/opt/tree/' + name], capture_output=True).stdout)\n"
        " except OSError as e: print(e.errno)"
    )
    shown = dataclasses.replace(tree, scripts=("/opt/tree/script",))
    said = ended(launcher.run(case(code, mounts=(shown,)))).decode().splitlines()
    assert said == ["#!/usr/bin/python3 -I", "b'ran\\n'", "13"]
    again = ended(launcher.run(case(code, mounts=(tree,)))).decode().splitlines()
    assert again[1:] == ["b'ran\\n'", "b'ran\\n'"]
    assert not os.path.ismount(os.path.join(tree.source, "script"))


HONEST = """#!/usr/bin/python3 -S
import os, pathlib, subprocess, sys, threading
import parts.words

def late():  # machine code of the view is mapped once there are threads
    import ctypes, decimal, hashlib, sqlite3
    with sqlite3.connect(":memory:") as base:
        two = base.execute("select 1 + 1").fetchone()[0]
    said.extend([two, str(decimal.Decimal(1) / 8), hashlib.sha256(b"").hexdigest()[:4], ctypes.sizeof(ctypes.c_int)])

said = []
threads = [threading.Thread(target=late) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
home = pathlib.Path(__file__).resolve().parent
print(said == [2, "0.125", "e3b0", 4] * 3 or sorted(map(str, said)), parts.words.SAID, parts.words.beside())
print((home / "data" / "text").read_text(), open("/opt/tree/data/linked").read(), sorted(os.listdir("/opt/tree")))
print(subprocess.run([f"{home}/tool", "x"], capture_output=True, text=True).stdout, end="")
print(subprocess.run([sys.executable, "-S", f"{home}/parts/words.py"], capture_output=True, text=True).stdout, end="")
"""
TOOL = "#!/usr/bin/python3 -S\nimport parts.words, sys\nprint(sys.argv)\n"
WORDS = """import pathlib
SAID = "module"
def beside():
    return (pathlib.Path(__file__).resolve().parents[1] / "data" / "text").read_text()
if __name__ == "__main__":
    print(beside())
"""


def test_an_honest_tree_of_scripts_finds_its_parts_and_every_module_of_its_interpreter(
    launcher: Launcher, tree: Mount
) -> None:
    top = Path(tree.source)
    (top / "parts").mkdir()
    (top / "data").mkdir()
    (top / "data" / "text").write_text("text")
    (top / "data" / "linked").symlink_to("text")
    (top / "parts" / "words.py").write_text(WORDS)
    for name, text in (("executable", HONEST), ("tool", TOOL)):
        (top / name).write_text(text)
        (top / name).chmod(0o755)
    shown = dataclasses.replace(tree, scripts=("/opt/tree/executable", "/opt/tree/tool"))
    request = case("", mounts=(shown,), limits=limits(pids=32))
    said = ended(launcher.run(dataclasses.replace(request, program="/opt/tree/executable", argv=(b"executable",))))
    assert said.decode().splitlines() == [
        "True module text",
        "text text ['data', 'executable', 'parts', 'tool']",
        "['/opt/tree/tool', 'x']",
        "text",
    ]
