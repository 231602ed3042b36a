"""The table program in Python."""
