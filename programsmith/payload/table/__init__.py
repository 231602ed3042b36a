"""The table submission: ordinary programs that answer every graded invocation from a file, one per target language."""
