"""The pages that are made from code: README's table of the pipeline, docs/spec.md, docs/reruns.md, docs/checks.md.

Of docs/adversaries.md it is the part of known attacks. In: the plan, the spec's schema, a checkout. Out: the pages
rewritten; a test keeps them equal to what they are made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from programsmith.compiler.plan import EVERY, STEPS, Step
from programsmith.compiler.reruns import NOTES, OTHERS, RULES, Reruns, reruns
from programsmith.rulebook.document import read_document
from programsmith.rulebook.load import Rulebook, packaged_rules, packaged_schema
from programsmith.spec.docs import fields, spec_page
from programsmith.spec.unavailable import RUNS, said

ROW = "| [`"
ATTACKS = Path("tests", "samples", "known_attacks.yaml")
RERUNS = """\
# What reruns when something changes

This page is generated from the plan; a test asks the engine about every row. A block reruns when its slice changes:
the fields, rules, payload and code that its row declares, the artifacts that it reads, the records that it gets.

- **reruns**: the change stands in the slice of these blocks.
- **then**: these get a record of one that reran. They rerun where that record says something else than before, even
  though every artifact keeps its bytes.
- **at most**: these too rerun, where artifacts come out with other bytes, or where something else is asked of the next
  revision. That is all that synthesize takes from records: which word of which block sent the revision back, what its
  trials failed, which cases are named, how many of the trials should pass. An edited band or static rule after which
  the same is asked leaves every revision as it is.

| change | reruns | then | at most |
|---|---|---|---|
"""
BOUGHT = """
## What is bought anew

To rerun is not to buy, nor even to work: what the store holds for equal inputs is taken from there. A trial is bought
where no trial has its key: agent, version, model and the entry's other words, what of the original it may ask or read,
its index, `generation`, the limits of an attempt, the toolchain's versions, and every byte that the agent sees, which
are the instruction and all files below `/app` but the canary and the runner. That is code, and the engine's own code
stands in no trial's key but by a number, which is raised when an attempt comes to mean something else.
"""


def write_pages(root: Path) -> None:
    """Rewrite the pages of the checkout at `root`."""
    readme = root / "README.md"
    lines = readme.read_text(encoding="utf-8").splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(ROW))
    others = [line for line in lines if not line.startswith(ROW)]
    readme.write_text("\n".join([*others[:at], *rows(STEPS), *others[at:]]) + "\n", encoding="utf-8")
    (root / "docs" / "spec.md").write_text(spec_page(packaged_schema("spec")), encoding="utf-8")
    (root / "docs" / "reruns.md").write_text(reruns_page(), encoding="utf-8")
    (root / "docs" / "checks.md").write_text(_checks_page(), encoding="utf-8")
    (root / "docs" / "adversaries.md").write_text(_adversaries_page(root), encoding="utf-8")


def _adversaries_page(root: Path) -> str:
    from programsmith.adversaries.page import with_attacks

    page = (root / "docs" / "adversaries.md").read_text(encoding="utf-8")
    return with_attacks(page, read_document(root / ATTACKS, str(ATTACKS)).values)


def _checks_page() -> str:
    from programsmith.checks.page import checks_page  # noqa: PLC0415 - nothing else of a compiler's needs the checks

    book = Rulebook(None)
    return checks_page(book.load("checks"), book.load("defences"))


def changes() -> list[str]:
    """Everything that docs/reruns.md tells of: spec fields, rules, other causes."""
    folder = packaged_rules()
    rules = [path.stem for path in folder.glob("*.yaml")] + [f"prompts/{p.name}" for p in folder.glob("prompts/*.md")]
    rules += [f"schema/{path.name}" for path in folder.glob("schema/answer_*.json")]
    return [*fields(packaged_schema("spec")), *(RULES + name for name in sorted(rules)), *OTHERS]


def reruns_page() -> str:
    """The page of what reruns."""
    return RERUNS + "".join(_change(change) for change in changes()) + BOUGHT


def _change(change: str) -> str:
    found, note = reruns(STEPS, change), NOTES.get(change, "")
    alone = next((runs for field, runs in RUNS if field == change), ())
    if alone and not note:
        note = f"{' or '.join(map(said, alone))} alone is run"
    cells = (
        change if change in OTHERS else f"`{change}`",
        "; ".join(filter(None, [", ".join(found.at_once) or "nothing", note])),
        ", ".join(found.answers) or "—",
        _at_most(found),
    )
    return f"| {' | '.join(cells)} |\n"


def _at_most(found: Reruns) -> str:
    """The blocks that follow artifacts, in few words where they are all that is left of the plan."""
    every = [step.block for step in STEPS]
    rest = every[every.index(found.artifacts[0]) :] if found.artifacts else []
    if rest and {*rest} <= {*found.at_once, *found.answers, *found.artifacts}:
        return f"all from {rest[0]} on"
    return ", ".join(found.artifacts) or "—"


def rows(steps: Sequence[Step]) -> list[str]:
    """One row per step: block, what it reads, what it writes, what it can say."""
    return [_row(step) for step in steps]


def _row(step: Step) -> str:
    reads = [f"`{name}`" for name in step.reads]
    if not reads and not step.records:
        reads = [f"`spec.{name}`" for name in step.spec]
    if step.records == EVERY:
        reads = ["all records", *reads]
    else:
        reads = [*(f"record of {name}" for name in step.records), *reads]
    writes = [f"`{name}`" for name in step.writes]
    link = f"{ROW}{step.block}`](programsmith/blocks/{step.block}.py)"
    says = ", ".join(word.value for word in step.says)
    return f"{link} | {', '.join(reads)} | {', '.join(writes) or '—'} | {says} |"
