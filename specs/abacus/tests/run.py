"""Runs every test of tests/table.yaml against ./abacus. Needs PyYAML; exits with 1 when a test fails."""

import os
import subprocess
import sys

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(os.path.dirname(HERE), "abacus")

failed = 0
with open(os.path.join(HERE, "table.yaml"), encoding="utf-8") as table:
    tests = yaml.safe_load(table)
for test in tests:
    done = subprocess.run([PROGRAM, *test["args"]], input=test.get("input", "").encode(), capture_output=True)
    if (done.stdout.decode(), done.returncode) != (test["expected"], test.get("exit_code", 0)):
        failed += 1
        print("failed:", test["name"], test["args"], done.stdout, done.stderr)
print(len(tests) - failed, "of", len(tests), "passed")
sys.exit(failed > 0)
