"""What was found out about an environment, as text for a person. Values in, text out."""
