"""The task directory in Harbor's format: rendering, sealing, reading, grading through the real path."""
