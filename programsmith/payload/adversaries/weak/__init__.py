"""One module per defence; its `remove` takes that defence, and nothing else, out of the verifier that carries it.

A shipped verifier holds none of these modules and reads no switch: weakening means another program, whose digest is
another one.
"""
