"""Icons that point elsewhere: Lantern, Well, castle rows and domain rows (B-5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.castle.components import LINES, Row
from himeji.rules.castle.constants import (
    CASTLE_ROWS,
    DOMAIN_ROW,
    EFFECT,
    FIRST_ROW,
    ROW,
    ROW_PLACE,
    ROW_ROOM,
    SPACE_NAMES,
    TAKEN_ROW,
)
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import COLOUR_NAMES, DONE, PERFORM, count
from himeji.rules.effect_order import grant, joint_scope
from himeji.rules.effects import Effect
from himeji.rules.game import Step

PRICE: Final = 1  # blocked: the price cannot be paid
NO_CARD: Final = 2  # blocked: the room waits for its next card
FILTER: Final = 3  # blocked: the icon does not point at this row
DARK: Final = 4  # blocked: the row is dark, the icon shows a light one
LIGHT: Final = 5  # blocked: the row is light, the icon shows a dark one

DARK_FILTER: Final = -3
LIGHT_FILTER: Final = -2
ANY_FILTER: Final = -1  # 0 and up: the colour of the tile beside the row


class LanternIcon(Effect):
    """Every icon in the owner's Lantern Area."""

    def icons(self, game: CastleGame, seat: int) -> tuple[Effect, ...]:
        """What shines."""
        icons: list[Effect] = []
        for card in game.lanterns[seat]:
            icons.extend(game.tables.of(card).lantern)
        return tuple(icons)

    def scope(self, game: CastleGame, seat: int) -> int:
        return joint_scope(game, seat, self.icons(game, seat))

    def start(self, game: CastleGame, seat: int, rule: str) -> None:
        """Grant them all (B-5.1)."""
        grant(game, seat, self.icons(game, seat), "B-5.1")


class WellIcon(Effect):
    """The Well as an icon: the seal and both tile rewards, no coins from a die."""

    def scope(self, game: CastleGame, seat: int) -> int:
        return joint_scope(game, seat, game.well)

    def start(self, game: CastleGame, seat: int, rule: str) -> None:
        """Grant the seal and the tiles (B-5.2)."""
        grant(game, seat, game.well, "B-5.2")


class CastleRow(Effect):
    """One row of the five castle cards, of the kind that the icon shows."""

    def __init__(self, kind: int, text: str, code: int, order: int) -> None:
        super().__init__(text, code, order)
        self.kind = kind
        self.rule = "B-5.3" if kind == LIGHT_FILTER else "B-5.4"

    def start(self, game: CastleGame, seat: int, rule: str) -> None:
        """Ask for the row."""
        game.stack.append(ChooseCastleRow(seat, self))


ALL_ROWS: Final = (DONE, *range(ROW, ROW + CASTLE_ROWS))


class ChooseCastleRow(Step):
    """Perform one castle row that the icon points at, or none (B-2.7)."""

    def __init__(self, seat: int, icon: CastleRow) -> None:
        super().__init__(seat, icon.rule)
        self.icon = icon

    def candidates(self, game: CastleGame) -> Sequence[int]:
        """Any of the thirteen rows."""
        return ALL_ROWS

    def blocked(self, game: CastleGame, action: int) -> int:
        """The icon must point at the row, and a dark row of a steward costs its seal."""
        if action == DONE:
            return 0
        number = action - ROW
        card = game.rooms[ROW_ROOM[number]]
        if card == 0:
            return NO_CARD
        row = game.tables.of(card).rows[ROW_PLACE[number]]
        kind = self.icon.kind
        if kind >= 0 and not game.row_shines(number, kind):
            return FILTER
        if kind == LIGHT_FILTER and row.dark:
            return DARK
        if kind == DARK_FILTER and not row.dark:
            return LIGHT
        return PRICE if game.has(self.seat, row.cost_good) < row.cost else 0

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        """Say which of the conditions fails."""
        room = SPACE_NAMES[ROW_ROOM[action - ROW]]
        if block == NO_CARD:
            return f"{room} waits for its next card", "B-4.4"
        if block == FILTER:
            return f"no {COLOUR_NAMES[self.icon.kind]} tile lies beside that row", self.rule
        if block == DARK:
            return "that row is dark, the icon shows a light one", self.rule
        if block == LIGHT:
            return "that row is light, the icon shows a dark one", self.rule
        return price_refusal(game, self.seat, row_of(game, action)), "B-3.3"

    def question(self, game: CastleGame) -> str:
        """Ask for the row."""
        return f"choose a row for the icon “{self.icon.text}”"

    def resolve(self, game: CastleGame, action: int) -> None:
        if action != DONE:
            perform(game, self.seat, row_of(game, action), self.rule)


def row_of(game: CastleGame, action: int) -> Row:
    """The row of a castle card that an action names."""
    number = action - ROW
    return game.tables.of(game.rooms[ROW_ROOM[number]]).rows[ROW_PLACE[number]]


def first_row_id(game: CastleGame, card: int) -> int:
    """The action id of a castle card's first row: that of its room, or that of a card taken."""
    if card in game.rooms:
        return ROW + FIRST_ROW[game.rooms.index(card)]
    return TAKEN_ROW


def perform(game: CastleGame, seat: int, row: Row, rule: str) -> None:
    """Pay the price of a row and grant what it gives (B-3.3)."""
    game.pay(seat, row.cost_good, row.cost, rule)
    grant(game, seat, row.gives, rule)


def price_refusal(game: CastleGame, seat: int, row: Row) -> str:
    """The sentence for a price that cannot be paid."""
    held = game.has(seat, row.cost_good)
    return f"it costs {count(row.cost, row.cost_good)}, seat {seat} has {held}"


class Offer(Step):
    """Perform a row of one's own card, a garden or a tile, or leave it (B-2.7)."""

    def __init__(self, seat: int, card: int, place: int, rule: str) -> None:
        super().__init__(seat, rule)
        self.card = card
        self.place = place

    def fault(self, game: CastleGame) -> str:
        rows = game.tables.of(self.card).rows
        return "" if self.place < len(rows) else f"{game.tables.names[self.card]} has no such row"

    def row(self, game: CastleGame) -> Row:
        """The row on offer."""
        return game.tables.of(self.card).rows[self.place]

    def candidates(self, game: CastleGame) -> Sequence[int]:
        """Perform it or not."""
        return (DONE, PERFORM)

    def blocked(self, game: CastleGame, action: int) -> int:
        """Its price must be paid."""
        row = self.row(game)
        if action == PERFORM and game.has(self.seat, row.cost_good) < row.cost:
            return PRICE
        return 0

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        """Too little to pay with."""
        return price_refusal(game, self.seat, self.row(game)), self.rule

    def question(self, game: CastleGame) -> str:
        """Ask whether it is wanted."""
        gives = ", ".join(effect.text for effect in self.row(game).gives)
        return f"perform “{gives}” of {game.tables.names[self.card]}, or not"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Perform it, if wanted."""
        if action == PERFORM:
            game.note(EFFECT, self.seat, self.card, self.place, self.rule)
            perform(game, self.seat, self.row(game), self.rule)


class DomainRow(Effect):
    """One of the three rows of the own domain, as if a die had been placed there."""

    def start(self, game: CastleGame, seat: int, rule: str) -> None:
        """Ask for the row (B-5.5)."""
        game.stack.append(ChooseDomainRow(seat))


class ChooseDomainRow(Step):
    """Use one of the own domain rows, or none (B-5.5)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "B-5.5")

    def candidates(self, game: CastleGame) -> Sequence[int]:
        return (DONE, DOMAIN_ROW, DOMAIN_ROW + 1, DOMAIN_ROW + 2)

    def question(self, game: CastleGame) -> str:
        """Ask for the row."""
        return "choose a row of the own domain"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Use it, without coins."""
        if action != DONE:
            use_domain_row(game, self.seat, action - DOMAIN_ROW, "B-5.5")


def use_domain_row(game: CastleGame, seat: int, row: int, rule: str) -> None:
    """All visible rewards of the row, then, if wanted, the action card's row beside it (B-3.6)."""
    game.stack.append(ActionCardRow(seat, row))
    grant(game, seat, game.visible(seat, row), rule)


class ActionCardRow(Step):
    """After the visible rewards: look which row of the action card lies beside the line."""

    def __init__(self, seat: int, line: int) -> None:
        super().__init__(seat, "B-3.6")
        self.line = line

    def fault(self, game: CastleGame) -> str:
        beside = self.line < LINES
        return "" if beside else f"no row of a card lies beside {COLOUR_NAMES[self.line]} (B-3.6)"

    def run(self, game: CastleGame) -> None:
        card = game.action_card[self.seat]
        if card:
            place = game.tables.of(card).row_of_line[self.line]
            game.stack.append(Offer(self.seat, card, place, "B-3.6"))
