"""The agent's public runner: applies the verifier's policy, builds where the verifier builds, runs the public cases.

`check [ID …]` prints a line per family and the first differences. It ends with 0 where all of them pass, 1 where not,
2 where it cannot run. It scores nothing. What a build leaves beside the executable is removed afterwards, and a source
that it changed is put back, so that running it does not change what is handed in.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from programsmith.payload.bundle.difference import difference
from programsmith.payload.verifier.build_step import build
from programsmith.payload.verifier.cases import Bench, run_cases, startable
from programsmith.payload.verifier.environment import EXECUTABLE
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.plain import PlainLauncher
from programsmith.payload.verifier.plan import Policy, decode_cases, decode_policy
from programsmith.payload.verifier.policy import findings
from programsmith.payload.verifier.receive import LEFT_BY_RUNNING, receive
from programsmith.payload.verifier.scripts import subject
from programsmith.payload.verifier.tree import Caps, TreeError, TreeReading, read_tree
from programsmith.payload.verifier.words import CaseWord, count_families, shown

APP = "/app"
_SHOWN = 3  # differences in full


@dataclass(frozen=True, slots=True, kw_only=True)
class Public:
    """What the runner works on: where the submission lies, the policy, the cases that were asked for."""

    submission: str
    policy: Policy
    cases: tuple[GradedCase, ...]


def main(words: Sequence[str] | None = None, app: str = APP) -> int:
    """Check the submission against the public cases; the exit code."""
    asked = sys.argv[1:] if words is None else list(words)
    try:
        public = _public(asked, app)
        received = receive(public.submission, public.policy.submission)
    except TreeError as fault:
        print(f"POLICY: the submission has {fault}")
        return 1
    except (OSError, ValueError, KeyError) as fault:
        print(f"check: {fault}", file=sys.stderr)
        return 2
    refused = findings(received.entries, public.policy)
    for path, why in received.left_out:
        print(f"not handed in: {shown(path)}: {why}")
    for found in refused:
        print(f"POLICY: {shown(found.path)}: {found.why}")
    if refused:
        return 1
    with _as_found(public, received):
        return _check(public, received)


def _public(asked: Sequence[str], app: str) -> Public:
    with open(os.path.join(app, "policy.json"), "rb") as source:
        policy = decode_policy(source.read())
    with open(os.path.join(app, "public.jsonl"), "rb") as source:
        cases = decode_cases(source.read())
    unknown = sorted(set(asked) - {c.case.id for c in cases})
    if unknown:
        raise ValueError(f"no public case is called {unknown[0]!r}; {app}/cases lists them")
    chosen = tuple(c for c in cases if not asked or c.case.id in asked)
    return Public(submission=os.path.join(app, "submission"), policy=policy, cases=chosen)


def _check(public: Public, received: TreeReading) -> int:
    built = build(received.entries, public.policy, PlainLauncher(submission=public.submission, executables=None))
    if built.word is not None or built.fault is not None:
        sys.stdout.write("".join(f"{shown(line)}\n" for line in built.log.splitlines()[-40:]))
        print(f"{built.word or 'INFRA'}: {built.fault or built.reason}")
        return 1
    others = startable(public.cases)
    programs = tuple(sorted({*public.policy.run_programs, *others}))
    launcher = PlainLauncher(submission=public.submission, executables=programs)
    what = subject(built.tree, public.submission, public.policy)
    ran = run_cases(public.cases, what, public.policy, launcher, slots=1)
    names = {name: record.word.value for name, record in ran.items()}
    for family, (passed, total) in count_families(public.cases, names).items():
        print(f"{passed:5}/{total:<5} {family}")
    failing = [c for c in public.cases if ran[c.case.id].word is not CaseWord.AC]
    bench = Bench(what, public.policy, launcher, others)
    for graded in failing[:_SHOWN]:
        print("\n".join([f"{graded.case.id}: {ran[graded.case.id].word}", *difference(graded, bench)]))
    if len(failing) > _SHOWN:
        print("also failing: " + " ".join(c.case.id for c in failing[_SHOWN:]))
    print(f"{len(public.cases) - len(failing)} of {len(public.cases)} public cases pass")
    return int(bool(failing))


@contextlib.contextmanager
def _as_found(public: Public, received: TreeReading) -> Iterator[None]:
    """Remove what appears in the submission meanwhile, apart from the executable, and put changed files back."""
    output = os.path.join(public.submission, EXECUTABLE)
    if os.path.isdir(output) and not os.path.islink(output):
        shutil.rmtree(output)
    elif os.path.lexists(output):
        os.unlink(output)
    try:
        yield
    finally:
        _restore(public, received)


def _restore(public: Public, received: TreeReading) -> None:
    rule = public.policy.build
    caps = Caps(files=rule.work_files, bytes=rule.work_bytes, depth=public.policy.submission.depth)
    try:
        now = read_tree(public.submission, caps, skip=LEFT_BY_RUNNING)
    except (TreeError, OSError) as fault:
        print(f"check: what the build left is not removed: {fault}", file=sys.stderr)
        return
    before = {e.path: e for e in received.entries}
    known = {*before, *(path for path, _ in received.left_out), EXECUTABLE.encode()}
    places = [e.path for e in now.entries] + [path for path, _ in now.left_out]
    for path in sorted(set(places) - known):
        whole = os.path.join(public.submission.encode(), path)
        if os.path.isdir(whole) and not os.path.islink(whole):
            shutil.rmtree(whole)
        elif os.path.lexists(whole):
            os.unlink(whole)
    for entry in now.entries:
        old = before.get(entry.path)
        if old is not None and old.kind == "file" and old.content != entry.content:
            with open(os.path.join(public.submission.encode(), entry.path), "wb") as out:
                out.write(old.content)
