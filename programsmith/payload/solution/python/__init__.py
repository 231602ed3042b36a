"""The wrapper in Python."""
