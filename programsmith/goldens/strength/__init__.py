"""How strong a pool is: seeded mutants of the oracle, the cases that kill each, the lines that each case executes."""
