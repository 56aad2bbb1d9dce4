"""What every game says of itself: the question, its answers, the points."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from himeji.rules.clans import ClanGame
from himeji.rules.constants import RIVAL_GOODS

_UNCONFIRMED: Final[ContextVar[int | None]] = ContextVar("unconfirmed", default=None)
"""Not an argument, because everything that draws takes a game, and few parts need this."""


@contextmanager
def unconfirmed_turn(seat: int | None) -> Iterator[None]:
    """Draw a turn that this seat has planned and not confirmed: it is the one that decides."""
    token = _UNCONFIRMED.set(seat)
    try:
        yield
    finally:
        _UNCONFIRMED.reset(token)


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
    seat = _UNCONFIRMED.get()
    if seat is not None:
        return f"seat {seat} has not confirmed this turn yet"
    if game.to_move is not None:
        return f"seat {game.to_move} is asked to {game.stack[-1].question(game)}"
    best = [seat for seat, rank in enumerate(game.ranking()) if rank == 1]
    winners = " and ".join([who(game, clan) for clan in best])
    verb = "has" if len(best) == 1 else "have"
    return f"{winners} {verb} won with {game.scores()[best[0]]} points"


def decider(game: ClanGame) -> int | None:
    """The seat that decides now, None when the game is over."""
    seat = _UNCONFIRMED.get()
    return game.to_move if seat is None else seat


def foremost(game: ClanGame) -> int:
    """The seat that is asked, or the first winner."""
    seat = decider(game)
    return seat if seat is not None else game.ranking().index(1)


def points(game: ClanGame, seat: int) -> str:
    """The score of a clan in words."""
    score = game.scores()[seat]
    return f"{score} point{'' if score == 1 else 's'}{'' if game.over else ' so far'}"


def answers(game: ClanGame) -> list[str]:
    """The legal answers, each with its action id; none before a turn is confirmed."""
    if _UNCONFIRMED.get() is not None:
        return []
    return [f"{action} {game.ruleset.actions.text(action)}" for action in game.legal()]
