"""COURTIER: audience, climb, and what a courtier meets where it arrives (B-4.1 to B-4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.castle.components import Row
from himeji.rules.castle.constants import (
    AT_GATE,
    AUDIENCE,
    CARD_MOVED,
    CLIMB,
    CLIMBS,
    COURTIER,
    COURTIER_PLACES,
    DIPLOMAT_PILE,
    DIPLOMAT_ROOMS,
    FLOOR_OF_PLACE,
    IN_DOMAIN,
    IN_ROOM,
    MEMBER_MOVED,
    ON_DAIMYO_FLOOR,
    PILE_NAMES,
    PLACE_NAMES,
    SLOT,
    STEWARD_PILE,
    TO_DOMAIN,
)
from himeji.rules.castle.icons import first_row_id, perform
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import COIN, DONE, PEARL, count
from himeji.rules.game import Step

NO_MEMBER: Final = 1  # blocked: no courtier there
PRICE: Final = 2  # blocked: too little to pay with
TAKEN: Final = 3  # blocked: the slot is taken
WAITS: Final = 4  # blocked: a room waits for its next card

_HALVES: Final = (
    (DONE,),
    (DONE, AUDIENCE),
    (DONE, *range(CLIMB, CLIMB + len(CLIMBS))),
    (DONE, AUDIENCE, *range(CLIMB, CLIMB + len(CLIMBS))),
)


class Courtier(Step):
    """An audience and a climb, each at most once, in any order, each of them optional (B-4.1)."""

    def __init__(self, seat: int, *, audience: bool, climb: bool) -> None:
        super().__init__(seat, "B-4.1")
        self.audience = audience
        self.climb = climb

    def fault(self, game: CastleGame) -> str:
        return "" if self.audience or self.climb else "both halves are done (B-4.1)"

    def candidates(self, game: CastleGame) -> Sequence[int]:
        """The halves that are left."""
        return _HALVES[int(self.audience) + 2 * int(self.climb)]

    def blocked(self, game: CastleGame, action: int) -> int:
        """A courtier must be there to move, and its price must be paid."""
        if action == DONE:
            return 0
        at = self.seat * COURTIER_PLACES
        if action == AUDIENCE:
            if game.courtiers[at + IN_DOMAIN] == 0:
                return NO_MEMBER
            return PRICE if game.has(self.seat, COIN) < game.tables.audience_coins else 0
        start, end = CLIMBS[action - CLIMB]
        if game.courtiers[at + start] == 0:
            return NO_MEMBER
        if must_wait(game, end):
            return WAITS
        return PRICE if game.has(self.seat, PEARL) < climb_price(game, start, end) else 0

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        """Name the place without a courtier, or the price."""
        if action == AUDIENCE:
            rule, start, good = "B-4.2", IN_DOMAIN, COIN
            price = game.tables.audience_coins
        else:
            start, end = CLIMBS[action - CLIMB]
            rule, good, price = "B-4.3", PEARL, climb_price(game, start, end)
        if block == NO_MEMBER:
            return f"seat {self.seat} has no courtier at {PLACE_NAMES[start]}", rule
        if block == WAITS:
            return "a room waits for its next card", "B-4.4"
        return (
            f"it costs {count(price, good)}, seat {self.seat} has {game.has(self.seat, good)}",
            rule,
        )

    def question(self, game: CastleGame) -> str:
        """Ask for a half."""
        halves = ["audience"] * self.audience + ["climb"] * self.climb
        return f"use a courtier ({' and '.join(halves)})"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Do one half; the other stays on offer."""
        if action == DONE:
            return
        if action == AUDIENCE:
            if self.climb:
                game.stack.append(Courtier(self.seat, audience=False, climb=True))
            game.pay(self.seat, COIN, game.tables.audience_coins, "B-4.2")
            move_courtier(game, self.seat, IN_DOMAIN, AT_GATE, "B-4.2")
            return
        if self.audience:
            game.stack.append(Courtier(self.seat, audience=True, climb=False))
        start, end = CLIMBS[action - CLIMB]
        game.pay(self.seat, PEARL, climb_price(game, start, end), "B-4.3")
        move_courtier(game, self.seat, start, end, "B-4.3")
        arrive(game, self.seat, end)


def must_wait(game: CastleGame, place: int) -> bool:
    """Whether a card is still to be drawn for a room, before a courtier takes another (B-4.4)."""
    return place != ON_DAIMYO_FLOOR and 0 in game.rooms


def climb_price(game: CastleGame, start: int, end: int) -> int:
    """Pearl for one floor or two (B-4.3)."""
    return game.tables.climb_pearl[FLOOR_OF_PLACE[end] - FLOOR_OF_PLACE[start]]


def move_courtier(game: CastleGame, seat: int, start: int, end: int, rule: str) -> None:
    """Move one courtier between two places."""
    at = seat * COURTIER_PLACES
    game.courtiers[at + start] -= 1
    game.courtiers[at + end] += 1
    game.note(MEMBER_MOVED, seat, COURTIER, start * COURTIER_PLACES + end, rule)


def arrive(game: CastleGame, seat: int, place: int) -> None:
    """What a courtier meets where its climb ends."""
    if place == ON_DAIMYO_FLOOR:
        game.stack.append(DaimyoSlot(seat))
        game.rules.lantern.start(game, seat, "B-4.5")
    else:
        take_room_card(game, seat, place - IN_ROOM)


def take_room_card(game: CastleGame, seat: int, room: int) -> None:
    """The room's card becomes the action card, one light row of it, a new card (B-4.4)."""
    card = game.rooms[room]
    if game.unseen[pile_of(room)]:
        game.shine(seat, game.action_card[seat], "B-4.4")
        game.action_card[seat] = card
        game.note(CARD_MOVED, seat, card, TO_DOMAIN, "B-4.4")
        game.rooms[room] = 0
        game.stack.append(Refill(room))
    game.stack.append(LightRow(seat, card))


def pile_of(room: int) -> int:
    """The deck that a room is refilled from."""
    return DIPLOMAT_PILE if room in DIPLOMAT_ROOMS else STEWARD_PILE


class Refill(Step):
    """The room gets the next card of its deck (B-4.4)."""

    def __init__(self, room: int) -> None:
        super().__init__(-1, "B-4.4")
        self.room = room

    def fault(self, game: CastleGame) -> str:
        pile = pile_of(self.room)
        rooms = [step.room for step in game.stack if isinstance(step, Refill)]
        if rooms.count(self.room) > 1:
            return "a room gets one card (B-4.4)"
        waiting = len([room for room in rooms if pile_of(room) == pile])
        return "" if len(game.unseen[pile]) >= waiting else "the deck is empty (B-4.4)"

    def run(self, game: CastleGame) -> None:
        pile = pile_of(self.room)
        game.rooms[self.room] = draw_castle_card(game, pile, "B-4.4")


def draw_castle_card(game: CastleGame, pile: int, rule: str) -> int:
    """The next card of the steward or diplomat deck of the deal that stands."""
    return game.draw_unseen(pile, f"castle/deal-{game.deal}/{PILE_NAMES[pile]}", rule)


class LightRow(Step):
    """One light row of the card of the room entered; it cannot be skipped (B-4.4, B-2.7)."""

    def __init__(self, seat: int, card: int) -> None:
        super().__init__(seat, "B-4.4")
        self.card = card

    def fault(self, game: CastleGame) -> str:
        castle = game.tables.of(self.card).kind in ("steward", "diplomat")
        return "" if castle else f"{game.tables.names[self.card]} is no castle card (B-4.4)"

    def candidates(self, game: CastleGame) -> Sequence[int]:
        """All rows of the card, which was taken or, if its deck is empty, lies in its room."""
        first = first_row_id(game, self.card)
        return range(first, first + len(game.tables.of(self.card).rows))

    def row(self, game: CastleGame, action: int) -> Row:
        """The row that an answer names."""
        return game.tables.of(self.card).rows[action - first_row_id(game, self.card)]

    def blocked(self, game: CastleGame, action: int) -> int:
        return int(self.row(game, action).dark)

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        """The row is dark."""
        return "that row is dark", "B-4.4"

    def question(self, game: CastleGame) -> str:
        """Ask for the row."""
        return f"choose a light row of {game.tables.names[self.card]}"

    def resolve(self, game: CastleGame, action: int) -> None:
        perform(game, self.seat, self.row(game, action), "B-4.4")


class DaimyoSlot(Step):
    """On the daimyo floor, after the Lantern: a free slot and its benefit (B-4.5)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "B-4.5")

    def fault(self, game: CastleGame) -> str:
        there = game.courtiers[self.seat * COURTIER_PLACES + ON_DAIMYO_FLOOR]
        asked = [step for step in game.stack if isinstance(step, DaimyoSlot)]
        waiting = len([step for step in asked if step.seat == self.seat])
        wait = there >= game.slots.count(self.seat + 1) + waiting
        return "" if wait else "no courtier of the seat waits for a slot (B-4.5)"

    def candidates(self, game: CastleGame) -> Sequence[int]:
        """The slots, as long as one is free."""
        return () if all(game.slots) else (SLOT, SLOT + 1, SLOT + 2)

    def blocked(self, game: CastleGame, action: int) -> int:
        """A slot holds one courtier."""
        return TAKEN if game.slots[action - SLOT] else 0

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        return f"a courtier of seat {game.slots[action - SLOT] - 1} stands there", "B-4.5"

    def question(self, game: CastleGame) -> str:
        """Ask for the slot."""
        return "choose a slot of the daimyo card"

    def run(self, game: CastleGame) -> None:
        """No free slot: nothing more."""

    def resolve(self, game: CastleGame, action: int) -> None:
        """Stand there and gain the benefit."""
        slot = action - SLOT
        game.slots[slot] = self.seat + 1
        game.tables.of(game.daimyo).slots[slot].start(game, self.seat, "B-4.5")
