"""Matches: bots against each other over the same deals from every seat, and what that proves."""

from himeji_sdk.match._match import Fault, GameResult, Group, Match
from himeji_sdk.match._sprt import Sprt
from himeji_sdk.match._tally import Tally

__all__ = ["Fault", "GameResult", "Group", "Match", "Sprt", "Tally"]
