"""Launchers of Python programs: templates whose marked names an installation replaces."""
