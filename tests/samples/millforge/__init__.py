"""A pipeline with trials, batches and revisions, whose every action leaves its trace."""
