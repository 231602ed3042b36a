"""Static anti-cheat checks, one file each; the id is the file's name."""
