"""Rounds: whose turn it is, the end of a round, the end of the game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from himeji.rules.castle.components import Row
from himeji.rules.castle.constants import ACTIVATE, EFFECT, GARDENS, ROUND_BEGAN, TURN_ORDER_SET
from himeji.rules.castle.icons import perform, price_refusal
from himeji.rules.castle.state import CastleGame
from himeji.rules.castle.turn import TakeDie
from himeji.rules.clans import FinalExchange
from himeji.rules.constants import COLOUR_NAMES, DONE, INFLUENCE
from himeji.rules.game import ROLL, Step
from himeji.rules.scoring import end_game

PRICE: Final = 1


def begin_turn(game: CastleGame, seat: int) -> None:
    """A turn of a seat."""
    game.stack.append(TakeDie(seat))


def next_step(game: CastleGame) -> None:
    """The next turn in turn order, or the end of the round (B-2.1)."""
    if not round_is_over(game):
        seat = game.order[game.turn % game.clans]
        game.turn += 1
        game.rules.begin_turn(game, seat)
    else:
        game.stack.extend(Phase(number) for number in range(len(phases_now(game)) - 1, -1, -1))


def phases_now(game: CastleGame) -> Sequence[Callable[[Any], None]]:
    """What happens at the end of this round, in order."""
    last = game.round == game.rules.rounds
    return game.rules.game_end if last else game.rules.round_end


def round_is_over(game: CastleGame) -> bool:
    """Whether every turn of the round has begun."""
    return game.turn == game.clans * game.rules.turns


class Phase(Step):
    """One of the named things that happen at the end of a round or of the game."""

    def __init__(self, number: int) -> None:
        super().__init__(-1, "B-7.1")
        self.number = number

    def fault(self, game: CastleGame) -> str:
        if self.number >= len(phases_now(game)):
            return "there is no such phase"
        return "" if round_is_over(game) else "the round is not over (B-2.1)"

    def run(self, game: CastleGame) -> None:
        phases_now(game)[self.number](game)


def set_turn_order(game: CastleGame) -> None:
    """Farthest marker first; on one space the higher marker first (B-7.1)."""
    markers = game.markers
    game.order = tuple(
        sorted(
            range(game.clans),
            key=lambda seat: (-game.has(seat, INFLUENCE), -markers.index(seat)),
        )
    )
    for place, seat in enumerate(game.order):
        game.note(TURN_ORDER_SET, seat, place, 0, "B-7.1")


def gardens(game: CastleGame) -> None:
    """In the new turn order, each seat's gardens whose bridge still holds a die (B-7.2)."""
    game.stack.extend(GardensOfSeat(seat) for seat in reversed(game.order))


class GardensOfSeat(Step):
    """A seat's part of the garden step begins: its gardens are fixed now (B-7.2)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "B-7.2")

    def fault(self, game: CastleGame) -> str:
        return "" if in_garden_step(game) else "gardens come after rounds 1 and 2 (B-7.2)"

    def run(self, game: CastleGame) -> None:
        """Offer those whose bridge holds a die."""
        mask = gardens_in_step(game, self.seat)
        if mask:
            game.stack.append(ActivateGardens(self.seat, mask))


def in_garden_step(game: CastleGame) -> bool:
    """Whether a round has ended that is not the last, and the next one is still to come (B-7.2)."""
    ending = isinstance(game.stack[0], Phase) and round_is_over(game)
    return ending and game.round < game.rules.rounds


def gardens_in_step(game: CastleGame, clan: int) -> int:
    """The gardens of a clan whose bridge still holds a die, as a bit mask."""
    mask = 0
    for garden in range(GARDENS):
        colour = garden >> 1
        if game.left[colour] or game.right[colour]:
            mask |= 1 << garden
    return mask & game.gardeners[clan]


class ActivateGardens(Step):
    """Gardens at the end of a round: each once, in the owner's order, each optional (B-7.2)."""

    def __init__(self, seat: int, gardens: int) -> None:
        super().__init__(seat, "B-7.2")
        self.gardens = gardens  # bit mask

    def fault(self, game: CastleGame) -> str:
        held = self.gardens & ~game.gardeners[self.seat] == 0
        return "" if held and in_garden_step(game) else "no such garden is to be activated (B-7.2)"

    def row(self, game: CastleGame, action: int) -> Row:
        """The face of the garden that an answer names."""
        return game.tables.of(game.gardens[action - ACTIVATE]).rows[0]

    def candidates(self, game: CastleGame) -> Sequence[int]:
        """The gardens that are left."""
        left = [ACTIVATE + garden for garden in range(GARDENS) if self.gardens >> garden & 1]
        return (DONE, *left)

    def blocked(self, game: CastleGame, action: int) -> int:
        """Its price must be paid."""
        if action == DONE:
            return 0
        row = self.row(game, action)
        return PRICE if game.has(self.seat, row.cost_good) < row.cost else 0

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        return price_refusal(game, self.seat, self.row(game, action)), "B-7.2"

    def question(self, game: CastleGame) -> str:
        """Ask for a garden."""
        return "activate a garden"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Perform one; the others stay on offer."""
        if action == DONE:
            return
        garden = action - ACTIVATE
        rest = self.gardens & ~(1 << garden)
        if rest:
            game.stack.append(ActivateGardens(self.seat, rest))
        game.note(EFFECT, self.seat, game.gardens[garden], 0, "B-7.2")
        perform(game, self.seat, self.row(game, action), "B-7.2")


def next_round(game: CastleGame) -> None:
    """All dice return; the dice of the next round are rolled and laid out (B-7.2, B-2.2)."""
    game.round += 1
    game.turn = 0
    game.spaces = [()] * len(game.spaces)
    game.domain_dice = [0] * len(game.domain_dice)
    roll_dice(game)


def roll_dice(game: CastleGame) -> None:
    """Roll the dice of each colour and lay them ascending on their bridge (B-2.2)."""
    game.note(ROUND_BEGAN, -1, game.round, 0, "B-2.2")
    dice = game.rules.dice_per_colour[game.clans]
    for colour in game.rules.colours:
        values = []
        for number in range(1, dice + 1):
            slot = f"castle/round-{game.round}/die/{COLOUR_NAMES[colour]}/{number}"
            value = game.chance.roll(slot, 6)
            game.note(ROLL, -1, colour, value, "B-2.2")
            values.append(value)
        values.sort()
        game.left[colour] = values[0]
        game.centre[colour] = tuple(values[1:-1])
        game.right[colour] = values[-1]


def last_exchanges(game: CastleGame) -> None:
    """After the last round each seat that holds a seal is asked, in turn order (B-6.3)."""
    game.stack.extend(LastExchange(seat) for seat in reversed(game.order) if seat < game.seats)


class LastExchange(FinalExchange):
    """After the last round (B-6.3)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "B-6.3")

    def fault(self, game: CastleGame) -> str:
        last = game.round == game.rules.rounds and round_is_over(game)
        ending = last and isinstance(game.stack[0], Phase)
        return "" if ending else "the last round is not over (B-6.3)"


def finish(game: CastleGame) -> None:
    """The game is over: score it (B-7.4, B-7.5)."""
    end_game(game, "B-7.5")
