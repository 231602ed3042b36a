"""Blocks of the small pipeline."""
