"""Preflight: what is checked before money is spent, what each finding means, and in which order it is told."""
