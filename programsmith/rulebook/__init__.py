"""Rule files: packaged defaults, overridden file by file by the project's rules folder."""
