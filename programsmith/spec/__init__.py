"""The YAML that a user writes: schema, defaults, one clear line per mistake."""
