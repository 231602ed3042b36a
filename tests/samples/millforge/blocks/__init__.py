"""Blocks of the mill."""
