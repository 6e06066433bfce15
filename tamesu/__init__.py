"""Tamesu: AI evaluations as experiments with evidence that can be inspected."""

__version__ = "0.1.0"
