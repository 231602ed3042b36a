"""Contributors' tasks, and plain doit's view of the compiled specs. `doit` lists and never builds."""

DOIT_CONFIG = {"default_tasks": []}
