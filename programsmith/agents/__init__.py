"""Agents: one file each, started by a trial in an open sandbox. `registry.py` lists them."""
