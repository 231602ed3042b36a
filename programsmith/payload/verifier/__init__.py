"""The verifier program: receives a submission, builds it, runs every case, compares, writes one reward."""
