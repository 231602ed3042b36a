"""The two sides of a written bundle as cases, and what a control needs besides: the held-out side in clear.

In: a bundle's folder and, where the owner sealed it, the secret. Out: graded cases. Refuses a bundle that does
not open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from programsmith.bundle.seal import Sealed, unseal
from programsmith.bundle.tree import DOCS, PUBLIC, read_bundle
from programsmith.errors import InfraError
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.plan import Plan, Policy, decode_cases, decode_plan, decode_policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """A bundle as the grader reads it. Only the owner's side of the pipeline may hold this."""

    policy: Policy
    plan: Plan
    public: tuple[GradedCase, ...]
    held_out: tuple[GradedCase, ...]

    @property
    def all(self) -> tuple[GradedCase, ...]:
        """Every graded case, public ones first."""
        return (*self.public, *self.held_out)


def read_sides(bundle: Path, owner_secret: bytes | None = None) -> Sides:
    """Read and open a bundle of ours. Raises InfraError where it is not whole."""
    tests = bundle / "tests"
    try:
        policy = decode_policy((tests / "policy.json").read_bytes())
        plan = decode_plan((tests / "plan.json").read_bytes())
        public = decode_cases((tests / "public.jsonl").read_bytes(), plan.public)
        held_out = decode_cases(held_out_clear(bundle, owner_secret), plan.held_out)
    except (OSError, ValueError) as fault:
        raise InfraError(f"{bundle}: the bundle is not whole: {fault}; run the block create again") from fault
    return Sides(policy=policy, plan=plan, public=public, held_out=held_out)


def read_public(bundle: Path) -> tuple[GradedCase, ...]:
    """The public cases of a bundle of ours. Raises InfraError where it is not whole."""
    try:
        plan = decode_plan((bundle / "tests" / "plan.json").read_bytes())
        return tuple(decode_cases((bundle / PUBLIC).read_bytes(), plan.public))
    except (OSError, ValueError) as fault:
        raise InfraError(f"{bundle}: the bundle is not whole: {fault}; run the block create again") from fault


def documents(bundle: Path) -> Iterator[bytes]:
    """The documentation that a bundle gives."""
    yield from (e.content for path, e in read_bundle(bundle).items() if path.startswith(DOCS))


def shown_sides(public: Iterable[GradedCase]) -> Iterator[bytes]:
    """What the original printed and left in public cases."""
    for case in public:
        yield case.expected.stdout
        yield from (e.content for e in case.expected.files or () if e.kind == "file")


def held_out_clear(bundle: Path, owner_secret: bytes | None = None) -> bytes:
    """The held-out case lines in clear. Raises InfraError where they do not open."""
    tests = bundle / "tests"
    sealed = Sealed(content=(tests / "held_out.sealed").read_bytes(), seal=(tests / "seal.json").read_bytes())
    return unseal(sealed, owner_secret)
