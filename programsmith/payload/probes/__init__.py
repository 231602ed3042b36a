"""Probe programs: what the static checks run in the build and run stages, one folder per target language."""
