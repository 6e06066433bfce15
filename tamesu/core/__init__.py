"""Pure functions from values to values: no paths, clock, environment or globals."""
