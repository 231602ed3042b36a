"""The toolchain rule as typed records. In: the mapping of rules/toolchains.yaml, whose shape its schema has checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from programsmith.toolchains.model import (
    BuildSystem,
    Common,
    Fetch,
    Flavour,
    Home,
    Interpreter,
    Minimum,
    OldSign,
    Step,
    Strength,
    Toolchain,
    ViewRule,
)


def toolchains(rule: Mapping[str, Any]) -> dict[str, Toolchain]:
    """Language name to toolchain. Raises KeyError or ValueError where the rule does not fit its schema."""
    common = _common(rule)
    return {name: _toolchain(name, value, common) for name, value in rule["languages"].items()}


def _common(rule: Mapping[str, Any]) -> Common:
    return Common(
        search=tuple(rule["search"]),
        shell=tuple(rule["shell"]),
        environment=dict(rule["environment"]),
        network_signs=tuple(rule["network_signs"]),
        drop=tuple(rule["install"]["drop"]),
        drop_suffixes=tuple(rule["install"]["drop_suffixes"]),
        leave=tuple(rule["spec_packages"]["leave"]),
        base=tuple(rule["spec_packages"]["base"]),
    )


def _toolchain(name: str, value: Mapping[str, Any], common: Common) -> Toolchain:
    interpreter, fetch, strength = value.get("interpreter"), value.get("fetch"), value.get("strength")
    return Toolchain(
        language=name,
        suffixes=tuple(value["suffixes"]),
        detect_files=tuple(value["detect"]["files"]),
        detect_suffixes=tuple(value["detect"]["suffixes"]),
        compiled=value["compiled"],
        build_programs=tuple(value["build_programs"]),
        run_programs=tuple(value["run_programs"]),
        run_packages=tuple(value.get("run_packages", ())),
        cpu_factor=float(value["cpu_factor"]),
        public_base=value["public_base"],
        packages=tuple(value["packages"]),
        version_command=tuple(value["version_command"]),
        view=_view(value["view"]),
        minimums=tuple(_minimum(m) for m in value["minimums"]),
        old_signs=tuple(OldSign(**{**sign, "command": tuple(sign["command"])}) for sign in value["old_signs"]),
        wrapped=tuple(value["wrapped"]),
        bundle_flags=tuple(value["bundle_flags"]),
        flavours={Flavour(k): tuple(v["flags"]) for k, v in value["flavours"].items()},
        build_systems={k: _build_system(v) for k, v in value["build_systems"].items()},
        common=common,
        interpreter=Interpreter(**interpreter) if interpreter else None,
        fetch=Fetch(command=tuple(fetch["command"]), options=tuple(fetch["options"])) if fetch else None,
        home=_home(value["home"]) if "home" in value else None,
        environment=dict(value.get("environment", {})),
        settings={Flavour(k): dict(v.get("environment", {})) for k, v in value["flavours"].items()},
        where_known={Flavour(k): tuple(v.get("where_known", ())) for k, v in value["flavours"].items()},
        strength=Strength(lines=strength["lines"], files=tuple(strength["files"])) if strength else None,
    )


def _view(value: Mapping[str, Any]) -> ViewRule:
    return ViewRule(
        packages=tuple(value["packages"]),
        paths=tuple(value["paths"]),
        parts=tuple(tuple(h) for h in value["parts"]),
        run_paths=tuple(value["run_paths"]),
    )


def _home(value: Mapping[str, Any]) -> Home:
    return Home(
        command=tuple(value["command"]),
        shown=value["shown"],
        parts=tuple(value["parts"]),
        programs=tuple(value["programs"]),
        runs=tuple(value.get("runs", ())),
        ready=tuple(tuple(words) for words in value.get("ready", ())),
        environment=dict(value.get("environment", {})),
    )


def _minimum(value: Mapping[str, Any]) -> Minimum:
    return Minimum(
        what=value["what"], files=tuple(value["files"]), pattern=value["pattern"], command=tuple(value["command"])
    )


def _build_system(value: Mapping[str, Any]) -> BuildSystem:
    return BuildSystem(
        files=tuple(value["files"]),
        build=_steps(value["build"]),
        install=_steps(value["install"]),
        leave=tuple(value.get("leave", ())),
        packages=tuple(value.get("packages", ())),
        output=value.get("output", "{target}"),
    )


def _steps(values: Iterable[Mapping[str, Any]]) -> tuple[Step, ...]:
    return tuple(
        Step(run=tuple(v["run"]), unless=v.get("unless", ""), may_fail=v.get("may_fail", False)) for v in values
    )
