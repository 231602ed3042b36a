"""Where foreign code runs: the embedded backend, root views built from lists, the launcher's host side."""
