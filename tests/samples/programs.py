"""Small programs and the verdict that each must get: a right one of the sample `rot`, and what makes it another.

`words` are those of the four cases CASES, in their order; one word alone is that of all, or of a build after which no
case runs. Where a host may stop a program in two ways, both stand there. `before` is put at the start of the program,
`after` behind its answer; `edit` replaces text of it; `script` is another compile.sh; `more` are further files.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from programsmith.bundle.render import read_payload
from programsmith.payload.verifier.model import Case, FileEntry

SOURCES = Path(__file__).parent / "rot"
CASES = (
    Case(argv=(), stdin=b"Hello, World\n"),
    Case(argv=(b"-n", b"2"), stdin=b"\xff\x00abc"),
    Case(argv=(b"--bad",), stdin=b""),
    Case(argv=(b"-o", b"out.txt"), stdin=b"into a file\n"),
)
BUILDS = {"NO_BUILD", "BUILD_FAIL", "POLICY"}
ELF = Path("/bin/true").resolve()


@dataclass(frozen=True, kw_only=True)
class Program:
    """One row."""

    id: str
    words: str
    before: str = ""
    after: str = ""
    edit: tuple[str, str] = ("", "")
    script: str = ""
    more: Mapping[str, bytes] = field(default_factory=dict)
    near: bool = False

    @property
    def wanted(self) -> tuple[frozenset[str], ...]:
        """The words that each case may have."""
        words = self.words.split()
        return tuple(frozenset(w.split("|")) for w in (words if len(words) > 1 else words * len(CASES)))


def right(**more: object) -> Program:
    return Program(words="AC", **more)  # type: ignore[arg-type]


def wrong(words: str, **more: object) -> Program:
    return Program(words=words, **more)  # type: ignore[arg-type]


THREAD = """import threading
    got = []
    one = threading.Thread(target=lambda: got.append(turn(data, places)))
    one.start()
    one.join()
    out = got[0]"""
PLAIN = "if not words:\n    "  # only in the first case: what costs is done once
BURN = "import time\nwhile time.process_time() < {}: pass\n"
PYTHON = [
    right(id="as it is"),
    right(id="reads by pieces", edit=("sys.stdin.buffer.read()", 'b"".join(iter(lambda: os.read(0, 3), b""))')),
    right(
        id="writes byte by byte",
        edit=("sys.stdout.buffer.write(out)", "[os.write(1, out[i:i+1]) for i in range(len(out))]"),
    ),
    right(
        id="answers in a child",
        before="child = os.fork()\nif child: return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n",
    ),
    right(
        id="answers in a thread",
        edit=(
            "out = turn(data, places)",
            THREAD,
        ),
    ),
    right(
        id="a module beside it",
        before="sys.path.insert(0, '/app/submission')\nimport beside\n",
        more={"beside.py": b"ready = True\n"},
    ),
    right(
        id="a table made by the build",
        before="open('/app/submission/made/table').read()\n",
        script='mkdir made\npython3 -c \'open("made/table", "w").write("abc")\'\nexec sh ./build.sh\n',
    ),
    right(id="uses the temporary folder", before="open('/tmp/x', 'w').write('x')\nos.unlink('/tmp/x')\n"),
    right(id="makes a file and removes it", before="open('x', 'w').close()\nos.unlink('x')\n"),
    right(id="waits a little", before="import time\ntime.sleep(0.05)\n"),
    right(id="other words on stderr", edit=("rot: {message}", "no, no: {message}!")),
    right(id="ends at once", after="os._exit(code)"),
    right(id="takes some memory", before="room = bytearray(32 << 20)\n"),
    right(id="near the limit", before=PLAIN + BURN.format(0.4).replace("\n", "\n    ", 1), near=True),
    right(id="a build that talks", script="echo talks; echo talks >&2; exec sh ./build.sh\n"),
    right(id="data that is no text", more={"font.bin": bytes(range(256)) * 9, "deep/er/x.png": b"\x89PNG\r\n\x1a\n"}),
    wrong("WA_STDOUT", id="says more", after="print(end='?')"),
    wrong("WA_STDOUT WA_STDOUT AC WA_FILES", id="one place too far", edit=("- first + places", "- first + places + 1")),
    wrong(
        "WA_STDOUT AC AC WA_FILES",
        id="drops the last newline",
        edit=("return bytes(out)", 'return bytes(out).rstrip(b"\\n")'),
    ),
    wrong(
        "WA_STDOUT AC AC WA_FILES",
        id="ends lines as elsewhere",
        edit=("return bytes(out)", 'return bytes(out).replace(b"\\n", b"\\r\\n")'),
    ),
    wrong("WA_STDOUT", id="goes on behind NUL", after="os.write(1, b'\\0more')"),
    wrong("AC WA_STDOUT AC AC", id="drops NUL", edit=("return bytes(out)", 'return bytes(out).replace(b"\\0", b"")')),
    wrong("WA_STDOUT WA_STDOUT AC WA_FILES", id="shouts", edit=("return bytes(out)", "return bytes(out).upper()")),
    wrong(
        "AC WA_STDOUT AC AC",
        id="takes bytes for text",
        edit=("return bytes(out)", 'return bytes(out).decode("utf-8", "replace").encode()'),
    ),
    wrong("WA_STDOUT WA_STDOUT AC WA_FILES", id="says nothing", edit=("return bytes(out)", "return b''")),
    wrong("WA_STDERR WA_STDERR AC WA_STDERR", id="talks on stderr", before="sys.stderr.write('debug')\n"),
    wrong("AC AC WA_STDERR AC", id="refuses in silence", edit=("sys.stderr.write(", "str(")),
    wrong("AC AC WA_EXIT AC", id="refuses with another code", edit=("return 3", "return 4")),
    wrong("AC AC WA_EXIT AC", id="refuses and is content", edit=("return 3", "return 0")),
    wrong("WA_EXIT", id="always fails at last", after="code = 1"),
    wrong("WA_FILES", id="leaves a file", after="open('x', 'w').close()"),
    wrong("WA_FILES", id="leaves a folder", after="os.mkdir('x')"),
    wrong("AC AC AC WA_FILES", id="another name for the file", edit=("open(target,", "open(target + '~',")),
    wrong("AC AC AC WA_FILES", id="a file that can be executed", after="[os.chmod(n, 0o755) for n in os.listdir('.')]"),
    wrong(
        "AC AC AC WA_FILES",
        id="a link for a file",
        after="[(os.unlink(n), os.symlink('x', n)) for n in os.listdir('.')]",
    ),
    wrong(
        "AC AC AC WA_STDOUT",
        id="prints what goes into the file",
        edit=("file.write(out)", "(file.write(out), sys.stdout.buffer.write(out))"),
    ),
    wrong("SIGNAL", id="is killed", after="os.kill(os.getpid(), 9)"),
    wrong("SIGNAL", id="aborts", before="os.abort()\n"),
    wrong("WA_EXIT", id="the number of a signal is no signal", after="code = 139"),
    wrong("WA_STDOUT WA_STDOUT WA_EXIT WA_EXIT", id="raises", before="raise ValueError\n"),
    wrong("TLE_CPU AC AC AC", id="never ends", before=PLAIN + "while True: pass\n"),
    wrong(
        "TLE_CPU AC AC AC",
        id="never ends in children",
        before=PLAIN + "[os.fork() for _ in range(2)]\n    while True: pass\n",
    ),
    wrong(
        "TLE_CPU AC AC AC",
        id="over the limit and right",
        before=PLAIN + BURN.format(0.6).replace("\n", "\n    ", 1),
        near=True,
    ),
    wrong("OLE AC AC AC", id="floods", before=PLAIN + "while True: os.write(1, b'x' * 4096)\n"),
    wrong("OLE AC AC AC", id="floods stderr", before=PLAIN + "while True: os.write(2, b'x' * 4096)\n"),
    wrong("OLE|WA_STDOUT AC AC AC", id="fills the disk", before=PLAIN + "open('x', 'wb').write(bytes(16 << 20))\n"),
    wrong("MLE|WA_STDOUT AC AC AC", id="takes all memory", before=PLAIN + "room = bytearray(b'1' * (512 << 20))\n"),
    wrong("WA_STDOUT", id="says that it passed", before="print('PASSED')\n"),
    wrong(
        "WA_STDOUT WA_STDOUT WA_EXIT WA_EXIT",
        id="calls a tool of the system",
        before="os.execv('/usr/bin/tr', ['tr', 'a-z', 'n-za-m'])\n",
    ),
    wrong(
        "NOT_RUN",
        id="an interpreter that is nowhere",
        script="printf '#!/nowhere\\n' >executable; chmod 755 executable\n",
    ),
    wrong("NOT_RUN", id="text without an interpreter", script="cp main.py executable; chmod 755 executable\n"),
    wrong("BUILD_FAIL", id="a build that fails", script="exit 3\n"),
    wrong("BUILD_FAIL", id="a build that dies", script="kill -9 $$\n"),
    wrong("NO_BUILD", id="a build that makes nothing", script=":\n"),
    wrong("NO_BUILD", id="an empty executable", script=": >executable\n"),
    wrong("NO_BUILD", id="a folder for an executable", script="mkdir executable\n"),
    wrong("NO_BUILD", id="a link to the interpreter", script="ln -s /usr/bin/python3 executable\n"),
    wrong("NO_BUILD", id="a stale executable", script=":\n", more={"executable": b"#!/usr/bin/python3\nprint()\n"}),
    wrong("POLICY", id="machine code beside it", more={"tool": ELF.read_bytes()[:4096]}),
    wrong("POLICY", id="machine code in base64", more={"tool.txt": base64.encodebytes(ELF.read_bytes())}),
    wrong("POLICY", id="assembler", more={"fast.s": b".globl x\n"}),
    wrong("POLICY", id="another language", more={"fast.c": b"int x;\n"}),
]
FIRST = "if (argc == 1) "
FILL = "for (volatile char *room = malloc({0} << 20), *at = room; at < room + ({0} << 20); at += 4096) *at = 1;"
SPIN = "while (clock() < CLOCKS_PER_SEC / 100 * {})\n;"
C = [
    right(id="as it is"),
    right(id="without a buffer", before="setvbuf(stdout, NULL, _IONBF, 0); setvbuf(stdin, NULL, _IONBF, 0);"),
    right(id="answers in a child", before="int state; if (fork()) { wait(&state); return WEXITSTATUS(state); }"),
    right(id="a header beside it", edit=("places = 13", "places = PLACES"), more={"places.h": b"#define PLACES 13\n"}),
    right(id="two sources", before="extern int beside; (void)beside;", more={"beside.c": b"int beside = 1;\n"}),
    right(id="optimised otherwise", script="cc -O0 -g -o executable *.c\n"),
    right(
        id="a source made by the build",
        before="extern int made; (void)made;",
        script="echo 'int made = 1;' >made.c; exec sh ./build.sh\n",
    ),
    right(id="waits a little", before="usleep(50000);"),
    right(id="takes some memory", before=FILL.format(32)),
    right(id="other words on stderr", edit=("rot: %s", "no, no: %s!")),
    right(id="near the limit", before=FIRST + SPIN.format(40), near=True),
    wrong("WA_STDOUT", id="says more", after='printf("?");'),
    wrong("WA_STDOUT WA_STDOUT AC WA_FILES", id="one place too far", edit=("'a' + places", "'a' + places + 1")),
    wrong("AC WA_STDOUT AC AC", id="ends at NUL", edit=("!= EOF)", "!= EOF && byte)")),
    wrong("WA_STDOUT", id="goes on behind NUL", after='write(1, "\\0more", 5);'),
    wrong(
        "AC WA_STDOUT AC AC",
        id="a byte of all ones is the end",
        edit=("while ((byte = getc(in)) != EOF)", "while ((byte = (signed char)getc(in)) != EOF)"),
    ),
    wrong("AC WA_STDOUT AC AC", id="forgets the option", edit=("places = atoi(argv[i]);", ";")),
    wrong("WA_STDERR WA_STDERR AC WA_STDERR", id="talks on stderr", before='fprintf(stderr, "debug");'),
    wrong("AC AC WA_EXIT AC", id="refuses with another code", edit=("return 3", "return 1")),
    wrong(
        "AC AC WA_STDERR AC",
        id="refuses in silence",
        edit=('fprintf(stderr, "rot: %s\\n", message);', "(void)message;"),
    ),
    wrong("WA_EXIT", id="always fails at last", after="code = 1;"),
    wrong("WA_FILES", id="leaves a file", after='close(open("x", O_CREAT | O_WRONLY, 0644));'),
    wrong("WA_FILES", id="leaves a link", after='symlink("/etc/passwd", "x");'),
    wrong("WA_FILES", id="leaves a fifo", after='mkfifo("x", 0644);'),
    wrong("SIGNAL", id="reads where nothing is", before="*(volatile int *)0 = 1;"),
    wrong("SIGNAL", id="aborts after the answer", after="abort();"),
    wrong("WA_EXIT", id="the number of a signal is no signal", after="code = 139;"),
    wrong("TLE_CPU AC AC AC", id="never ends", before=FIRST + "for (;;);"),
    wrong("TLE_CPU AC AC AC", id="over the limit and right", before=FIRST + SPIN.format(60), near=True),
    wrong("OLE AC AC AC", id="floods", before=FIRST + 'for (;;) puts("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");'),
    wrong(
        "OLE AC AC AC",
        id="the answer, then a flood",
        after=FIRST + 'for (;;) puts("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");',
    ),
    wrong("MLE|SIGNAL AC AC AC", id="takes all memory", before=FIRST + FILL.format(512)),
    wrong("WA_STDOUT", id="says that it passed", before='puts("PASSED");'),
    wrong("NOT_RUN", id="an object for an executable", script="cc -c -o executable main.c; chmod 755 executable\n"),
    wrong("BUILD_FAIL", id="does not compile", edit=("int places = 13", "int places = ")),
    wrong("BUILD_FAIL", id="does not link", before="extern int nowhere; nowhere = 1;"),
    wrong("BUILD_FAIL", id="an interpreter of another language", script="python3 -c 'print(1)'\n"),
    wrong("NO_BUILD", id="a build that makes something else", script="cc -o rot *.c\n"),
    wrong("POLICY", id="machine code beside it", more={"rot.o": ELF.read_bytes()[:4096]}),
    wrong("POLICY", id="assembler", more={"fast.S": b".globl x\n"}),
    wrong("POLICY", id="another language", more={"rot.py": b"print()\n"}),
]
PROGRAMS = {"python": PYTHON, "c": C}
HEADERS = "#define _GNU_SOURCE\n" + "".join(
    f"#include <{name}.h>\n"
    for name in ("fcntl", "stdlib", "string", "stdio", "time", "unistd", "sys/stat", "sys/wait")
)


def files(language: str, one: Program) -> list[FileEntry]:
    """The submission of a row."""
    suffix = {"python": "py", "c": "c"}[language]
    source = (SOURCES / language / f"rot.{suffix}").read_text()
    assert one.edit[0] in source, one.id
    source = {"python": _python, "c": _c}[language](source.replace(*one.edit) if one.edit[0] else source, one)
    build = read_payload("submission", language, "compile.sh")
    script = f"#!/bin/sh\ncd /app/submission\n{one.script}".encode() if one.script else build
    named = {f"main.{suffix}": source.encode(), "compile.sh": script, "build.sh": build, **one.more}
    return [FileEntry(name.encode(), "file", 0o755, content) for name, content in named.items()]


def _python(source: str, one: Program) -> str:
    start, end = "    places, target, source = 13, None, None\n", "    sys.exit(main(sys.argv[1:]))\n"
    assert start in source
    assert end in source
    before = "".join(f"    {line}\n" for line in one.before.splitlines())
    after = (
        f"    code = main(sys.argv[1:])\n    sys.stdout.flush()\n    {one.after or 'pass'}\n    sys.stdout.flush()\n"
    )
    return source.replace(start, before + start).replace(end, f"{after}    sys.exit(code)\n")


def _c(source: str, one: Program) -> str:
    start = "    FILE *in = stdin, *out = stdout;\n"
    assert start in source
    places = '#include "places.h"\n' if "places.h" in one.more else ""
    answer = source.replace(start, f"{start}    {one.before}\n").replace("int main(", "static int answer(")
    end = (
        f"int main(int argc, char **argv)\n{{\n    int code = answer(argc, argv);\n    fflush(NULL);\n    {one.after}\n"
    )
    return f"{HEADERS}{places}{answer}{end}    return code;\n}}\n"
