"""What keeps a verifier ready on the host: it has started once, and forks for each grading run."""
