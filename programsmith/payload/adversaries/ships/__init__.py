"""Files that are handed in beside a submission, under another name."""
