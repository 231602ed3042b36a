"""Exploits and weaknesses: what tries to score without solving, and a verifier with one defence taken away.

weak/ holds one module per defence that only a weakened verifier carries; python/, c/ and build/ hold submissions;
agent/ what runs on the agent's side; ships/ files that are handed in beside a submission.
"""
