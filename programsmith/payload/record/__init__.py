"""The stand-in that records the calls of a test suite."""
