"""What a table cannot say of a submission, in Python."""
