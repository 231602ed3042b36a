"""From mined invocations to a proven pool: capture, gates, families, split, mutants."""
