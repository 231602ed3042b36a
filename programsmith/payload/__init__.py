"""Files that run beside or inside sandboxes. They import the standard library and each other only."""
