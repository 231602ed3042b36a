"""The oracle as an agent may ask it: the command that asks, the words on the way, the side that runs and counts."""
