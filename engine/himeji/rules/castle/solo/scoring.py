"""Scoring against a rival (S-9)."""

from __future__ import annotations

from himeji.rules.castle.state import CastleGame
from himeji.rules.scoring import ScoreLine, coins_and_seals


def players_coins_and_seals(game: CastleGame, clan: int) -> int:
    """One point for so many coins and seals, but the coins of a rival give nothing (S-9)."""
    return coins_and_seals(game, clan) if clan < game.seats else 0


def without_rivals_coins(lines: tuple[ScoreLine, ...]) -> tuple[ScoreLine, ...]:
    """The same lines, where only the player scores coins and seals (S-9)."""
    return tuple(
        ScoreLine(line.name, line.rule, players_coins_and_seals)
        if line.points is coins_and_seals
        else line
        for line in lines
    )
