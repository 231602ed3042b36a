"""Probe programs in Python."""
