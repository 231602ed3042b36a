"""Where a source comes from, exported object by object; licences and overlap with known benchmarks."""
