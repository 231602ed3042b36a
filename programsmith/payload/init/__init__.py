"""The first process of a sandbox (C, and a Python twin), and the witness that tries to break out."""
