"""Every agent that can be started, by the name that a spec gives it."""

from __future__ import annotations

from programsmith.agents.base import Agent
from programsmith.agents.claude_code import ClaudeCode
from programsmith.agents.codex import Codex
from programsmith.agents.command import Command
from programsmith.agents.gemini_cli import GeminiCli
from programsmith.agents.harness import Harness
from programsmith.agents.mini_swe_agent import MiniSweAgent
from programsmith.agents.nop import Nop
from programsmith.agents.oracle import Oracle
from programsmith.agents.scripted import Scripted
from programsmith.errors import PrerequisiteError

HARNESSES: dict[str, Harness] = {made.name: made for made in (ClaudeCode(), Codex(), GeminiCli(), MiniSweAgent())}
AGENTS: dict[str, Agent] = {
    "nop": Nop(),
    "oracle": Oracle(),
    "scripted": Scripted(),
    "command": Command(),
    **HARNESSES,
}


def agent(name: str) -> Agent:
    """The agent of that name. Raises PrerequisiteError where this version cannot start it."""
    if name not in AGENTS:
        raise PrerequisiteError(f"agent {name}: wanted one of {', '.join(AGENTS)}; this version starts no other")
    return AGENTS[name]
