"""The report of one spec as text for a person.

In: the value of found.py with the spec's name, verdict and paths. Out: lines, the same for the same value. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from programsmith.report.table import columns

Spec = Mapping[str, Any]
FACTORS = (("b", "b"), ("v", "v"), ("h", "h"), ("not_s", "¬s"))
FEW = 3  # cases that a proof names
DIGITS = 12  # of a fingerprint
LIVE = {None: "not tried", True: "yes", False: "no"}


def text(spec: Spec) -> str:
    """The whole report."""
    found = [(title, list(lines(spec))) for title, lines in SECTIONS]
    parts = [[title, *(f"  {line}" for line in lines)] for title, lines in found if lines]
    return "\n".join(line for part in [list(_head(spec)), *parts] for line in part)


def _head(spec: Spec) -> Iterator[str]:
    verdict = spec["verdict"]
    if spec["error"]:
        yield f"{spec['name']}: error: {spec['error']}"
        if verdict is not None:
            yield f"  the last finished build said {verdict['outcome']}"
        return
    if verdict is None:
        yield f"{spec['name']}: no verdict yet"
        return
    said = f"{verdict['outcome']} at r{verdict['revision']}"
    if spec["stale"]:
        yield f"{spec['name']}: stale from {spec['stale'][0]} on; the last finished build said {said}"
    else:
        yield f"{spec['name']}: {said}"
    factors = " · ".join(f"{shown} {_number(verdict[name])}" for name, shown in FACTORS)
    yield f"  q {_number(verdict['q'])} = {factors}"
    yield from (f"  {reason}" for reason in verdict["reasons"])


def _revisions(spec: Spec) -> Iterator[str]:
    for row in spec["revisions"]:
        ops = [f"{op['name']} moves {op['moves']} cases ({_sizes(op)})" for op in row["made_by"]]
        made = f"{row['made_by'][0]['cause']}: {', '.join(ops)}" if ops else "the first bundle"
        yield f"r{row['revision']}  {made}"
        decided = row["decided"]
        if decided:
            yield f"    {decided['block']} said {decided['said']}: {decided['reason']}"


def _sizes(op: Mapping[str, Any]) -> str:
    """The sides that an operation changed."""
    before, after = op["before"], op["after"]
    sides = ("public", "held_out", "reserve", "dropped")
    return ", ".join(f"{s} {before[s]:g} to {after[s]:g}" for s in sides if before.get(s) != after.get(s))


def _trials(spec: Spec) -> Iterator[str]:
    rows = [line for row in spec["trials"] for line in _trial(row)]
    if rows:
        title = ["", "basis", "who", "k/n", "rate", "posterior", "band", "P below, in, above", "standing"]
        yield from columns([title, *rows])
    for row in spec["headroom"]:
        by, room = row["solvable"]["by"], row["headroom"]
        shown = f"shown solvable by a {by}" if by else "not shown to be solvable"
        more = ""
        if room:
            low, high = room["interval"]
            k, n = room["ceiling"]
            more = f"; ceiling {k}/{n}, headroom {room['difference']:.2f} [{low:.2f}, {high:.2f}]"
        yield f"r{row['revision']}  {shown}{more}"


def _trial(row: Mapping[str, Any]) -> Iterator[list[str]]:
    low, high = row["interval"]
    a, b = row["posterior"]
    own = [f"r{row['revision']}", row["basis"], row["pair"], f"{row['k']}/{row['n']}", f"{low:.2f} to {high:.2f}"]
    for band in row["bands"] or [None]:
        judged = ["none", "", ""]
        if band:
            least, most = band["pass_rate"]
            shares = ", ".join(f"{band[side]:.2f}" for side in ("below", "inside", "above"))
            judged = [f"{least:g} to {most:g}", shares, band["standing"]]
        yield [*own, f"Beta({a}, {b})", *judged]


def _labels(spec: Spec) -> Iterator[str]:
    rows = spec["labels"]
    for number in sorted({row["revision"] for row in rows}):
        counts = Counter(row["label"] for row in rows if row["revision"] == number)
        yield f"r{number}  {', '.join(f'{n} {label}' for label, n in sorted(counts.items()))}"
    yield from columns([list(_label(row)) for row in rows])


def _label(row: Mapping[str, Any]) -> Iterator[str]:
    who = row["pair"] if row["label"] == "infra" else f"{row['pair']}:{row['index']}"
    yield f"r{row['revision']}"
    yield f"{who} (ceiling)" if row.get("ceiling") else who
    yield row["label"]
    cases = row.get("cases", ())
    more = f" and {len(cases) - FEW} more" if len(cases) > FEW else ""
    yield row["proof"] + (f": {', '.join(cases[:FEW])}{more}" if cases else "")


def _strength(spec: Spec) -> Iterator[str]:
    for row in spec["strength"]:
        low, high = row["interval"]
        score = f"mutation score {row['mutation_score']:.2f} [{low:.2f}, {high:.2f}] of {row['mutants']} mutants"
        ratio = "none" if row["public_kill_ratio"] is None else f"{row['public_kill_ratio']:.2f}"
        covered = f"pool coverage {row['pool_coverage']:.2f}, scope coverage {row['scope_coverage']:.2f}"
        nulls = max(row["null_scores"].values(), default=0.0)
        yield f"r{row['revision']}  {score}, {covered}, public kill ratio {ratio}, nulls pass at most {nulls:.3f}"


def _probe(spec: Spec) -> Iterator[str]:
    probe = spec["probe"]
    if probe is None:
        return
    counts = ", ".join(f"{kind} {share}" for kind, share in sorted((probe["counts"] or {}).items()))
    yield f"{probe['said']}: {probe['live']} live adversaries over {probe['defences']} defences; through: {counts}"
    title = ["adversary", "class", "without", "live", "outcome", "reward"]
    rows = [
        [r["id"], r["class"], r["defence"], LIVE[r["live"]], r["outcome"], _number(r["reward"])] for r in probe["rows"]
    ]
    yield from columns([title, *rows])


def _controls(spec: Spec) -> Iterator[str]:
    rows = [[row["id"], _number(row["reward"]), row["fault"] or "as it must be"] for row in spec["controls"]]
    rows += [[row["id"], "pass" if row["passed"] else "fail", row["reason"]] for row in spec["checks"]]
    yield from columns(rows)


def _spend(spec: Spec) -> Iterator[str]:
    spend = spec["spend"]
    if spend["by"] or spend["held"]:
        yield f"{spend['spent']:.2f} usd over {sum(row['calls'] for row in spend['by'])} calls"
    yield from columns(
        [[row["who"], f"{row['calls']} calls", f"{row['usd']:.2f} usd"] for row in spend["by"] if row["usd"]]
    )
    yield from (f"held {row['usd']:.2f} usd for {row['task']}, id {row['id']}" for row in spend["held"])


def _where(spec: Spec) -> Iterator[str]:
    environments = (spec["verdict"] or {}).get("environments", ())
    rows = [["proven in", f"{e.get('kind')} {str(e.get('fingerprint'))[:DIGITS]}"] for e in environments]
    yield from columns([*rows, *([name, path] for name, path in spec["paths"].items() if path)])


SECTIONS: Sequence[tuple[str, Callable[[Spec], Iterator[str]]]] = (
    ("revisions", _revisions),
    ("trials", _trials),
    ("labels", _labels),
    ("strength", _strength),
    ("probe", _probe),
    ("controls and checks", _controls),
    ("spend", _spend),
    ("where", _where),
)


def _number(value: float | None) -> str:
    return "open" if value is None else f"{value:g}"
