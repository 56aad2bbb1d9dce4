"""Ratings: a normal distribution over how well a bot plays, moved by the ranks of each game."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from openskill.models import PlackettLuce

MEAN: Final = 25.0
UNCERTAINTY: Final = MEAN / 3
"""What is known of a beginner."""

BETA: Final = MEAN / 6
"""How much luck and form move a single game: at this distance the better one wins 76 of 100."""

TAU: Final = MEAN / 300
"""How much a bot may have changed between two games; it keeps uncertainty from dying out."""

CAUTION: Final = 3.0
"""How many uncertainties the standings take off the mean, so that a few lucky games do not lead."""

REFERENCE_UNCERTAINTY: Final = 1e-3


class Rating(NamedTuple):
    """What is known of a bot's strength."""

    mean: float = MEAN
    uncertainty: float = UNCERTAINTY

    @property
    def conservative(self) -> float:
        """The cautious estimate by which standings are ordered."""
        return self.mean - CAUTION * self.uncertainty


BEGINNER: Final = Rating()
REFERENCE: Final = Rating(MEAN, REFERENCE_UNCERTAINTY)
"""The rival of a solitaire ruleset: it never learns, so it keeps the mean of a beginner."""


def _whole(*_: object, **__: object) -> float:
    """The factor gamma of the update: 1, so that a game counts in full with any number of seats."""
    return 1.0


_MODEL: Final = PlackettLuce(mu=MEAN, sigma=UNCERTAINTY, beta=BETA, tau=TAU, gamma=_whole)


def updated(before: Sequence[Rating], ranks: Sequence[int]) -> list[Rating]:
    """The ratings after a game with these ranks, 1 for the best, equal ranks shared."""
    teams = [[_MODEL.rating(mu=each.mean, sigma=each.uncertainty)] for each in before]
    after = _MODEL.rate(teams, ranks=[float(rank) for rank in ranks])
    return [Rating(team[0].mu, team[0].sigma) for team in after]


def updated_alone(before: Rating, *, rank: int, rivals_rank: int) -> Rating:
    """The rating of a lone bot after a game against the rival, whose rating stays."""
    return updated([before, REFERENCE], [rank, rivals_rank])[0]


def inherited(parent: Rating) -> Rating:
    """What is known of a new version: it begins where its parent stood, and may be anything."""
    return Rating(parent.mean, UNCERTAINTY)


def carried_over(last: Rating, share: float) -> Rating:
    """The rating at the start of a season: a share of the distance from a beginner is kept."""
    return Rating(MEAN + share * (last.mean - MEAN), UNCERTAINTY)
