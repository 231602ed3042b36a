"""No way out, in either phase: a probe in the build stage and in the run stage reaches nothing on the host.

It is let loose in the stages of this installation, and once more by the bundle's own verifier, which grades it. The
same probe outside every sandbox must reach the listeners, or the check knows nothing. A way counts as shut only where
the probe says so and no listener heard of it; what a graded case says nobody hears, so there the listeners tell.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from programsmith.bundle.controls import Files
from programsmith.bundle.render import PAYLOAD
from programsmith.checks.base import Row, Scene, first
from programsmith.checks.listeners import Listeners, listening
from programsmith.checks.stages import built, graded, launchers, probe, ran, some
from programsmith.errors import InfraError
from programsmith.payload.verifier.model import FileEntry

NEEDED = ("tcp:loopback", "udp:loopback", "abstract", "socket")


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:
    """Try every way in both stages."""
    with listening() as host:
        control = _said(host, _unsandboxed(host, parameters["seconds"]))
        ways = sorted(way for way, end in control.items() if end == "open")
        missing = [way for way in NEEDED if way not in ways]
        if missing:
            raise InfraError(f"egress: the probe outside every sandbox does not reach {missing[0]}: the host blocks it")
        host.heard.clear()
        stages = {stage: _said(host, text) for stage, text in _sandboxed(scene, host).items()}
        stages["verifier's build"] = _said(host, _graded(scene, host))
        heard = dict(host.heard)
    found = [
        f"{way} is {said.get(way, 'not tried')} in the {stage} stage"
        for stage, said in stages.items()
        for way in ways
        if said.get(way) != "shut"
    ]
    found += [f"a listener heard {kind}" for kind in sorted(heard)]
    return Row(
        passed=not found,
        reason=first(found, f"{len(ways)} ways out are shut in both stages", "egress"),
        evidence={"ways": ways, "stages": stages, "heard": heard, "faults": found},
    )


def _unsandboxed(host: Listeners, seconds: float) -> bytes:
    words = [sys.executable, "-I", str(PAYLOAD / "probes" / "python" / "egress.py"), *host.words()]
    try:
        return subprocess.run(words, capture_output=True, check=True, timeout=seconds, stdin=subprocess.DEVNULL).stdout
    except (subprocess.SubprocessError, OSError) as fault:
        raise InfraError(f"egress: the probe does not run outside the sandbox: {fault}") from fault


def _sandboxed(scene: Scene, host: Listeners) -> dict[str, bytes]:
    with launchers(scene) as found:
        done = built(scene, found, _submission(scene, host))
        return {"build": done.log, "run": ran(scene, found, done.tree, ()).stdout}


def _graded(scene: Scene, host: Listeners) -> bytes:
    return graded(scene, {"graded": _submission(scene, host)}, some(scene, 1))["graded"].log


def _submission(scene: Scene, host: Listeners) -> Files:
    arguments = FileEntry(b"arguments.txt", content=" ".join(host.words()).encode() + b"\n")
    return (*probe(scene, "egress", "egress.sh"), arguments)


def _said(host: Listeners, output: bytes) -> dict[str, str]:
    """Way to `open` or `shut`, of the lines that a probe printed; addresses by what they are, not by their digits."""
    names = {address: name for name, address in host.addresses.items()}
    found = {}
    for line in output.decode("ascii", "replace").splitlines():
        way, _, end = line.partition(" ")
        kind, _, address = way.partition(":")
        if end.split(" ")[0] in {"open", "shut"}:
            found[f"{kind}:{names.get(address, address)}" if address else kind] = end.split(" ")[0]
    return found
