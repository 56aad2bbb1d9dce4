"""What every game says of itself: the question, its answers, the points."""

from __future__ import annotations

from himeji.rules.clans import ClanGame
from himeji.rules.constants import RIVAL_GOODS


def who(game: ClanGame, clan: int) -> str:
    """A clan in words: a seat, or the rival that nobody plays."""
    return f"seat {clan}" if clan < game.seats else "the rival"


def people(game: ClanGame) -> str:
    """Who plays, and by which options."""
    seats = f"{game.seats} seat{'' if game.seats == 1 else 's'}"
    rival = " and a rival" if game.clans > game.seats else ""
    return ", ".join([seats + rival, *game.options.values()])


def goods_of(game: ClanGame, clan: int) -> list[int]:
    """The goods that a clan can hold."""
    held = game.ruleset.goods if clan < game.seats else RIVAL_GOODS
    return [good for good in game.ruleset.goods if good in held]


def asked(game: ClanGame) -> str:
    """Whose decision it is and what is asked, or how the game ended."""
    if game.to_move is not None:
        return f"seat {game.to_move} is asked to {game.stack[-1].question(game)}"
    best = [seat for seat, rank in enumerate(game.ranking()) if rank == 1]
    winners = " and ".join([who(game, clan) for clan in best])
    verb = "has" if len(best) == 1 else "have"
    return f"{winners} {verb} won with {game.scores()[best[0]]} points"


def foremost(game: ClanGame) -> int:
    """The seat that is asked, or the first winner."""
    return game.to_move if game.to_move is not None else game.ranking().index(1)


def points(game: ClanGame, seat: int) -> str:
    """The score of a clan in words."""
    score = game.scores()[seat]
    return f"{score} point{'' if score == 1 else 's'}{'' if game.over else ' so far'}"


def answers(game: ClanGame) -> list[str]:
    """The legal answers, each with its action id."""
    return [f"{action} {game.ruleset.actions.text(action)}" for action in game.legal()]
