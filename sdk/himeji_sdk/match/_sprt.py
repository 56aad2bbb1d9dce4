"""The sequential test: whether a bot is stronger, decided as soon as the games show it.

It is the generalised sequential probability ratio test of Michel Van den Bergh (the one that
chess engines are tested with): the score of a whole duplicate group is one observation, its
distribution is estimated as it comes, and both hypotheses are the likeliest distributions with the
mean that they claim. Groups are independent of each other, the games of one group are not.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

from himeji.rules.errors import InvalidRequest

# An outcome that was not seen yet is not impossible. So small a count moves no result.
_UNSEEN: Final = 1e-3
_HALVINGS: Final = 40  # of an interval that is a few units wide


def score_of_elo(elo: float) -> float:
    """The score that a difference in Elo predicts: 0.5 for 0."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo_of_score(score: float) -> float:
    """The difference in Elo that a score shows; infinite for 0 and 1."""
    if score in (0.0, 1.0):
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))


class Sprt:
    """Tests "at most `elo0` stronger" against "at least `elo1` stronger", a group at a time.

    If the first is true, it is rejected with probability `alpha`; if the second, with `beta`.
    """

    def __init__(
        self, elo0: float = 0.0, elo1: float = 20.0, alpha: float = 0.05, beta: float = 0.05
    ) -> None:
        if elo0 >= elo1:
            raise InvalidRequest(f"elo0 must be below elo1, they are {elo0:g} and {elo1:g}")
        if not (0 < alpha < 0.5 and 0 < beta < 0.5):
            raise InvalidRequest("the probabilities of error lie between 0 and 0.5")
        self.elo0, self.elo1, self.alpha, self.beta = elo0, elo1, alpha, beta
        self.lower = math.log(beta / (1 - alpha))
        self.upper = math.log((1 - beta) / alpha)
        self._seen: Counter[float] = Counter({0.0: 0, 1.0: 0})

    def add(self, score: float) -> None:
        """Count a group in which the bot had this score, 0 to 1."""
        self._seen[score] += 1

    @property
    def llr(self) -> float:
        """The logarithm of the likelihood ratio: rises when the bot seems stronger."""
        if not self._seen.total():
            return 0.0
        counts = {score: count or _UNSEEN for score, count in self._seen.items()}
        mean0, mean1 = score_of_elo(self.elo0), score_of_elo(self.elo1)
        tilt0, tilt1 = _tilt(counts, mean0), _tilt(counts, mean1)
        return sum(
            count * math.log((1 + tilt0 * (score - mean0)) / (1 + tilt1 * (score - mean1)))
            for score, count in counts.items()
        )

    @property
    def verdict(self) -> str:
        """Which one is accepted: "elo0", "elo1", or empty as long as nobody knows."""
        llr = self.llr
        if llr >= self.upper:
            return "elo1"
        return "elo0" if llr <= self.lower else ""


def _tilt(counts: dict[float, float], mean: float) -> float:
    """The number t for which weights count / (1 + t * (score - mean)) have that mean.

    These weights are the likeliest distribution with the mean. The sum below falls with t, and
    the weights stay positive between the two bounds.
    """
    low, high = -1 / (max(counts) - mean), -1 / (min(counts) - mean)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        moment = sum(
            count * (score - mean) / (1 + middle * (score - mean))
            for score, count in counts.items()
        )
        low, high = (middle, high) if moment > 0 else (low, middle)
    return (low + high) / 2
