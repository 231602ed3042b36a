"""What starts harnesses that are installed as packages."""
