"""Null programs: submissions that solve nothing, one folder per target language."""
