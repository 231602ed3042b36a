"""Scripted adversaries: exploits that each name the one defence that stops them, and are proven live without it."""
