"""A turn: take a die, place it, settle coins, the Lantern if it came from the left, the effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from himeji.rules.castle.components import Row, Space
from himeji.rules.castle.constants import (
    DIE_PLACED,
    DIE_TAKEN,
    DIPLOMAT_ROOMS,
    DOMAIN_SPACE,
    PLACE,
    TAKE,
)
from himeji.rules.castle.icons import first_row_id, perform, price_refusal, use_domain_row
from himeji.rules.castle.state import CastleGame
from himeji.rules.castle.workers import ChooseWorker, Worker
from himeji.rules.constants import COIN, COLOUR_NAMES, DONE, LEFT, SIDE_NAMES, count
from himeji.rules.effect_order import grant
from himeji.rules.game import Step

EMPTY: Final = 1  # blocked: no die lies there
COLOUR: Final = 2  # blocked: the space does not take this colour
FULL: Final = 3  # blocked: no room for another die
COINS: Final = 4  # blocked: too few coins for a low die
PRICE: Final = 5  # blocked: the row's price cannot be paid
NOT_LEFT: Final = 6  # blocked: the die does not light the row, or it was performed


# --- taking -----------------------------------------------------------------------------------


class TakeDie(Step):
    """Take one die from the left or right end of a bridge (B-2.3)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "B-2.3")

    def candidates(self, game: CastleGame) -> Sequence[int]:
        """Both ends of every bridge."""
        return game.rules.takes

    def blocked(self, game: CastleGame, action: int) -> int:
        """A die must lie at that end."""
        colour, side = divmod(action - TAKE, 2)
        return 0 if (game.left if side == LEFT else game.right)[colour] else EMPTY

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        """No die at that end."""
        colour, side = divmod(action - TAKE, 2)
        bridge = COLOUR_NAMES[colour]
        return f"no die lies at the {SIDE_NAMES[side]} end of the {bridge} bridge", "B-2.4"

    def question(self, game: CastleGame) -> str:
        """Ask for a die."""
        return "take a die"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Take it into the hand and let the centre slide."""
        colour, side = divmod(action - TAKE, 2)
        game.hand = colour * 8 + take_from_bridge(game, colour, side)
        game.hand_side = side
        game.note(DIE_TAKEN, self.seat, game.hand, side, "B-2.3")
        game.stack.append(PlaceDie(self.seat))


def take_from_bridge(game: CastleGame, colour: int, side: int) -> int:
    """Take the die at an end; the nearest centre die slides there, a lone die stays (B-2.4)."""
    end = game.left if side == LEFT else game.right
    value, centre = end[colour], game.centre[colour]
    if not centre:
        end[colour] = 0
    elif side == LEFT:
        end[colour] = centre[0]
        game.centre[colour] = centre[1:]
    else:
        end[colour] = centre[-1]
        game.centre[colour] = centre[:-1]
    return value


# --- areas: what each kind of space accepts and gives -------------------------------------------


class Area:
    """The rules of one kind of space for dice."""

    text: ClassVar[str] = "A space for dice."  # for those who have no engine

    def covered(self, game: CastleGame, seat: int, number: int, space: Space) -> int:
        """The value that a die is compared with: the die underneath or the printed one (B-2.5)."""
        dice = game.spaces[number]
        return dice[-1] & 7 if dice else space.printed

    def full(self, game: CastleGame, seat: int, number: int) -> bool:
        """Whether no further die fits (B-2.6)."""
        return len(game.spaces[number]) >= game.stacking

    def accepts(self, game: CastleGame, number: int, colour: int) -> bool:
        """Whether the space takes dice of that colour."""
        return True

    def colour_refusal(self, number: int, colour: int) -> tuple[str, str]:
        """The sentence and the rule for a colour that does not fit."""
        raise NotImplementedError

    def lay(self, game: CastleGame, seat: int, number: int, die: int) -> None:
        """Put the die down."""
        game.spaces[number] = (*game.spaces[number], die)

    def holds(self, game: CastleGame, seat: int, number: int, die: int) -> bool:
        """Whether the die lies there."""
        return die in game.spaces[number]

    def enter(self, game: CastleGame, seat: int, number: int, die: int) -> None:
        """Push the effects of the space."""
        raise NotImplementedError


def room_rule(room: int) -> str:
    """The paragraph on the rooms of a floor."""
    return "B-3.2" if room in DIPLOMAT_ROOMS else "B-3.1"


class CastleArea(Area):
    """Steward and diplomat rooms (B-3.1, B-3.2)."""

    text: ClassVar[str] = (
        "A room of the castle: the die's colour must be on a tile beside it (B-3.1, B-3.2)."
    )

    def accepts(self, game: CastleGame, number: int, colour: int) -> bool:
        """The colour must be on one of the room's tiles."""
        return game.beside[number * 4 + colour] > 0

    def colour_refusal(self, number: int, colour: int) -> tuple[str, str]:
        return f"no tile of that room is {COLOUR_NAMES[colour]}", room_rule(number)

    def enter(self, game: CastleGame, seat: int, number: int, die: int) -> None:
        """Every row beside a tile of the die's colour, of the card that lies there now."""
        mask = game.beside[number * 4 + (die >> 3)]
        game.stack.append(RoomRows(seat, number, game.rooms[number], mask))


class OutsideArea(Area):
    """Outside the Walls: any colour, one of two worker actions (B-3.4)."""

    text: ClassVar[str] = "Outside the Walls: one of the worker actions (B-3.4)."

    def enter(self, game: CastleGame, seat: int, number: int, die: int) -> None:
        offers = game.tables.spaces[number].offers
        workers = sorted(offer.worker for offer in offers if isinstance(offer, Worker))
        game.stack.append(ChooseWorker(seat, tuple(workers)))


class WellArea(Area):
    """The Well: any colour, any number of dice, always compared with its printed 1 (B-3.5)."""

    text: ClassVar[str] = (
        "The Well: any number of dice; a seal and the rewards of both tiles (B-3.5)."
    )

    def covered(self, game: CastleGame, seat: int, number: int, space: Space) -> int:
        """Always the printed value (B-2.5)."""
        return space.printed

    def full(self, game: CastleGame, seat: int, number: int) -> bool:
        """Never (B-2.6)."""
        return False

    def enter(self, game: CastleGame, seat: int, number: int, die: int) -> None:
        """One seal and both tiles."""
        grant(game, seat, game.well, "B-3.5")


class DomainArea(Area):
    """The rows of the own domain (B-3.6)."""

    def covered(self, game: CastleGame, seat: int, number: int, space: Space) -> int:
        """Dice are never stacked there."""
        return space.printed

    def full(self, game: CastleGame, seat: int, number: int) -> bool:
        """One die per row and round."""
        return game.domain_dice[seat * 4 + number - DOMAIN_SPACE] > 0

    def accepts(self, game: CastleGame, number: int, colour: int) -> bool:
        """The row of the die's colour."""
        return colour == number - DOMAIN_SPACE

    def colour_refusal(self, number: int, colour: int) -> tuple[str, str]:
        return f"a {COLOUR_NAMES[colour]} die goes on the {COLOUR_NAMES[colour]} row", "B-3.6"

    def lay(self, game: CastleGame, seat: int, number: int, die: int) -> None:
        """Domains keep one value per row."""
        game.domain_dice[seat * 4 + number - DOMAIN_SPACE] = die & 7

    def holds(self, game: CastleGame, seat: int, number: int, die: int) -> bool:
        """Of the seat's own dice the one in that row."""
        return game.domain_dice[seat * 4 + number - DOMAIN_SPACE] == die & 7

    def enter(self, game: CastleGame, seat: int, number: int, die: int) -> None:
        """Visible rewards, then the action card."""
        use_domain_row(game, seat, number - DOMAIN_SPACE, "B-3.6")


# --- placing ----------------------------------------------------------------------------------


class PlaceDie(Step):
    """Place the die in hand on a space that takes it and whose difference is paid (B-2.5)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "B-2.3")

    def candidates(self, game: CastleGame) -> Sequence[int]:
        return game.rules.places

    def difference(self, game: CastleGame, number: int) -> int:
        """Coins gained, or paid if negative."""
        space = game.tables.spaces[number]
        return (game.hand & 7) - game.rules.areas[number].covered(game, self.seat, number, space)

    def blocked(self, game: CastleGame, action: int) -> int:
        """Colour, room for the die, coins: in this order."""
        number = action - PLACE
        area = game.rules.areas[number]
        if not area.accepts(game, number, game.hand >> 3):
            return COLOUR
        if area.full(game, self.seat, number):
            return FULL
        return COINS if self.difference(game, number) + game.has(self.seat, COIN) < 0 else 0

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        """Which of the three it is."""
        number = action - PLACE
        if block == COLOUR:
            return game.rules.areas[number].colour_refusal(number, game.hand >> 3)
        name = game.tables.spaces[number].name
        if block == FULL:
            return f"no further die fits on {name}", "B-2.6"
        price = -self.difference(game, number)
        held = game.has(self.seat, COIN)
        sentence = f"placing a {game.hand & 7} on {name} costs {count(price, COIN)}"
        return f"{sentence}, seat {self.seat} has {held}", "B-2.5"

    def question(self, game: CastleGame) -> str:
        """Ask for a space."""
        return f"place a {COLOUR_NAMES[game.hand >> 3]} {game.hand & 7}"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Place it, settle coins, and line up the Lantern before the effects (B-2.3)."""
        number, die, side = action - PLACE, game.hand, game.hand_side
        difference = self.difference(game, number)
        if difference > 0:
            game.gain(self.seat, COIN, difference, "B-2.5")
        else:
            game.pay(self.seat, COIN, -difference, "B-2.5")
        game.rules.areas[number].lay(game, self.seat, number, die)
        game.hand = game.hand_side = 0
        game.note(DIE_PLACED, self.seat, die, number, "B-2.3")
        game.stack.append(EnterSpace(self.seat, number, die))
        if side == LEFT:
            game.rules.lantern.start(game, self.seat, "B-2.3")


class EnterSpace(Step):
    """The effects of the space, once the Lantern is done (B-2.3)."""

    def __init__(self, seat: int, space: int, die: int) -> None:
        super().__init__(seat, "B-2.3")
        self.space = space
        self.die = die

    def fault(self, game: CastleGame) -> str:
        area, colour = game.rules.areas[self.space], self.die >> 3
        if not game.beside:
            return ""  # the tiles could not be read
        if not area.accepts(game, self.space, colour):
            sentence, rule = area.colour_refusal(self.space, colour)
            return f"{sentence} ({rule})"
        if area.holds(game, self.seat, self.space, self.die):
            return ""
        name = game.tables.spaces[self.space].name
        return f"no {COLOUR_NAMES[colour]} {self.die & 7} lies on {name} (B-2.3)"

    def run(self, game: CastleGame) -> None:
        game.rules.areas[self.space].enter(game, self.seat, self.space, self.die)


class RoomRows(Step):
    """The rows beside tiles of the die's colour: each once, in any order, each optional (B-3.1).

    The card is remembered, because it may leave the room while its rows are being performed.
    """

    def __init__(self, seat: int, room: int, card: int, rows: int) -> None:
        super().__init__(seat, room_rule(room))
        self.room = room
        self.card = card
        self.rows = rows  # bit mask

    def fault(self, game: CastleGame) -> str:
        card = game.tables.of(self.card)
        kind = "diplomat" if self.room in DIPLOMAT_ROOMS else "steward"
        if card.kind != kind or self.rows >> len(card.rows):
            return f"{card.id} has no such rows in that room ({self.rule})"
        return ""

    def row(self, game: CastleGame, action: int) -> Row:
        """The row that an answer names."""
        return game.tables.of(self.card).rows[action - first_row_id(game, self.card)]

    def candidates(self, game: CastleGame) -> Sequence[int]:
        """The rows of the card that lay in the room when the die was placed."""
        first = first_row_id(game, self.card)
        return (DONE, *range(first, first + len(game.tables.of(self.card).rows)))

    def blocked(self, game: CastleGame, action: int) -> int:
        """Rows that are left; a dark row of a steward costs its seal (B-3.3)."""
        if action == DONE:
            return 0
        if not self.rows >> (action - first_row_id(game, self.card)) & 1:
            return NOT_LEFT
        row = self.row(game, action)
        return PRICE if game.has(self.seat, row.cost_good) < row.cost else 0

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        """No tile of the colour, done already, or too few seals."""
        if block == NOT_LEFT:
            return "no tile of the die's colour lies beside that row, or it is done", self.rule
        return price_refusal(game, self.seat, self.row(game, action)), "B-3.3"

    def question(self, game: CastleGame) -> str:
        """Ask for a row."""
        return f"perform a matching row of {game.tables.names[self.card]}"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Perform one; the others stay on offer."""
        if action == DONE:
            return
        rest = self.rows & ~(1 << (action - first_row_id(game, self.card)))
        if rest:
            game.stack.append(RoomRows(self.seat, self.room, self.card, rest))
        perform(game, self.seat, self.row(game, action), "B-3.3")


AREAS: Final[dict[str, Area]] = {
    "castle": CastleArea(),
    "outside": OutsideArea(),
    "well": WellArea(),
    "domain": DomainArea(),
}
