"""Matches: bots against each other over the same deals from every seat, and what that proves.

>>> from himeji_sdk.match import Match, MatchRunner, Tally
>>> match = Match(("random", "random"), seed=7)
>>> runner, tally = MatchRunner(match), Tally(match)
>>> scores = tally.add(runner.play(0))
>>> tally.games
2
"""

from himeji_sdk.match._match import Fault, GameResult, Group, Match, MatchRunner
from himeji_sdk.match._sprt import Sprt
from himeji_sdk.match._tally import Standing, Tally

__all__ = [
    "Fault",
    "GameResult",
    "Group",
    "Match",
    "MatchRunner",
    "Sprt",
    "Standing",
    "Tally",
]
