"""Honest variants of the oracle: a golden that one of them fails asks too much."""
