"""Submissions in Python."""
