"""A small pipeline with which the engine is tested: dig, wash, then scale and smell side by side, judge, sell."""
