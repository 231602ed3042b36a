"""Programs that a bundle puts before the agent."""
