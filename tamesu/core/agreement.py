"""How far two raters agree on the same yes/no verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from tamesu.core.stats import LEVEL, Interval, normal_quantile

FEWEST_PAIRS = 10


@dataclass(frozen=True, slots=True)
class Agreement:
    """Verdicts that two raters gave on the same things.

    `agreeing` of `n` pairs are the same, `both_yes` and `both_no` of them in that way. `kappa` is Cohen's, agreement
    beyond chance, with its 95 % interval; `reason` says why one of the two is None.
    """

    n: int
    both_yes: int
    both_no: int
    kappa: float | None
    interval: Interval | None
    reason: str | None = None

    @property
    def agreeing(self) -> int:
        return self.both_yes + self.both_no

    @property
    def raw(self) -> float | None:
        """The share of pairs with the same verdict; None without pairs."""
        return self.agreeing / self.n if self.n else None


def agreement(pairs: Iterable[tuple[bool, bool]]) -> Agreement:
    """Return how far two raters agree on pairs of verdicts (first, second).

    Kappa: Cohen 1960, Educational and Psychological Measurement 20, 37-46. Its interval: the large-sample
    variance of Fleiss, Cohen & Everitt 1969, Psychological Bulletin 72, 323-327.
    """
    verdicts = list(pairs)
    n = len(verdicts)
    both_yes, both_no = verdicts.count((True, True)), verdicts.count((False, False))
    if n < FEWEST_PAIRS:
        return Agreement(n, both_yes, both_no, None, None, f"{n} of the {FEWEST_PAIRS} pairs that it takes")
    if n in (both_yes, both_no):
        return Agreement(n, both_yes, both_no, None, None, "both gave one and the same verdict throughout")
    kappa, variance = _kappa(both_yes, both_no, verdicts.count((True, False)), n)
    if variance <= 0:
        return Agreement(n, both_yes, both_no, kappa, None, "no interval: its variance is 0 for these verdicts")
    half = normal_quantile((1 + LEVEL) / 2) * sqrt(variance)
    interval = Interval(max(-1.0, kappa - half), min(1.0, kappa + half))
    return Agreement(n, both_yes, both_no, kappa, interval)


def _kappa(both_yes: int, both_no: int, only_first: int, n: int) -> tuple[float, float]:
    """Return kappa and its large-sample variance."""
    cells = ((both_yes / n, only_first / n), ((n - both_yes - both_no - only_first) / n, both_no / n))
    first = (cells[0][0] + cells[0][1], cells[1][0] + cells[1][1])
    second = (cells[0][0] + cells[1][0], cells[0][1] + cells[1][1])
    observed = cells[0][0] + cells[1][1]
    chance = sum(a * b for a, b in zip(first, second, strict=True))
    beyond = 1 - chance
    kappa = (observed - chance) / beyond
    same = sum(cells[i][i] * (1 - (first[i] + second[i]) * (1 - kappa)) ** 2 for i in (0, 1))
    other = sum(cells[i][1 - i] * (second[i] + first[1 - i]) ** 2 for i in (0, 1)) * (1 - kappa) ** 2
    spread = same + other - (kappa - chance * (1 - kappa)) ** 2
    return kappa, spread / beyond**2 / n if spread > 1e-12 else 0.0
