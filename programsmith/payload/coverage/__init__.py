"""Programs that record which lines of the oracle a case executes."""
