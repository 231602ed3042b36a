"""What no schema says: checks across the fields of a spec, and against what lies around it.

In: a Spec with defaults filled in, the project's root. Refuses the first fault in one line (InputError).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from programsmith.payload.verifier.compare import comparator
from programsmith.payload.verifier.model import canonical
from programsmith.rulebook.document import Keys, dotted
from programsmith.rulebook.fault import fault, quoted, suggest
from programsmith.rulebook.load import Rulebook
from programsmith.spec.model import Spec

ORIGINS = ("git", "path", "archive")
RESERVED = ("store", "ledger", "logs", "drafts", "easy", "hard", "with-base", "dataset.toml")
"""Other things in cache/ and dist/."""
WITH_MODEL = ("claude-code", "codex", "gemini-cli", "mini-swe-agent")
WITHOUT_MODEL = ("nop", "oracle", "scripted")
REPLAY = "replay/"
"""Begins the name of a model whose answers are written in a folder of the project: it costs nothing."""
PRICE = "the dollars that a trial costs at most, 0 where its model is free"


def check_fields(spec: Spec, project: Path) -> None:
    """All checks, in the order of the fields. Raises InputError."""
    _name(spec, project)
    _source(spec, project)
    _languages(spec, project)
    _stdout(spec)
    _adversaries(spec, project)
    _product(spec)
    _models(spec, project)
    for keys, pair in pairs(spec.values):
        _pair(spec, keys, pair)
    _bands(spec)
    _budget(spec, project)


def pairs(values: Mapping[str, Any]) -> Iterator[tuple[Keys, Mapping[str, Any]]]:
    """Every pair of agent and model that the spec names on its own, with the keys that lead to it."""
    for i, pair in enumerate(values["rollouts"]):
        yield ("rollouts", i), pair
    if values["ceiling"] is not None:
        yield ("ceiling",), values["ceiling"]
    if isinstance(values["sweep"], list):
        yield from ((("sweep", i), pair) for i, pair in enumerate(values["sweep"]))
    if values["probe"]["model"] is not None:
        yield ("probe", "model"), values["probe"]["model"]
    for i, band in enumerate(values["difficulty"]):
        if isinstance(band["basis"], dict):
            yield ("difficulty", i, "basis"), band["basis"]


def paid_models(values: Mapping[str, Any]) -> Iterator[Keys]:
    """Keys of every model that the spec names and does not call free."""
    yield from (("models", block) for block, model in values["models"].items() if model and not is_replay(model))
    yield from ((*keys, "model") for keys, pair in pairs(values) if pair["model"] and _paid(values, pair))
    if isinstance(values["sweep"], dict) and not _free(values["sweep"]):
        yield "sweep", "models"


def costs(values: Mapping[str, Any]) -> Iterator[Keys]:
    """Keys of everything that may cost money: models, and prices of trials."""
    yield from paid_models(values)
    yield from ((*keys, "usd") for keys, pair in pairs(values) if pair.get("usd"))


def is_replay(model: str) -> bool:
    """Whether a model's answers are written in the project."""
    return model.startswith(REPLAY)


def _free(entry: Mapping[str, Any]) -> bool:
    """Whether an entry, or a sweep of such entries, says that its model costs nothing."""
    return bool(entry["usd"] == 0)


def _paid(values: Mapping[str, Any], pair: Mapping[str, Any]) -> bool:
    """Whether a pair's model may cost; that of a band's basis costs what its entry of rollouts says."""
    same = [entry for entry in values["rollouts"] if all(entry[key] == pair[key] for key in ("agent", "model"))]
    return not any(map(_free, [pair] if "usd" in pair else same))


def _models(spec: Spec, project: Path) -> None:
    """Every model that decides a block is one that has a price, or a folder of written answers."""
    for block, model in spec.values["models"].items():
        keys: Keys = ("models", block)
        if model is None:
            continue
        if is_replay(model):
            if not (project / model.partition("/")[2]).is_dir():
                wanted = "a folder of answers below the project's root, as `replay/FOLDER`"
                raise fault(spec.place(*keys), dotted(keys), wanted, quoted(model))
            continue
        known = list(Rulebook(project).load("models")["models"])
        if model not in known:
            hint = suggest(model, known, "rules/models.yaml has")
            raise fault(spec.place(*keys), dotted(keys), "a model with a price", quoted(model), hint)


def _name(spec: Spec, project: Path) -> None:
    place = spec.place("name")
    if spec.name != spec.path.stem:
        raise fault(place, "name", f"{quoted(spec.path.stem)}, as the file is called", quoted(spec.name))
    if spec.name.lower() in RESERVED:
        raise fault(place, "name", f"a name other than {', '.join(RESERVED)}", quoted(spec.name))
    twin = project / "specs" / spec.path.name
    if twin.exists() and spec.path.exists() and not twin.samefile(spec.path):
        raise fault(place, "name", "a name of its own", f"{quoted(spec.name)}, which specs/{twin.name} has too")


def _source(spec: Spec, project: Path) -> None:
    source = spec.values["source"]
    given = [kind for kind in ORIGINS if source[kind] is not None]
    if len(given) != 1:
        found = " and ".join(given) or "none of them"
        raise fault(spec.place("source"), "source", "exactly one of git, path and archive", found)
    local = local_path(source["git"] or "")
    if source["git"] is not None and local is not None and not (project / local).exists():
        _nothing_at(spec, "git", source["git"], "a repository's URL, or its path from the project's root")
    if source["path"] is not None:
        _folder(spec, project, source["path"])
    if source["archive"] is not None and not (project / source["archive"]).is_file():
        _nothing_at(spec, "archive", source["archive"], "an archive below the project's root")


def _folder(spec: Spec, project: Path, path: str) -> None:
    folder = project / path
    if not folder.is_dir():
        _nothing_at(spec, "path", path, "a folder below the project's root")
    if (project / "cache").resolve().is_relative_to(folder.resolve()):
        wanted = "a folder outside of which the project's cache/ lies"
        raise fault(spec.place("source", "path"), "source.path", wanted, f"{quoted(path)}, which contains it")


def _nothing_at(spec: Spec, kind: str, path: str, wanted: str) -> None:
    got = f"{quoted(path)}, where no such thing is"
    raise fault(spec.place("source", kind), f"source.{kind}", wanted, got)


def local_path(url: str) -> str | None:
    """The path that git takes an address for, None where it names a host: by a scheme, or before a colon."""
    if url.startswith("file://"):
        return url.removeprefix("file://")
    return None if ":" in url.partition("/")[0] else url


def _languages(spec: Spec, project: Path) -> None:
    asked = spec.values["task"]["target_languages"]
    if not isinstance(asked, list):
        return
    known = sorted(Rulebook(project).load("toolchains")["languages"])
    for i, language in enumerate(asked):
        if language not in known:
            keys = ("task", "target_languages", i)
            hint = suggest(language, known, "rules/toolchains.yaml has")
            raise fault(spec.place(*keys), dotted(keys), "a language with a toolchain", quoted(language), hint)


def _adversaries(spec: Spec, project: Path) -> None:
    if spec.values["probe"]["model"] is not None and not (spec.values["rollouts"] or spec.values["sweep"]):
        wanted = "trials beside it, in `rollouts` or `sweep`, for a spec without any is not probed"
        raise fault(spec.place("probe", "model"), "probe.model", wanted, "none")
    asked = spec.values["probe"]["adversaries"]
    if not isinstance(asked, list):
        return
    known = [row["id"] for row in Rulebook(project).load("adversaries")["adversaries"]]
    for i, name in enumerate(asked):
        if name not in known:
            keys = ("probe", "adversaries", i)
            hint = suggest(name, known, "rules/adversaries.yaml has")
            raise fault(spec.place(*keys), dotted(keys), "the id of an adversary", quoted(name), hint)


def _product(spec: Spec) -> None:
    """A cross product says who, which model and, for `command`, what to run: no script, nobody without a model."""
    sweep = spec.values["sweep"]
    if not isinstance(sweep, dict):
        return
    known = ("command", *WITH_MODEL)
    for i, agent in enumerate(sweep["agents"]):
        if agent not in known:
            keys = ("sweep", "agents", i)
            hint = "write the sweep as a list of pairs for any other"
            raise fault(spec.place(*keys), dotted(keys), f"one of {', '.join(known)}", quoted(agent), hint)
    if sweep["command"] is not None and "command" not in sweep["agents"]:
        none = "none, for no agent of the sweep is `command`"
        raise fault(spec.place("sweep", "command"), "sweep.command", none, quoted(sweep["command"]))
    for name, wanted in (("command", "what `command` runs"), ("usd", PRICE)):
        if sweep[name] is None and "command" in sweep["agents"]:
            raise fault(spec.place("sweep"), f"sweep.{name}", wanted, "nothing")


def _stdout(spec: Spec) -> None:
    chosen = spec.values["goldens"]["compare"]["stdout"]
    if isinstance(chosen, str):
        return
    try:
        comparator(canonical(chosen).decode("ascii"))
    except ValueError as error:
        field = "goldens.compare.stdout"
        raise fault(spec.place("goldens", "compare", "stdout"), field, "a comparator", f"a fault: {error}") from None


def _pair(spec: Spec, keys: Keys, pair: Mapping[str, Any]) -> None:
    agent, model = pair["agent"], pair["model"]
    field = dotted((*keys, "model"))
    if agent in WITH_MODEL and model is None:
        raise fault(spec.place(*keys), field, f"a model as `provider/name` for {quoted(agent)}", "nothing")
    if agent in WITHOUT_MODEL and model is not None:
        raise fault(spec.place(*keys, "model"), field, f"none, for {quoted(agent)} asks no model", quoted(model))
    if agent == "command" and model is not None and pair.get("usd", 0) is None:
        raise fault(spec.place(*keys, "model"), dotted((*keys, "usd")), PRICE, "nothing")


def _bands(spec: Spec) -> None:
    for i, band in enumerate(spec.values["difficulty"]):
        rate, basis = band["pass_rate"], band["basis"]
        if rate["min"] > rate["max"]:
            keys: Keys = ("difficulty", i, "pass_rate")
            got = f"min {rate['min']} above max {rate['max']}"
            raise fault(spec.place(*keys), dotted(keys), "min up to max", got)
        if isinstance(basis, str) and not spec.values[basis]:
            keys = ("difficulty", i, "basis")
            raise fault(spec.place(*keys), dotted(keys), "trials that the spec asks for", f"`{basis}`, which is empty")


def _budget(spec: Spec, project: Path) -> None:
    first = next((keys for keys in costs(spec.values) if not _served_free(spec, keys, project)), None)
    if first is not None and spec.values["budget"]["usd"] is None:
        place = spec.place("budget") if ("budget",) in spec.places else spec.place(*first)
        got = f"none, and {dotted(first)} names a {'price' if first[-1] == 'usd' else 'paid model'}"
        raise fault(place, "budget.usd", "a number of dollars above 0", got)


def _served_free(spec: Spec, keys: Keys, project: Path) -> bool:
    """Whether the keys name the model of a block whose row in rules/models.yaml has no price above 0."""
    if keys[0] != "models":
        return False
    row = Rulebook(project).load("models")["models"][spec.values["models"][keys[1]]]
    prices = {**row["price"], **row.get("long", {})}
    return not any(usd for name, usd in prices.items() if name != "above")
