"""Programs without sense that no gate knows: what of a choice of cases they pass, told from the goldens alone.

In: held-out and public goldens, the texts that the oracle prints for help. Out: a share for each program. Nothing is
decided by them: they show whether the gates, which know other ones, leave something that guessing passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from programsmith.payload.verifier.model import Case, Expected
from programsmith.records.golden import Golden

Answer = Callable[[Case], Expected | None]


def blind_scores(held_out: Sequence[Golden], public: Sequence[Golden], usage: Collection[bytes]) -> dict[str, float]:
    """Share of the held-out cases that each passes, in 0..1.

    `most_frequent` always shows what most public cases do; `help` always the text for help that most cases show, with
    or without success; `last_argument` echoes that; `public_table` answers as the public case does that has the same
    arguments or, where none has, the same input and files.
    """
    helps = [Expected(exit_code=code, stdout=text + b"\n") for text in sorted(usage) for code in (0, 1, 2)]
    answers: dict[str, Sequence[Answer]] = {
        "most_frequent": [_always(_commonest(public))],
        "help": [_always(shown) for shown in helps],
        "last_argument": [_last_argument],
        "public_table": [_table(public)],
    }
    return {name: max((_share(held_out, one) for one in some), default=0.0) for name, some in answers.items()}


def _share(held_out: Sequence[Golden], answer: Answer) -> float:
    passed = sum(answer(golden.case) == golden.expected for golden in held_out)
    return passed / len(held_out) if held_out else 0.0


def _always(shown: Expected | None) -> Answer:
    return lambda _: shown


def _commonest(public: Sequence[Golden]) -> Expected | None:
    found = Counter(golden.expected for golden in public)
    return min(found, key=lambda shown: (-found[shown], repr(shown))) if found else None


def _last_argument(case: Case) -> Expected:
    return Expected(exit_code=0, stdout=(case.argv[-1] if case.argv else b"") + b"\n")


def _table(public: Sequence[Golden]) -> Answer:
    by_arguments: Mapping[object, Expected] = {g.case.argv: g.expected for g in public}
    by_input = {(g.case.stdin, g.case.files): g.expected for g in public if g.case.stdin or g.case.files}
    return lambda case: by_arguments.get(case.argv) or by_input.get((case.stdin, case.files))
