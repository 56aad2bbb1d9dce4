"""Rounds: whose turn it is, maintenance between the rounds, the end of the game (D-5.1)."""

from __future__ import annotations

from himeji.rules.clans import FinalExchange
from himeji.rules.duel.constants import RETURN, ROUND_BEGAN, SEATS, TURNS
from himeji.rules.duel.state import DuelGame
from himeji.rules.duel.turn import MoveToken
from himeji.rules.game import Step
from himeji.rules.scoring import end_game


def begin_round(game: DuelGame, number: int) -> None:
    """A round begins; the seat with the Starting Player marker is first."""
    game.round, game.turn = number, 0
    game.note(ROUND_BEGAN, game.starter, number, 0, "D-5.1")


def next_step(game: DuelGame) -> None:
    """The next turn; after the Outgoing round maintenance, after the Return round the end."""
    if game.turn < TURNS:
        seat = (game.starter + game.turn) % SEATS
        game.turn += 1
        game.stack.append(MoveToken(seat, swap=True))
    elif game.round < RETURN:
        game.starter = 1 - game.starter
        begin_round(game, RETURN)
    else:
        game.stack.append(EndOfGame())
        game.stack.append(LastExchange(1 - game.starter))
        game.stack.append(LastExchange(game.starter))


def is_played_out(game: DuelGame) -> bool:
    """Whether all 24 turns have begun."""
    return game.round == RETURN and game.turn == TURNS


class LastExchange(FinalExchange):
    """After the last turn (D-7.1)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "D-7.1")

    def fault(self, game: DuelGame) -> str:
        return "" if is_played_out(game) else "not all turns have been played (D-7.1)"


class EndOfGame(Step):
    """After the last exchanges: final scoring (D-9.1)."""

    def __init__(self) -> None:
        super().__init__(-1, "D-9.1")

    def fault(self, game: DuelGame) -> str:
        return "" if is_played_out(game) else "not all turns have been played (D-5.1)"

    def run(self, game: DuelGame) -> None:
        end_game(game, "D-9.1")
