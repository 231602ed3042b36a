"""Does nothing and ends well."""
