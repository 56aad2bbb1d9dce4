"""Matches: bots against each other over the same deals from every seat, and what that proves."""

from himeji_sdk.match.plan import Fault, GameResult, Group, Match
from himeji_sdk.match.sprt import Sprt
from himeji_sdk.match.tally import Tally

__all__ = ["Fault", "GameResult", "Group", "Match", "Sprt", "Tally"]
