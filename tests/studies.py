"""Seeded studies drawn from models whose truth is known, to see how often an interval holds it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from zlib import crc32

import numpy as np
from numpy.random import Generator
from scipy.special import betaincinv

from tamesu.core.stats import Observation

STUDIES = 2000
Draw = Callable[[Generator, int], np.ndarray]


def generator_for(*name: object) -> Generator:
    """Return a generator whose seed is the name, the same on every machine."""
    return np.random.default_rng(crc32(repr(name).encode()))


def observe(values: np.ndarray) -> list[Observation]:
    """Return the observations of a matrix of items x repetitions."""
    items, repetitions = values.shape
    return list(map(Observation, _names(items, repetitions), values.ravel().tolist()))


@cache
def _names(items: int, repetitions: int) -> tuple[str, ...]:
    """Return whose each observation is; thousands of studies share it."""
    return tuple(f"i{item}" for item in range(items) for _ in range(repetitions))


def chances(generator: Generator, items: int, rate: float, correlation: float) -> np.ndarray:
    """Return each item's chance of success, whose repetitions then have the given intra-item correlation."""
    if correlation == 0:
        return np.full(items, rate)
    spread = 1 / correlation - 1
    return generator.beta(rate * spread, (1 - rate) * spread, items)


def trials(generator: Generator, chance: np.ndarray, repetitions: int) -> np.ndarray:
    """Return 0 or 1 for every item and repetition."""
    return (generator.random((len(chance), repetitions)) < chance[:, None]).astype(float)


def correlated_chances(
    generator: Generator, items: int, rates: tuple[float, float], correlation: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the chances of two arms, half of the items being equally hard for both."""
    spread = 1 / correlation - 1
    place = generator.random(items)
    other = np.where(generator.random(items) < 0.5, place, generator.random(items))
    first, second = (
        betaincinv(rate * spread, (1 - rate) * spread, at) for rate, at in zip(rates, (place, other), strict=True)
    )
    return first, second


# Scores between 0 and 1 by name: how they are drawn, and their mean.
SCORES: dict[str, tuple[Draw, float]] = {
    "even": (lambda g, n: g.beta(2, 2, n), 0.5),
    "two-peaked": (lambda g, n: g.beta(0.5, 0.5, n), 0.5),
    "narrow": (lambda g, n: g.beta(50, 50, n), 0.5),
    "mostly high": (lambda g, n: g.beta(5, 1, n), 5 / 6),
    "mostly low": (lambda g, n: g.beta(0.5, 5, n), 1 / 11),
    "quarters": (lambda g, n: g.choice([0, 0.25, 0.5, 0.75, 1], n, p=[0.05, 0.05, 0.1, 0.2, 0.6]), 0.8125),
    "full or partial": (lambda g, n: np.where(g.random(n) < 0.8, 1.0, g.random(n)), 0.9),
}

# Pairs of scores on the same items by name: how they are drawn, and the mean difference.
PAIRS: dict[str, tuple[Callable[[Generator, int], tuple[np.ndarray, np.ndarray]], float]] = {
    "shifted": (lambda g, n: _shifted(g, n), 0.1),
    "unrelated": (lambda g, n: (g.beta(4, 2, n), g.beta(2, 2, n)), 2 / 3 - 0.5),
    "skewed": (lambda g, n: (g.beta(5, 0.7, n), g.beta(3, 1, n)), 5 / 5.7 - 0.75),
    "seldom different": (lambda g, n: (np.where(g.random(n) < 0.3, g.random(n), 1.0), np.ones(n)), -0.15),
    "both seldom partial": (lambda g, n: (_partial(g, n), _partial(g, n)), 0.0),
}


def _shifted(generator: Generator, items: int) -> tuple[np.ndarray, np.ndarray]:
    base = generator.beta(8, 12, items)
    return base + 0.1 + generator.uniform(-0.1, 0.1, items) * np.minimum(base, 1 - base - 0.1), base


def _partial(generator: Generator, items: int) -> np.ndarray:
    return np.where(generator.random(items) < 0.3, generator.random(items), 1.0)
