"""The pages that are made from code: README's table of the pipeline, docs/spec.md.

In: the plan, the spec's schema, a checkout. Out: the pages rewritten; a test keeps them equal to what they are made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from programsmith.compiler.plan import EVERY, STEPS, Step
from programsmith.rulebook.load import packaged_schema
from programsmith.spec.docs import spec_page

ROW = "| [`"


def write_pages(root: Path) -> None:
    """Rewrite the pages of the checkout at `root`."""
    readme = root / "README.md"
    lines = readme.read_text(encoding="utf-8").splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(ROW))
    others = [line for line in lines if not line.startswith(ROW)]
    readme.write_text("\n".join([*others[:at], *rows(STEPS), *others[at:]]) + "\n", encoding="utf-8")
    (root / "docs" / "spec.md").write_text(spec_page(packaged_schema("spec")), encoding="utf-8")


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
