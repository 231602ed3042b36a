"""Counts, sums, groups, joins and lays out delimited text."""

VERSION = "1.0.0"
