"""Documents that people write: strict YAML, JSON Schema, positions."""
