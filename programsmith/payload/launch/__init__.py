"""The launch server: what starts launches where the host has a C compiler."""
