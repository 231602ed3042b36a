"""The command line: verbs only. The answer goes to stdout, progress and errors to stderr.

In: arguments. Out: an exit code. Heavy imports come with the verb that needs them.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

from programsmith import __version__
from programsmith.compiler.early import Look
from programsmith.compiler.verbs import ADOPT, AGENTS, EXPORT, GC, PROVE, READING, SETTLE, VERIFY, YIELD
from programsmith.compiler.verbs import EXITS as ANSWERED
from programsmith.errors import Exit, InputError
from programsmith.rulebook.fault import suggest

EXITS = (
    "exit codes: 0 ship, or draft where the spec asks for no trials; 1 finished otherwise; 2 infra, run again to "
    "resume; 3 wrong input or missing prerequisite; 130 interrupted"
)

VERIFIED = (
    "exit codes: 0 holds; 1 does not hold; 2 infra; 3 wrong input, or what --run needs is missing; 130 interrupted"
)
PROVED = "exit codes: 0 proven; 1 not proven; 2 infra; 3 wrong input or missing prerequisite; 130 interrupted"


class Parser(argparse.ArgumentParser):
    """argparse whose complaints are InputErrors."""

    def error(self, message: str) -> NoReturn:
        """See argparse. Raises InputError."""
        raise InputError(f"{message}; `{self.prog} --help` shows what it takes")


def run(args: Sequence[str], looked: Look | None = None) -> int:
    """Run one verb; `looked` is what stamps say of a build. Every error ends here as one line and a code."""
    from programsmith.compiler.faults import Caught

    with Caught() as caught:
        words = list(args) or ["help"]
        if not words[0].startswith("-") and words[0] not in VERBS:
            raise InputError(f"{words[0]}: wanted a verb; {suggest(words[0], list(VERBS), 'the verbs are')}")
        options = _parser().parse_args(words, argparse.Namespace(looked=looked))
        return int(VERBS[options.verb](options))
    return int(caught.code or Exit.OK)


def _parser() -> Parser:
    parser = Parser(prog="programsmith", description="Repositories into verified environments.", epilog=EXITS)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    _add_builds(verbs)
    for name, verb in READING.items():
        reading = _with_words(verbs, name, verb.what, verb.words)
        reading.epilog = "\n".join(["examples:", *(f"  programsmith {line}" for line in verb.examples), "", ANSWERED])
        reading.formatter_class = argparse.RawDescriptionHelpFormatter
        reading.add_argument("--json", action="store_true", help="one JSON object, as docs/verbs.md says")
    _add_exports(verbs)
    listing = _with_words(verbs, "list", "the specs and how they stand")
    listing.add_argument("--all", action="store_true", help="their tasks too")
    listing.add_argument("-s", "--status", action="store_true", help="R would run, U up to date")
    info = _with_words(verbs, "info", "one task: what it reads and writes, why it would run")
    for reading in (listing, info):
        reading.add_argument("--json", action="store_true", help="one JSON object")
    _with_words(verbs, "clean", "remove what tasks made")
    _with_words(verbs, "forget", "make tasks run again")
    _with_words(verbs, "yield", YIELD)
    _with_words(verbs, "adopt", ADOPT, "")
    gc = _with_words(verbs, "gc", GC)
    gc.add_argument("--days", type=float, default=30.0, help="keep what was used in so many last days [30]")
    forget = "forget projects for which no build used the store in so many last days [never]"
    gc.add_argument("--forget", type=float, default=math.inf, metavar="DAYS", help=forget)
    settle = _with_words(verbs, "settle", SETTLE)
    settle.add_argument("--id", help="the reservation to close")
    settle.add_argument("--usd", type=float, help="what its call took, in dollars")
    installing = verbs.add_parser("agents", help=AGENTS, description=AGENTS, epilog=ANSWERED)
    installing.add_argument("words", nargs="*", metavar="WORD", help="install or remove NAME[@VERSION] …, or list")
    verbs.add_parser("version", help="print the version")
    verbs.add_parser("help", help="print this")
    return parser


def _add_builds(verbs: argparse._SubParsersAction[Parser]) -> None:
    """The verbs that run blocks."""
    build = _with_words(verbs, "build", "build specs to their verdicts", "approve=BLOCK[,…] where one parked")
    build.add_argument("-n", "--workers", type=int, help="blocks and cases at a time (default: one per processor)")
    build.add_argument("-y", "--yes", action="store_true", help="build many specs, and spend, without asking")
    proving = _with_words(verbs, "prove", PROVE, "sandbox=docker or sandbox=bubblewrap")
    proving.add_argument("-n", "--workers", type=int, help="blocks and cases at a time (default: one per processor)")
    proving.epilog = PROVED


def _add_exports(verbs: argparse._SubParsersAction[Parser]) -> None:
    """The verbs over exported tasks."""
    exporting = _with_words(verbs, "export", EXPORT, "format=tar, registry=HOST/NAME")
    exporting.add_argument(
        "--with-base", action="store_true", help="carry the root file systems that images start from"
    )
    verifying = verbs.add_parser("verify", help=VERIFY, description=VERIFY, epilog=VERIFIED)
    verifying.add_argument("words", nargs="*", metavar="PATH", help="a folder or a tar of one exported task")
    verifying.add_argument("--run", action="store_true", help="grade its solution and nothing at all too")
    verifying.add_argument("--key", help="a trusted public key, or a file of it")
    verifying.add_argument("--json", action="store_true", help="one JSON object, as docs/label.md says")


def _with_words(verbs: argparse._SubParsersAction[Parser], name: str, what: str, more: str = "tasks") -> Parser:
    parser = verbs.add_parser(name, help=what, description=what, epilog=EXITS)
    words = ", ".join(filter(None, ["spec=NAME_OR_FILE[,…] (default: every spec)", more]))
    parser.add_argument("words", nargs="*", metavar="WORD", help=words)
    return parser


def _build(options: argparse.Namespace) -> Exit:
    from programsmith.compiler.build import build, default_workers

    workers = default_workers() if options.workers is None else options.workers
    return build(options.words, Path.cwd(), workers=workers, yes=options.yes, looked=options.looked)


def _prove(options: argparse.Namespace) -> Exit:
    from programsmith.compiler.build import default_workers
    from programsmith.compiler.proving import prove

    workers = default_workers() if options.workers is None else options.workers
    return prove(options.words, Path.cwd(), workers=workers)


def _read(options: argparse.Namespace) -> Exit:
    """The verbs that only look."""
    from programsmith.compiler.verbs.reading import read

    return read(options.verb, options.words, Path.cwd(), as_json=options.json)


def _export(options: argparse.Namespace) -> Exit:
    from programsmith.compiler.verbs.export import export

    return export(options.words, Path.cwd(), with_base=options.with_base)


def _verify(options: argparse.Namespace) -> Exit:
    from programsmith.compiler.verbs.verify import verify

    return verify(options.words, Path.cwd(), key=options.key, run=options.run, as_json=options.json)


def _show(options: argparse.Namespace) -> Exit:
    """`list`, `info`, `clean`, `forget`. A task's name names its spec."""
    from programsmith.compiler.compile import Compiler
    from programsmith.compiler.loader import asked_specs
    from programsmith.compiler.quiet import until_read
    from programsmith.compiler.verbs.doits import as_json, doit_verb

    until_read()
    names = [word for word in options.words if "=" not in word]
    words = [word for word in options.words if "=" in word]
    if names and not words:
        words = [f"spec={','.join(dict.fromkeys(name.partition(':')[0] for name in names))}"]
    if options.verb == "info" and len(names) != 1:
        raise InputError(f"info: wanted one task such as tally:ingest, got {len(names)}")
    asked = asked_specs(words, Path.cwd())
    if getattr(options, "json", False):
        print(as_json(names[0] if names else None, asked, Compiler()))
        return Exit.OK
    flags = [flag for flag in ("--all", "--status") if getattr(options, flag.removeprefix("--"), False)]
    return doit_verb(options.verb, flags, names, asked, Compiler())


def _yield(options: argparse.Namespace) -> Exit:
    from programsmith.compiler.loader import asked_specs
    from programsmith.goldens.yields import write_yields

    asked = asked_specs(options.words, Path.cwd())
    for path in write_yields(asked.project.root, asked.files):
        print(path)
    return Exit.OK


def _gc(options: argparse.Namespace) -> Exit:
    """Every spec of the project lives, whichever are named."""
    from programsmith.compiler.loader import asked_specs
    from programsmith.compiler.storing import collect

    print(json.dumps(collect(asked_specs(options.words, Path.cwd()).project, options.days, options.forget)))
    return Exit.OK


def _settle(options: argparse.Namespace) -> Exit:
    from programsmith.compiler.loader import asked_specs
    from programsmith.compiler.storing import reservations, settle

    asked = asked_specs(options.words, Path.cwd())
    if (options.id is None) != (options.usd is None):
        raise InputError("settle: --id and --usd belong together; without both it shows what is held")
    if options.id is None:
        print(json.dumps(reservations(asked.project, asked.files)))
    else:
        print(json.dumps(settle(asked.project, asked.files, options.id, options.usd)))
    return Exit.OK


def _adopt(options: argparse.Namespace) -> Exit:
    from programsmith.compiler.verbs.adopt import adopt

    return adopt(options.words, Path.cwd())


def _agents(options: argparse.Namespace) -> Exit:
    from programsmith.compiler.verbs.agents import agents

    return agents(options.words, Path.cwd())


def _version(options: argparse.Namespace) -> Exit:
    del options
    print(__version__)
    return Exit.OK


def _help(options: argparse.Namespace) -> Exit:
    del options
    _parser().print_help()
    return Exit.OK


VERBS: Mapping[str, Callable[[argparse.Namespace], Exit]] = MappingProxyType(
    {
        "build": _build,
        "prove": _prove,
        **dict.fromkeys(READING, _read),
        "export": _export,
        "verify": _verify,
        "list": _show,
        "info": _show,
        "clean": _show,
        "forget": _show,
        "yield": _yield,
        "gc": _gc,
        "settle": _settle,
        "agents": _agents,
        "adopt": _adopt,
        "version": _version,
        "help": _help,
    }
)
