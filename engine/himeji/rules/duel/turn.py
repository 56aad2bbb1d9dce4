"""A turn: a swap of tiles, a token, the Lantern reward, two adjacent actions (D-5.2 to D-5.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.constants import COLOUR_NAMES, SWAP
from himeji.rules.duel.actions import BESIDE
from himeji.rules.duel.cards import blocked_deck, buy, explain_deck
from himeji.rules.duel.constants import (
    ACTION_NAMES,
    ACTIVATION_SLOTS,
    COLOURS,
    DECLINE,
    DO,
    LOCATION_NAMES,
    LOCATIONS,
    OUTGOING,
    PLACE,
    SLOT_NAMES,
    SWAP_TILES,
    SWAPS,
    TAKE,
    TILES_SWAPPED,
    TOKEN_PLACED,
    TOKEN_TAKEN,
)
from himeji.rules.duel.lanterns import activate
from himeji.rules.duel.state import DuelGame
from himeji.rules.duel.well import Well
from himeji.rules.game import Step

NO_TOKEN: Final = 1  # blocked: no such token on the own lantern
TILE_COLOUR: Final = 2  # blocked: the location tile has that colour
IN_STACK: Final = 3  # blocked: the stack holds that colour
EMPTY: Final = 4  # blocked: no token lies there
NO_SWAP: Final = 5  # blocked: no swap tile
SWAPPED: Final = 6  # blocked: a swap tile was used in this turn
IMPOSSIBLE: Final = 7  # blocked: nothing of the action can be done

_SWAPS: Final = tuple(range(SWAP_TILES, SWAP_TILES + len(SWAPS)))
_OUTGOING: Final = (*range(PLACE, PLACE + COLOURS * LOCATIONS), *_SWAPS)
_RETURN: Final = (*range(TAKE, TAKE + LOCATIONS), *_SWAPS)


class MoveToken(Step):
    """Place or take a token (D-5.3); before it, once, two activation tiles may change (D-5.2)."""

    def __init__(self, seat: int, *, swap: bool) -> None:
        super().__init__(seat, "D-5.3")
        self.swap = swap  # whether tiles may still be swapped

    def fault(self, game: DuelGame) -> str:
        if game.turn == 0:
            return "no turn of the round has begun (D-5.1)"
        mine = (game.starter + game.turn - 1) % 2 == self.seat
        return "" if mine else f"turn {game.turn} is not that of seat {self.seat} (D-5.1)"

    def candidates(self, game: DuelGame) -> Sequence[int]:
        """Every move of the round, and every swap."""
        return _OUTGOING if game.round == OUTGOING else _RETURN

    def blocked(self, game: DuelGame, action: int) -> int:
        """What the round allows."""
        if action >= SWAP_TILES:
            if not self.swap:
                return SWAPPED
            return 0 if game.has(self.seat, SWAP) else NO_SWAP
        if action >= TAKE:
            return 0 if game.stacks[action - TAKE] else EMPTY
        colour, location = divmod(action - PLACE, LOCATIONS)
        if game.tokens[self.seat * COLOURS + colour] == 0:
            return NO_TOKEN
        stack = game.stacks[location]
        if stack:
            return IN_STACK if colour in stack else 0
        return TILE_COLOUR if game.tables.of(game.locations[location]).colour == colour else 0

    def explain(self, game: DuelGame, action: int, block: int) -> tuple[str, str]:
        if block == SWAPPED:
            return "one swap tile may be used in a turn", "D-5.2"
        if block == NO_SWAP:
            return f"seat {self.seat} has no swap tile", "D-5.2"
        if block == EMPTY:
            return f"no token lies on {LOCATION_NAMES[action - TAKE]}", "D-5.3"
        colour, location = divmod(action - PLACE, LOCATIONS)
        name, where = COLOUR_NAMES[colour], LOCATION_NAMES[location]
        if block == NO_TOKEN:
            return f"seat {self.seat} has no {name} token left", "D-5.3"
        if block == IN_STACK:
            return f"a {name} token lies on {where} already", "D-5.3"
        return f"the tile of the empty {where} is {name}", "D-5.3"

    def question(self, game: DuelGame) -> str:
        """Ask for the token."""
        return "place a token" if game.round == OUTGOING else "take a token"

    def resolve(self, game: DuelGame, action: int) -> None:
        """Swap tiles, or move a token: then its Lantern reward, then the adjacent actions."""
        if action >= SWAP_TILES:
            swap_tiles(game, self.seat, *SWAPS[action - SWAP_TILES])
            game.stack.append(MoveToken(self.seat, swap=False))
            return
        if action >= TAKE:
            location = action - TAKE
            covered = take_token(game, self.seat, location)
        else:
            colour, location = divmod(action - PLACE, LOCATIONS)
            covered = place_token(game, self.seat, colour, location)
        game.stack.append(Adjacent(self.seat, game.rules.adjacent[location]))
        activate(game, self.seat, covered, "D-5.4")


def swap_tiles(game: DuelGame, seat: int, one: int, other: int) -> None:
    """Discard a swap tile, exchange two activation tiles (D-5.2)."""
    game.pay(seat, SWAP, 1, "D-5.2")
    game.slots[one], game.slots[other] = game.slots[other], game.slots[one]
    game.note(TILES_SWAPPED, seat, one, other, "D-5.2")


def place_token(game: DuelGame, seat: int, colour: int, location: int) -> int:
    """Put a token on a stack; the colour that it covers (D-5.4)."""
    stack = game.stacks[location]
    covered = stack[-1] if stack else game.tables.of(game.locations[location]).colour
    game.tokens[seat * COLOURS + colour] -= 1
    game.stacks[location] = (*stack, colour)
    game.note(TOKEN_PLACED, seat, colour, location, "D-5.3")
    return covered


def take_token(game: DuelGame, seat: int, location: int) -> int:
    """Take the top token of a stack onto the own lantern; its colour (D-5.4)."""
    colour = game.stacks[location][-1]
    game.stacks[location] = game.stacks[location][:-1]
    game.tokens[seat * COLOURS + colour] += 1
    game.note(TOKEN_TAKEN, seat, colour, location, "D-5.3")
    return colour


class Adjacent(Step):
    """Do or decline the actions beside the Location, in either order (D-5.5)."""

    def __init__(self, seat: int, slots: int) -> None:
        super().__init__(seat, "D-5.5")
        self.slots = slots  # bit mask of those still to come

    def fault(self, game: DuelGame) -> str:
        fits = any(self.slots & ~mask == 0 for mask in game.rules.adjacent)
        return "" if self.slots and fits else "no Location lies between these slots (D-3.1)"

    def candidates(self, game: DuelGame) -> Sequence[int]:
        """Decline or do each of them."""
        return game.rules.adjacent_answers[self.slots]

    def blocked(self, game: DuelGame, action: int) -> int:
        """What cannot be done at all must be declined."""
        if action < DO:
            return 0
        slot = action - DO
        if slot >= ACTIVATION_SLOTS:
            return IMPOSSIBLE if blocked_deck(game, self.seat, slot - ACTIVATION_SLOTS) else 0
        return 0 if self.step(game, slot).options(game) else IMPOSSIBLE

    def explain(self, game: DuelGame, action: int, block: int) -> tuple[str, str]:
        """Decks say what a card costs; of other actions nothing at all can be done."""
        slot = action - DO
        if slot >= ACTIVATION_SLOTS:
            return explain_deck(game, self.seat, slot - ACTIVATION_SLOTS), "D-6.1"
        step = self.step(game, slot)
        name = ACTION_NAMES[game.tables.of(game.slots[slot]).action]
        return f"nothing can be done with {name} now, it can be declined", step.rule

    def step(self, game: DuelGame, slot: int) -> Step:
        """The decision of the activation tile in a slot."""
        return BESIDE[self.seat][game.tables.of(game.slots[slot]).action]

    def question(self, game: DuelGame) -> str:
        """Ask for the next action."""
        names = [name for n, name in enumerate(SLOT_NAMES) if self.slots >> n & 1]
        return f"do or decline an action beside the token ({', '.join(names)})"

    def resolve(self, game: DuelGame, action: int) -> None:
        """One action fully, then the other."""
        slot = action - (DO if action >= DO else DECLINE)
        rest = self.slots & ~(1 << slot)
        if rest:
            game.stack.append(Adjacent(self.seat, rest))
        if action < DO:
            game.stack.append(Well(self.seat, 1, decline_rule(game, slot)))
        elif slot >= ACTIVATION_SLOTS:
            buy(game, self.seat, slot - ACTIVATION_SLOTS, "D-6.1")
        else:
            game.stack.append(self.step(game, slot))


def decline_rule(game: DuelGame, slot: int) -> str:
    """An empty deck shows a Well; anything else gives one because it is declined."""
    empty = slot >= ACTIVATION_SLOTS and game.tops[slot - ACTIVATION_SLOTS] == 0
    return "D-6.1" if empty else "D-5.5"
