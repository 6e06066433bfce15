"""Quantiles of Student's t distribution, without a library that takes longer to import than a report to write."""

from __future__ import annotations

from math import atan, cos, exp, fsum, lgamma, pi, sin, sqrt, tan
from statistics import NormalDist

# From here on four terms of the expansion in 1/freedom are exact to the last digits; below, the sum is short.
_MANY = 1000
_STEPS = 60
_EXACT = 4e-16


def student_quantile(freedom: int, probability: float) -> float:
    """Return t with P(T <= t) = probability for `freedom` >= 1 and a probability from 0.5 to below 1.

    Abramowitz & Stegun 1964: 26.7.3 and 26.7.4 solved by Newton's method, 26.7.5 for large `freedom`.
    """
    normal = NormalDist().inv_cdf(probability)
    if freedom >= _MANY:
        return _expansion(freedom, normal)
    wanted = 2 * probability - 1
    # The probability is concave in the angle and t exceeds the normal quantile, so every step stays below the root.
    angle = atan(normal / sqrt(freedom))
    slope = 2 / sqrt(pi) * exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2))
    for _ in range(_STEPS):
        step = (wanted - _within(freedom, angle)) / (slope * cos(angle) ** (freedom - 1))
        angle += step
        if abs(step) <= _EXACT * angle:
            break
    return sqrt(freedom) * tan(angle)


def _within(freedom: int, angle: float) -> float:
    """Return P(|T| <= sqrt(freedom) * tan(angle))."""
    square = sin(angle) ** 2
    odd = freedom % 2
    term = cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(2 + odd, freedom - 1, 2):
        term -= term / k
        term -= term * square  # times cos^2, whose distance from 1 would be rounded away
        total += term
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def _expansion(freedom: int, z: float) -> float:
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return z + fsum(term / float(freedom) ** power for power, term in enumerate(terms, start=1))
