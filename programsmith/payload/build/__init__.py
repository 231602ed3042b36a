"""Frames of compile.sh for a submission that is the locked source: marked lines are replaced by its recipe."""
