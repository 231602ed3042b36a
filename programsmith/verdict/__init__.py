"""Pure decisions: acceptance, routes, strength. Values in, values out."""
