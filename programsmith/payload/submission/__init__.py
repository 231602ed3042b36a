"""How one source file, or several, become a submission: a compile.sh per target language."""
