"""Null programs in Python."""
