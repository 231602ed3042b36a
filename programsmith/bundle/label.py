"""The label: what [metadata.programsmith] of an exported task says, and whether what lies beside it says the same.

In: verdict, lock, manifest and records; or the files of an export. Out: the keys that a label adds to those of the
bundle; or what does not agree. A factor that nobody judged and a figure that nobody took are absent, never null. No
label holds a time or a path of a host. The label lies outside the bundle's tree digest, every other byte inside.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from programsmith import __version__
from programsmith.bundle.harbor import dump_toml, task_digest
from programsmith.bundle.manifest import Manifest, digests
from programsmith.bundle.provided import as_judged, provided
from programsmith.errors import InputError, boundary
from programsmith.payload.verifier.model import FileEntry, canonical
from programsmith.payload.verifier.plan import decode_plan
from programsmith.payload.verifier.unseal import SealError, decode_seal
from programsmith.records import codec
from programsmith.records.lock import Lock
from programsmith.records.outcome import Record
from programsmith.records.trial import Pair
from programsmith.records.verdict import Verdict
from programsmith.verdict.calibration import Band, Tally, read

FACTORS = ("b", "v", "h", "not_s")
STRENGTH = ("mutation_score", "interval", "mutants", "pool_coverage", "scope_coverage", "public_kill_ratio")
BAND = ("basis", "pass_rate", "confidence", "pair", "k", "n", "below", "inside", "above", "standing")
RATE = ("pair", "k", "n", "interval")
JUDGES = ("calibrate", "sweep")
SHOWS = ("strength", *JUDGES)
"""Blocks whose evidence a label quotes, and which lies whole in provenance.json."""
MADE_OF = {"oracle": "oracle.tar", "pool": "pool.jsonl"}
TASK, PROOF, PLAN = "task.toml", "provenance.json", "tests/plan.json"
SEALS = ("tests/seal.json", "solution/seal.json")
SIDES = ("public", "held_out", "families")
ADDED = (
    "version", "spec", "revision", "verdict", "q", *FACTORS, "proven_in", "environments", "notes", "evidence",
    "strength", "calibration", "provenance",
)  # fmt: skip
"""Keys that a label adds."""
BELOW = ("task.toml", "instruction.md", "README.md")
FOLDERS = ("environment/", "tests/", "solution/")
PLACES = 4
SHOWN = 200  # characters of a value
ODD = (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OverflowError, SealError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something that is not as it should be: where, what was wanted, what was got."""

    path: str
    wanted: str
    got: str

    def __str__(self) -> str:
        return f"{self.path}: wanted {self.wanted}, got {self.got}"


def label(name: str, verdict: Verdict, lock: Lock, manifest: Manifest, records: Mapping[str, Record]) -> dict[str, Any]:
    """The keys that the label of the spec `name` adds."""
    shown = {block: codec.encode(records[block].evidence) for block in SHOWS if block in records}
    return {
        "version": __version__,
        "spec": name,
        "revision": verdict.revision,
        "verdict": verdict.outcome.value,
        **_present(codec.encode(verdict), ("q", *FACTORS)),
        "proven_in": sorted({e["kind"] for e in verdict.environments}),
        "environments": sorted(f"{e['kind']}:{e['fingerprint']}" for e in verdict.environments),
        "notes": list(verdict.reasons),
        "evidence": {block: evidence_digest(record) for block, record in sorted(records.items())},
        **_figures(shown),
        "provenance": _made_of(lock.tree, manifest.tree, {block: r.inputs for block, r in records.items()}),
    }


def proof_rows(records: Mapping[str, Record]) -> dict[str, Any]:
    """What provenance.json says of each block's answer: its digest, and the evidence that the label quotes."""
    return {
        block: {
            "outcome": r.outcome.value,
            "reason": r.reason,
            "inputs": r.inputs,
            "digest": evidence_digest(r),
            **({"evidence": codec.encode(r.evidence)} if block in SHOWS else {}),
        }
        for block, r in sorted(records.items())
    }


def evidence_digest(record: Record) -> str:
    """SHA-256 of what a block said, whatever time it took."""
    return _digest(record.outcome.value, record.reason, codec.encode(record.evidence))


def _digest(outcome: str, reason: str, evidence: Any) -> str:
    return hashlib.sha256(canonical([outcome, reason, evidence])).hexdigest()


def belongs(path: str) -> bool:
    """Whether a file of an export is the bundle's, and not what export lays beside it."""
    return path in BELOW or path.startswith(FOLDERS)


def unlabelled(raw: bytes) -> bytes:
    """task.toml as the bundle had it before it was exported. Raises InputError."""
    with boundary(InputError, f"{TASK}: no task of ours", *ODD):
        value = tomllib.loads(raw.decode("utf-8"))
        own = value["metadata"]["programsmith"]
        value["metadata"]["programsmith"] = {key: said for key, said in own.items() if key not in ADDED}
        return dump_toml(value)


def disagreements(files: Mapping[str, FileEntry]) -> list[Difference]:
    """Where the label, its evidence and the bundle of an export do not say the same. Raises InputError."""
    with boundary(InputError, f"{TASK}, {PROOF} and {PLAN} cannot be held together", *ODD):
        said = tomllib.loads(files[TASK].content.decode("utf-8"))["metadata"]["programsmith"]
        proof = json.loads(files[PROOF].content)
        wanted = {**_of_proof(proof), **_of_bundle(files), **_posterior(said.get("calibration", {}))}
        found = [
            Difference(path=f"{TASK}: {'.'.join(key)}", wanted=_shown(value), got=_shown(_at(said, key)))
            for key, value in wanted.items()
            if _at(said, key) != value
        ]
        return found + list(_of_tree(files, proof))


def _present(values: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: values[name] for name in names if values.get(name) is not None}


def _figures(shown: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What a label quotes of the evidence of these blocks; what is empty is absent."""
    figures = {"strength": _present(shown.get("strength", {}), STRENGTH), "calibration": _calibration(shown)}
    return {name: found for name, found in figures.items() if found}


def _calibration(shown: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Bands with their posterior, and passes of trials for each pair with their interval, of all blocks that judge."""
    judged = [shown[block] for block in JUDGES if block in shown]
    bands = [_present(row, BAND) for evidence in judged for row in evidence.get("bands", ())]
    rates = [_present(row, RATE) for evidence in judged for row in evidence.get("tallies", ())]
    return {name: rows for name, rows in (("bands", bands), ("pass_rates", rates)) if rows}


def _made_of(source: str, bundle: str, inputs: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Digests of what the task was made of; those of artifacts as the blocks' records name them."""
    known = {name: digest for _, read in sorted(inputs.items()) for name, digest in read.items()}
    made = {what: known[artifact] for what, artifact in MADE_OF.items() if artifact in known}
    return {"source": source, "bundle": bundle, **made}


def _of_proof(proof: Mapping[str, Any]) -> dict[tuple[str, ...], Any]:
    """What the label must say where provenance.json is true."""
    verdict, evidence = proof["verdict"], proof["evidence"]
    factors = [verdict[name] for name in FACTORS]
    q = 0 if 0 in factors else None if None in factors else prod(factors)
    places = verdict["environments"]
    figures = _figures({block: evidence[block]["evidence"] for block in SHOWS if block in evidence})
    return {
        ("spec",): proof["name"],
        ("revision",): verdict["revision"],
        ("verdict",): verdict["outcome"],
        ("q",): q,
        **{(name,): verdict[name] for name in FACTORS},
        ("proven_in",): sorted({e["kind"] for e in places}),
        ("environments",): sorted(f"{e['kind']}:{e['fingerprint']}" for e in places),
        ("notes",): verdict["reasons"],
        ("licence",): proof["source"]["licence"],
        ("solution",): proof["solution"],
        ("evidence",): {block: _proven(row) for block, row in evidence.items()},
        ("strength",): figures.get("strength"),
        ("calibration",): figures.get("calibration"),
        ("provenance",): _made_of(
            proof["source"]["tree"], proof["bundle"]["tree"], {block: row["inputs"] for block, row in evidence.items()}
        ),
    }


def _proven(row: Mapping[str, Any]) -> str:
    """The digest of an answer: of its evidence where that lies there, else as it is told."""
    if "evidence" not in row:
        return str(row["digest"])
    return _digest(row["outcome"], row["reason"], row["evidence"])


def _of_bundle(files: Mapping[str, FileEntry]) -> dict[tuple[str, ...], Any]:
    """What the label must say of this bundle."""
    plan = decode_plan(files[PLAN].content)
    modes = {"owner" if decode_seal(files[path].content).secret is None else "inline" for path in SEALS}
    counts: dict[tuple[str, ...], Any] = {(side,): len(getattr(plan, side)) for side in SIDES}
    return {**counts, ("seal",): modes.pop() if len(modes) == 1 else "one mode", ("reward",): plan.reward}


def _posterior(calibration: Mapping[str, Any]) -> dict[tuple[str, ...], Any]:
    """Each band's posterior, worked out again from its passes and trials."""
    wanted: dict[tuple[str, ...], Any] = {}
    for at, row in enumerate(calibration.get("bands", ())):
        low, high = row["pass_rate"]
        band = Band(low=low, high=high, confidence=row["confidence"], trials_max=0)
        found = read(Tally(pair=Pair(agent="", model=""), k=row["k"], n=row["n"]), band)
        masses = {name: round(getattr(found, name), PLACES) for name in ("below", "inside", "above")}
        values = {**masses, "standing": found.standing.value}
        wanted |= {("calibration", "bands", str(at), name): value for name, value in values.items()}
    return wanted


def _of_tree(files: Mapping[str, FileEntry], whole: Mapping[str, Any]) -> Iterator[Difference]:
    """The bundle that was judged is the one that lies here: its files and its digests."""
    proof, own = whole["bundle"], {path: e for path, e in files.items() if belongs(path)}
    task = task_digest({path: e.content for path, e in own.items()})
    if task != proof["task"]:
        yield Difference(path=f"{PROOF}: bundle.task", wanted=task, got=_shown(proof["task"]))
    own = as_judged(own, provided(whole))
    own[TASK] = FileEntry(TASK.encode(), "file", 0o644, unlabelled(own[TASK].content))
    tree, now = digests(own.values())
    for path in sorted(now.keys() | proof["files"].keys()):
        if now.get(path) != proof["files"].get(path):
            got = "a label that is not all that was added" if path == TASK else _shown(now.get(path))
            yield Difference(path=path, wanted=f"{_shown(proof['files'].get(path))} as it was judged", got=got)
    if tree != proof["tree"]:
        yield Difference(path=f"{PROOF}: bundle.tree", wanted=tree, got=_shown(proof["tree"]))


def _at(value: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        value = value[int(key)] if isinstance(value, list) else value.get(key)
    return value


def _shown(value: Any) -> str:
    text = "nothing" if value is None else value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
