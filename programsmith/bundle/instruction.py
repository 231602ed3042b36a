"""instruction.md: the contract, what is given, how it is graded, the policy, from one template of the rules.

In: the template and what the task holds. Out: the text. Refuses a template that names something unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template

from programsmith.bundle.tree import plain
from programsmith.errors import InputError
from programsmith.payload.query.wire import FILES_MOST, QUERY_MOST, REFERENCE, REFUSED
from programsmith.payload.verifier.environment import BASE_ENV
from programsmith.payload.verifier.plan import Plan, Policy, encode_policy
from programsmith.payload.verifier.scripts import makes_code
from programsmith.payload.verifier.within import kinds

REWARDS = {
    "binary": "The reward is 1 when every held-out case passes, else 0.",
    "fraction": "The reward is the mean over the families of the share of their held-out cases that pass.",
    "threshold": "The reward is 1 when at least {threshold:g} of the held-out cases pass, else 0.",
}

SCRIPTS = (
    "the scripts that your build made (text whose first line names its interpreter; no machine code runs{made}, "
    "neither from files nor from memory)"
)
MADE = " but what the language's own machine makes of its bytecode"
NOTES = {
    "java": "; begin the executable with `#!/usr/bin/env -S java -jar` and let the bytes of a jar follow",
    "javascript": "; `node` makes machine code unless it is told not to, so begin the executable with "
    "`#!/usr/bin/env -S node --jitless --no-expose-wasm`",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What the instruction speaks of. `overview` are paragraphs on the program.

    `queries` says how much may be asked of it, `variables` which of an agent's a query hands on; `asking`
    is the template of the section that tells it.
    """

    description: str
    policy: Policy
    plan: Plan
    compare: Mapping[str, str]
    exec_allowed: tuple[str, ...]
    build_packages: tuple[str, ...] = ()
    overview: tuple[str, ...] = ()
    queries: Mapping[str, int] | None = None
    variables: tuple[str, ...] = ()
    asking: str = ""


def instruction(template: str, subject: Subject) -> bytes:
    """The bytes of instruction.md. Raises InputError where the template has a name that nothing fills."""
    words = {**_contract(subject), **_limits(subject), **_policy(subject), "asking": _asking(subject)}
    return _filled("instruction", template, words).encode("utf-8")


def _filled(name: str, template: str, words: Mapping[str, object]) -> str:
    try:
        return Template(template).substitute(words)
    except (KeyError, ValueError) as fault:
        raise InputError(
            f"rules/prompts/{name}.md: unknown name {fault}; known are {', '.join(sorted(words))}"
        ) from fault


def stated(subject: Subject) -> dict[str, str]:
    """What an instruction states of its task beside families and policy, by the template's names."""
    words = {**_contract(subject), **_limits(subject), **_meter(subject)}
    return {name: str(said) for name, said in words.items() if name not in {"description", "family_table"}}


def family_table(families: Mapping[str, Mapping[str, int]]) -> str:
    """The graded behaviours as a Markdown table; it is in the instruction as it stands here."""
    rows = [f"| `{_cell(name)}` | {row['public']} | {row['held_out']} |" for name, row in families.items()]
    return "\n".join(["| family | public | held-out |", "|---|---|---|", *rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'").replace("\n", " ")


def _contract(subject: Subject) -> dict[str, object]:
    plan = subject.plan
    quoted = "\n".join("> " + line for line in subject.description.strip().splitlines())
    said = "\n\n".join(filter(None, [quoted, *subject.overview]))
    return {
        "tool": subject.policy.tool,
        "language": " or ".join(subject.policy.languages),
        "description": f"\n{said}\n" if said else "",
        "public_count": len(plan.public),
        "held_out_count": len(plan.held_out),
        "reward_sentence": REWARDS[plan.reward].format(threshold=plan.threshold),
        "family_table": family_table(plan.families),
        "base_env": " ".join(f"{name.decode()}={value.decode()}" for name, value in BASE_ENV),
        **{f"compare_{stream}": kind for stream, kind in subject.compare.items()},
    }


def _limits(subject: Subject) -> dict[str, object]:
    case, build, receipt = subject.policy.case, subject.policy.build, subject.policy.submission
    factor = case.cpu_factor * subject.policy.cpu_factor
    return {
        "max_files": receipt.files,
        "max_bytes": receipt.bytes,
        "max_depth": receipt.depth,
        "build_cpu": f"{build.cpu_seconds:g}",
        "build_wall": f"{build.wall_seconds:g}",
        "build_memory": build.memory_bytes,
        "build_pids": build.pids,
        "build_work": build.work_bytes,
        "case_cpu": f"{factor:g} x the original's, at least {case.cpu_floor_seconds:g}",
        "case_wall": f"{case.wall_factor:g} x the CPU limit, a backstop",
        "case_memory": case.memory_bytes,
        "case_pids": case.pids,
        "case_work": case.work_bytes,
    }


def _meter(subject: Subject) -> dict[str, object]:
    """What may be asked, and by what; empty where nothing may."""
    if not subject.queries:
        return {}
    asks = f"/app/{REFERENCE}/{plain(subject.policy.tool.encode()).decode()}"
    return {"asks": asks, "refused": REFUSED, **subject.queries, "query_bytes": QUERY_MOST, "query_files": FILES_MOST}


def _asking(subject: Subject) -> str:
    """The section on how the original is asked."""
    if not subject.queries:
        return ""
    names = ", ".join(f"`{name}`" for name in subject.variables)
    said = f"Of your variables cross: {names}." if names else "No variable of yours crosses."
    words = {"tool": subject.policy.tool, "variables": said, **_meter(subject)}
    return "\n" + _filled("asking", subject.asking, words)


def _within(policy: Policy) -> str:
    """What a source of the task may not hold of another language, as a sentence of the template's list."""
    own = kinds(policy.refused_suffixes)
    return f" So is a source that holds {' or '.join(own)}." if own else ""


def _policy(subject: Subject) -> dict[str, object]:
    policy = subject.policy
    run = ", ".join(f"`{p}`" for p in policy.run_programs)
    allowed = ", ".join(f"`{p}`" for p in subject.exec_allowed)
    packages = ", ".join(f"`{p}`" for p in subject.build_packages)
    return {
        "refused_suffixes": " ".join(f"`{s}`" for s in policy.refused_suffixes) or "of any other suffix",
        "within": _within(policy),
        "build_programs": ", ".join(f"`{p}`" for p in policy.build_programs),
        "build_packages": f" These packages are installed too: {packages}." if packages else "",
        "built_code": "" if policy.compiled else " What it leaves holds no machine code.",
        "built_runs": "the files that your build made"
        if policy.compiled
        else SCRIPTS.format(made=MADE if makes_code(policy) else ""),
        "built_notes": "".join(NOTES.get(language, "") for language in policy.languages),
        "run_programs": f", and {run}" if run else "",
        "exec_allowed": f"\n   Cases in which the original starts a program may start it too: {allowed}."
        if allowed
        else "",
        "policy": encode_policy(policy).decode("ascii"),
    }
