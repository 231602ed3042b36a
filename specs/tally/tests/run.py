"""Runs every test of tests/cases and tests/table.yaml. The table needs PyYAML; exits with 1 when a test fails."""

import os
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = [sys.executable, "-B", "-m", "tally"]
RECORDS = ("cmd", "expout", "experr", "expcode")


def run(args, stdin, files):
    """Exit code, standard output and standard error of one call, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        env = dict(os.environ, PYTHONPATH=os.path.dirname(HERE))
        done = subprocess.run(PROGRAM + args, input=stdin, capture_output=True, cwd=folder, env=env)
        return done.returncode, done.stdout, done.stderr


def folders():
    """(name, args, stdin, files, code, stdout, stderr) of every case folder."""
    for name in sorted(os.listdir(os.path.join(HERE, "cases"))):
        folder = os.path.join(HERE, "cases", name)
        content = {}
        for entry in os.listdir(folder):
            with open(os.path.join(folder, entry), "rb") as file:
                content[entry] = file.read()
        words = shlex.split(content["cmd"].decode())[1:]
        stdin = b""
        if "<" in words:
            at = words.index("<")
            stdin, words = content[words[at + 1]], words[:at]
        files = {key: value for key, value in content.items() if key not in RECORDS}
        code = int(content.get("expcode", b"0"))
        yield name, words, stdin, files, code, content.get("expout", b""), content.get("experr", b"")


def rows():
    """The same of every row of the table."""
    import yaml

    with open(os.path.join(HERE, "table.yaml"), encoding="utf-8") as file:
        table = yaml.safe_load(file)
    for row in table:
        files = {name: text.encode() for name, text in row.get("files", {}).items()}
        yield (row["name"], row["args"], row.get("input", "").encode(), files, row.get("exit_code", 0),
               row["expected"].encode(), None)


def main():
    failed = count = 0
    for name, args, stdin, files, code, stdout, stderr in [*folders(), *rows()]:
        got = run(args, stdin, files)
        count += 1
        if got[:2] != (code, stdout) or (stderr is not None and got[2] != stderr):
            failed += 1
            print("FAIL %s: %r" % (name, got))
    print("%d passed, %d failed" % (count - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
