"""The recipe of a language's base image, for an engine that has no registry."""
