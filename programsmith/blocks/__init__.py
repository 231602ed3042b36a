"""The steps of the pipeline, one file each: read declared inputs, decide, write declared outputs.

No block imports another.
"""
