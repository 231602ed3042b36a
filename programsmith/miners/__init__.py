"""Golden-case miners, one file per test format: locked source in, invocations out. A miner never decides truth."""
