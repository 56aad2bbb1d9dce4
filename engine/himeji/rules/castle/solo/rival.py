"""The rival clan of the solitaire rulesets: its start, its turn, its part of the round's end."""

from __future__ import annotations

from typing import cast

from himeji.rules.castle.constants import (
    CENTRE,
    DIE_PLACED,
    DIE_TAKEN,
    PILE_NAMES,
    START_ACTION_PILE,
    START_RESOURCE_PILE,
    WELL_SPACE,
)
from himeji.rules.castle.rounds import (
    GardensOfSeat,
    begin_turn,
    gardens_in_step,
    in_garden_step,
)
from himeji.rules.castle.setup import EndOfDraft, take_start_cards
from himeji.rules.castle.solo.components import SolitaireCard, rival_numbers
from himeji.rules.castle.solo.constants import SOLITAIRE_PILE, SOLITAIRE_READ
from himeji.rules.castle.solo.rival_actions import RivalAction
from himeji.rules.castle.state import CastleGame
from himeji.rules.castle.turn import take_from_bridge
from himeji.rules.constants import COIN, LEFT, RIGHT, VP
from himeji.rules.effects import Effect
from himeji.rules.game import Step

# --- set-up (S-1) -------------------------------------------------------------------------------


def rival_start(game: CastleGame) -> None:
    """Points, place in the turn order and influence of the rival, by difficulty (S-1)."""
    rival = game.seats
    points, place, influence = rival_numbers(game.tables).start[game.options["difficulty"]]
    others = list(range(game.seats))
    game.order = (*others[: place - 1], rival, *others[place - 1 :])
    game.markers = tuple(reversed(game.order))
    if points:
        game.gain(rival, VP, points, "S-1")
    for _ in range(influence):
        game.step_on(rival)
    _shuffle(game, game.round, "S-3")


def random_start_cards(game: CastleGame) -> None:
    """One random card of each kind for the player, without a choice (S-1)."""
    dealt = [
        game.draw(pile, f"castle/{PILE_NAMES[pile]}", game.tables.kinds[PILE_NAMES[pile]], "S-1")
        for pile in (START_RESOURCE_PILE, START_ACTION_PILE)
    ]
    game.stack.append(EndOfDraft())
    take_start_cards(game, 0, dealt[0], dealt[1])


# --- the turn (S-3, S-4, S-5) -------------------------------------------------------------------


def begin_turn_or_rivals(game: CastleGame, clan: int) -> None:
    """A turn of the player, or of the rival."""
    if clan < game.seats:
        begin_turn(game, clan)
    else:
        rival_turn(game)


def rival_turn(game: CastleGame) -> None:
    """Turn cards over until one shows a die that is there; place it; then the actions (S-3)."""
    turned: list[int] = []
    card = _turn_over(game, turned, next_solitaire(game))
    while card and not die_at(game, solitaire(game, card)):
        card = _turn_over(game, turned, card)
    game.lay_on_top(SOLITAIRE_PILE, card)
    game.under = (*game.under, *turned)
    if card:
        game.note(SOLITAIRE_READ, game.seats, card, 1, "S-3")
        bridge = solitaire(game, card)
        _place(game, bridge.colour, bridge.side, _free_space(game, bridge.targets))
    else:
        colour = next(c for c in game.rules.colours if game.left[c] or game.right[c])
        _place(game, colour, LEFT if game.left[colour] else RIGHT, WELL_SPACE)
    actions = [action for used in turned[-2:] for action in solitaire(game, used).actions]
    game.stack.append(RivalActions(tuple(actions)))


def solitaire(game: CastleGame, number: int) -> SolitaireCard:
    """The solitaire card with that number."""
    return cast("SolitaireCard", game.tables.of(number))


def _turn_over(game: CastleGame, turned: list[int], card: int) -> int:
    """Turn a card to its action side; the card that now lies on top, 0 if none is left."""
    game.note(SOLITAIRE_READ, game.seats, card, 0, "S-3")
    turned.append(card)
    return next_solitaire(game)


def next_solitaire(game: CastleGame) -> int:
    """Take the next card off the deck: the visible one, an unseen one, or the first put under."""
    top = game.tops[SOLITAIRE_PILE]
    if top:
        game.lay_on_top(SOLITAIRE_PILE, 0)
        return top
    if game.unseen[SOLITAIRE_PILE]:
        return _draw(game, game.round, "S-3")
    if not game.under:
        return 0
    card = game.under[0]
    game.under = game.under[1:]
    return card


def _draw(game: CastleGame, number: int, rule: str) -> int:
    """Draw an unseen card of the deck as it was shuffled for that round."""
    return game.draw_unseen(SOLITAIRE_PILE, f"solo/round-{number}/solitaire", rule)


def _shuffle(game: CastleGame, number: int, rule: str) -> None:
    """Shuffle all solitaire cards for that round; the top card is visible at once (S-3)."""
    game.unseen[SOLITAIRE_PILE] = tuple(game.tables.kinds["solitaire"])
    game.under = ()
    game.lay_on_top(SOLITAIRE_PILE, _draw(game, number, rule))


def die_at(game: CastleGame, card: SolitaireCard) -> int:
    """The value of the die that a card shows, 0 if there is none in that place (S-3)."""
    colour, side = card.colour, card.side
    if side == CENTRE:
        return game.centre[colour][0] if game.centre[colour] else 0
    return game.left[colour] if side == LEFT else game.right[colour]


def _free_space(game: CastleGame, targets: tuple[int, ...]) -> int:
    """The first of the shown spaces that holds no die, else the Well (S-4)."""
    for space in targets:
        if space == WELL_SPACE or not game.spaces[space]:
            return space
    return WELL_SPACE


def _place(game: CastleGame, colour: int, side: int, space: int) -> None:
    """Take the die and place it; a positive difference gives coins, nothing is paid (S-4)."""
    rival = game.seats
    if side == CENTRE:
        value = game.centre[colour][0]
        game.centre[colour] = game.centre[colour][1:]
    else:
        value = take_from_bridge(game, colour, side)
    die = colour * 8 + value
    game.note(DIE_TAKEN, rival, die, side, "S-3")
    if value > game.tables.spaces[space].printed:
        game.gain(rival, COIN, value - game.tables.spaces[space].printed, "S-4")
    game.spaces[space] = (*game.spaces[space], die)
    game.note(DIE_PLACED, rival, die, space, "S-4")


class RivalActions(Step):
    """The actions of the cards that were turned over, one after the other (S-5)."""

    def __init__(self, deeds: tuple[Effect, ...]) -> None:
        super().__init__(-1, "S-5")
        self.deeds = deeds  # rival actions, by the name that positions give them

    def fault(self, game: CastleGame) -> str:
        real = all(isinstance(each, RivalAction) for each in self.deeds)
        return "" if real else "not actions of solitaire cards (S-6)"

    def run(self, game: CastleGame) -> None:
        """The first of them; the others wait until it is done."""
        if len(self.deeds) > 1:
            game.stack.append(RivalActions(self.deeds[1:]))
        for action in self.deeds[:1]:
            action.start(game, game.seats, "S-6")


# --- the end of a round (S-8) -------------------------------------------------------------------


def turn_in_coins(game: CastleGame) -> None:
    """Lots of coins become VP; what is left stays (S-8)."""
    rival = game.seats
    lot = rival_numbers(game.tables).lots[game.order.index(rival)]
    lots = game.has(rival, COIN) // lot
    if lots:
        game.pay(rival, COIN, lots * lot, "S-8")
        game.gain(rival, VP, lots * game.round, "S-8")


def gardens_and_rivals(game: CastleGame) -> None:
    """The garden step in the new turn order; the rival gets VP for its gardeners (S-8)."""
    for clan in reversed(game.order):
        game.stack.append(GardensOfSeat(clan) if clan < game.seats else RivalGardens())


class RivalGardens(Step):
    """Each rival gardener under a bridge with a die gives the round number in VP (S-8)."""

    def __init__(self) -> None:
        super().__init__(-1, "S-8")

    def fault(self, game: CastleGame) -> str:
        return "" if in_garden_step(game) else "gardens come after rounds 1 and 2 (S-8)"

    def run(self, game: CastleGame) -> None:
        found = gardens_in_step(game, game.seats).bit_count()
        if found:
            game.gain(game.seats, VP, found * game.round, "S-8")


def shuffle_solitaires(game: CastleGame) -> None:
    """The solitaire deck is shuffled for the next round (S-8)."""
    _shuffle(game, game.round + 1, "S-8")
