"""GEISHA: entrance, walk, and what a geisha meets where its walk ends (M-7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.castle.components import Row
from himeji.rules.castle.constants import IN_DOMAIN, MEMBER_MOVED
from himeji.rules.castle.icons import Offer, perform
from himeji.rules.castle.matcha.constants import (
    AT_ENTRANCE,
    CEREMONY,
    ENTRANCE,
    GEISHA,
    GEISHA_NAME,
    GEISHA_PLACE_NAMES,
    GEISHA_PLACES,
    LAST_OUTSKIRTS_CARD,
    LILIES,
    MATCHA_PILE_NAMES,
    ON_OVERLOOK,
    ON_STEP_1,
    ON_STEP_2,
    OUTSKIRTS_CARD,
    OUTSKIRTS_DECK_NAMES,
    OUTSKIRTS_PILES,
    TEA_ROOMS,
    WALK,
    WALKS,
)
from himeji.rules.castle.matcha.curtains import ONE, of_colour, offer_curtains
from himeji.rules.castle.matcha.state import MatchaGame
from himeji.rules.constants import CHASEN, COIN, DONE, count
from himeji.rules.effect_order import grant, joint_scope
from himeji.rules.effects import Effect
from himeji.rules.game import Step

NO_MEMBER: Final = 1  # blocked: no geisha there
PRICE: Final = 2  # blocked: too little to pay with
FULL: Final = 3  # blocked: no room for a further geisha of the clan
FAR: Final = 4  # blocked: two steps, one is free
LAST: Final = 5  # blocked: the last card of its deck is not taken
NOT_LAST: Final = 6  # blocked: a card that is not the last of its deck is taken

BLUE: Final = 0  # faces of a ceremony tile, as rows of the component
YELLOW: Final = 1
OVERLOOK_TILE: Final = len(TEA_ROOMS)  # in `ceremonies`, after those of the rooms

_OUTSKIRTS_CHOICES: Final = (
    *(OUTSKIRTS_CARD, OUTSKIRTS_CARD + 1),
    *(LAST_OUTSKIRTS_CARD, LAST_OUTSKIRTS_CARD + 1),
)
_ALL_WALKS: Final = tuple(range(WALK, WALK + len(WALKS)))
_HALVES: Final = (
    (DONE,),
    (DONE, ENTRANCE),
    (DONE, *_ALL_WALKS),
    (DONE, ENTRANCE, *_ALL_WALKS),
)


class GeishaIcon(Effect):
    """GEISHA as an icon."""

    def __init__(self, code: int, order: int) -> None:
        super().__init__(GEISHA_NAME, code, order)

    def start(self, game: MatchaGame, seat: int, rule: str) -> None:
        """Ask what its owner does with it."""
        game.stack.append(Geisha(seat, entrance=True, walk=True))


class Geisha(Step):
    """An entrance and a walk, each at most once, in any order, each of them optional (M-7.1)."""

    def __init__(self, seat: int, *, entrance: bool, walk: bool) -> None:
        super().__init__(seat, "M-7.1")
        self.entrance = entrance
        self.walk = walk

    def fault(self, game: MatchaGame) -> str:
        return "" if self.entrance or self.walk else "both halves are done (M-7.1)"

    def candidates(self, game: MatchaGame) -> Sequence[int]:
        """The halves that are left."""
        return _HALVES[int(self.entrance) + 2 * int(self.walk)]

    def blocked(self, game: MatchaGame, action: int) -> int:
        """A geisha must be there to move, there must be room for it, and its price be paid."""
        if action == DONE:
            return 0
        if action == ENTRANCE:
            if game.geishas[self.seat * GEISHA_PLACES + IN_DOMAIN] == 0:
                return NO_MEMBER
            return PRICE if game.has(self.seat, COIN) < game.tea_garden.entrance_coins else 0
        start, end, steps = WALKS[action - WALK]
        stands = standing(game, self.seat, start, end)
        if stands:
            return stands
        return PRICE if game.has(self.seat, CHASEN) < game.tea_garden.walk_chasen[steps] else 0

    def explain(self, game: MatchaGame, action: int, block: int) -> tuple[str, str]:
        """Name the place without a geisha, the full one, or the price."""
        if action == ENTRANCE:
            rule, start, good, price = "M-7.2", IN_DOMAIN, COIN, game.tea_garden.entrance_coins
        else:
            start, _, steps = WALKS[action - WALK]
            rule, good, price = "M-7.3", CHASEN, game.tea_garden.walk_chasen[steps]
        if block == PRICE:
            held = game.has(self.seat, good)
            return f"it costs {count(price, good)}, seat {self.seat} has {held}", rule
        return walk_refusal(self.seat, action, block, start), "M-7.6" if block == FULL else rule

    def question(self, game: MatchaGame) -> str:
        """Ask for a half."""
        halves = ["entrance"] * self.entrance + ["walk"] * self.walk
        return f"use a geisha ({' and '.join(halves)})"

    def resolve(self, game: MatchaGame, action: int) -> None:
        """Do one half; the other stays on offer."""
        if action == DONE:
            return
        if action == ENTRANCE:
            if self.walk:
                game.stack.append(Geisha(self.seat, entrance=False, walk=True))
            game.pay(self.seat, COIN, game.tea_garden.entrance_coins, "M-7.2")
            move_geisha(game, self.seat, IN_DOMAIN, AT_ENTRANCE, "M-7.2")
            return
        if self.entrance:
            game.stack.append(Geisha(self.seat, entrance=True, walk=False))
        start, end, steps = WALKS[action - WALK]
        game.pay(self.seat, CHASEN, game.tea_garden.walk_chasen[steps], "M-7.3")
        move_geisha(game, self.seat, start, end, "M-7.3")
        arrive(game, self.seat, end)


def standing(game: MatchaGame, clan: int, start: int, end: int) -> int:
    """0 if a geisha stands at the start and there is room at the end, else what is wrong."""
    if game.geishas[clan * GEISHA_PLACES + start] == 0:
        return NO_MEMBER
    limit = game.tea_garden.geisha_limit[end]
    return FULL if limit and game.geishas[clan * GEISHA_PLACES + end] >= limit else 0


def walk_refusal(seat: int, action: int, block: int, start: int) -> str:
    """The sentence for a walk that does not begin or cannot end."""
    if block == FULL:
        end = WALKS[action - WALK][1]
        return f"no further geisha of seat {seat} fits in {GEISHA_PLACE_NAMES[end]}"
    return f"seat {seat} has no geisha at {GEISHA_PLACE_NAMES[start]}"


def move_geisha(game: MatchaGame, clan: int, start: int, end: int, rule: str) -> None:
    """Move one geisha between two places."""
    moved = list(game.geishas)
    moved[clan * GEISHA_PLACES + start] -= 1
    moved[clan * GEISHA_PLACES + end] += 1
    game.geishas = tuple(moved)
    game.note(MEMBER_MOVED, clan, GEISHA, start * GEISHA_PLACES + end, rule)


def arrive(game: MatchaGame, seat: int, place: int) -> None:
    """The effect of the place where a walk ends (M-7.5)."""
    if place == ON_OVERLOOK:
        game.stack.append(Overlook(seat))
    elif place == ON_STEP_1:
        game.stack.append(ChooseOutskirtsCard(seat))
    elif place == ON_STEP_2:
        offer_curtains(game, seat, of_colour(game, blue=True), ONE, "M-7.5")
    else:
        tile = game.ceremonies[TEA_ROOMS.index(place)]
        game.stack.append(Offer(seat, tile, YELLOW, "M-7.5"))


# --- a step without chasen (M-8.2, tile 7) ------------------------------------------------------


class GeishaStepIcon(Effect):
    """One own geisha in the garden goes one step, without chasen."""

    def start(self, game: MatchaGame, seat: int, rule: str) -> None:
        game.stack.append(FreeWalk(seat))


class FreeWalk(Step):
    """A walk of one step that costs nothing, or none (M-8.2)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "M-8.2")

    def candidates(self, game: MatchaGame) -> Sequence[int]:
        return _HALVES[2]

    def blocked(self, game: MatchaGame, action: int) -> int:
        """One step, from where a geisha stands to where there is room."""
        if action == DONE:
            return 0
        start, end, steps = WALKS[action - WALK]
        return FAR if steps > 1 else standing(game, self.seat, start, end)

    def explain(self, game: MatchaGame, action: int, block: int) -> tuple[str, str]:
        if block == FAR:
            return "the tile gives one step", "M-8.2"
        return walk_refusal(self.seat, action, block, WALKS[action - WALK][0]), "M-7.6"

    def question(self, game: MatchaGame) -> str:
        """Ask for the step."""
        return "move a geisha one step without chasen"

    def resolve(self, game: MatchaGame, action: int) -> None:
        """Walk, with the effect of the place."""
        if action != DONE:
            start, end, _ = WALKS[action - WALK]
            move_geisha(game, self.seat, start, end, "M-8.2")
            arrive(game, self.seat, end)


# --- the overlook (M-7.5, M-10.2) ---------------------------------------------------------------


def lily_rewards(game: MatchaGame) -> tuple[Effect, ...]:
    """What the three water lilies give."""
    return tuple([game.tables.of(lily).faces[0] for lily in game.lilies])


class Lilies(Effect):
    """The three water lilies as an icon; never the choice of the overlook."""

    def scope(self, game: MatchaGame, seat: int) -> int:
        return joint_scope(game, seat, lily_rewards(game))

    def start(self, game: MatchaGame, seat: int, rule: str) -> None:
        grant(game, seat, lily_rewards(game), "M-7.5")


class Overlook(Step):
    """The water lilies, or the ceremony tile of the overlook for coins, or nothing (M-7.5)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "M-7.5")

    def row(self, game: MatchaGame) -> Row:
        """The blue face of the tile."""
        return game.tables.of(game.ceremonies[OVERLOOK_TILE]).rows[BLUE]

    def candidates(self, game: MatchaGame) -> Sequence[int]:
        """One of the two."""
        return (DONE, LILIES, CEREMONY)

    def blocked(self, game: MatchaGame, action: int) -> int:
        """The tile costs coins (M-8.3)."""
        if action == CEREMONY and game.has(self.seat, COIN) < game.tea_garden.overlook_coins:
            return PRICE
        return 0

    def explain(self, game: MatchaGame, action: int, block: int) -> tuple[str, str]:
        price, held = count(game.tea_garden.overlook_coins, COIN), game.has(self.seat, COIN)
        return f"it costs {price}, seat {self.seat} has {held}", "M-8.3"

    def question(self, game: MatchaGame) -> str:
        """Ask for the choice."""
        return "use the pond overlook"

    def resolve(self, game: MatchaGame, action: int) -> None:
        if action == LILIES:
            grant(game, self.seat, lily_rewards(game), "M-7.5")
        elif action == CEREMONY:
            game.pay(self.seat, COIN, game.tea_garden.overlook_coins, "M-8.3")
            perform(game, self.seat, self.row(game), "M-8.2")


# --- step 1 (M-7.5, M-7.6) ----------------------------------------------------------------------


class ChooseOutskirtsCard(Step):
    """Step 1: the top card of either deck, which is taken unless it is the last (M-7.6)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "M-7.5")

    def candidates(self, game: MatchaGame) -> Sequence[int]:
        """Take a card, or choose the last one of a deck."""
        return _OUTSKIRTS_CHOICES

    def blocked(self, game: MatchaGame, action: int) -> int:
        """The last card of a deck stays, every other one is taken."""
        takes = action < LAST_OUTSKIRTS_CARD
        is_last = not game.unseen[OUTSKIRTS_PILES[deck_chosen(action)]]
        if takes:
            return LAST if is_last else 0
        return 0 if is_last else NOT_LAST

    def explain(self, game: MatchaGame, action: int, block: int) -> tuple[str, str]:
        name = OUTSKIRTS_DECK_NAMES[deck_chosen(action)]
        if block == LAST:
            return f"the last {name} card stays, it can be chosen but not taken", "M-7.5"
        return f"the {name} card is not the last of its deck, so it is taken", "M-7.6"

    def question(self, game: MatchaGame) -> str:
        """Ask for the deck."""
        return "choose an outskirts card"

    def resolve(self, game: MatchaGame, action: int) -> None:
        """Its yellow curtain, if wanted; then it joins the Lantern Area, unless it is the last."""
        deck = deck_chosen(action)
        card = game.tops[OUTSKIRTS_PILES[deck]]
        if action < LAST_OUTSKIRTS_CARD:
            game.stack.append(TakeOutskirtsCard(self.seat, deck, card))
        game.stack.append(Offer(self.seat, card, yellow_row(game, card), "M-7.5"))


def deck_chosen(action: int) -> int:
    """The outskirts deck that an answer names."""
    return action - (OUTSKIRTS_CARD if action < LAST_OUTSKIRTS_CARD else LAST_OUTSKIRTS_CARD)


def yellow_row(game: MatchaGame, card: int) -> int:
    """Which curtain of an outskirts card is yellow: 0 the upper, 1 the lower (M-5.4)."""
    return 1 if game.tables.of(card).rows[0].dark else 0


class TakeOutskirtsCard(Step):
    """The card joins the Lantern Area, then the next one of its deck is revealed (M-7.6)."""

    def __init__(self, seat: int, deck: int, card: int) -> None:
        super().__init__(seat, "M-7.6")
        self.deck = deck
        self.card = card

    def fault(self, game: MatchaGame) -> str:
        kind = MATCHA_PILE_NAMES[OUTSKIRTS_PILES[self.deck]]
        fits = game.tables.of(self.card).kind == kind
        return "" if fits else f"{game.tables.names[self.card]} is not a {kind} (M-7.5)"

    def run(self, game: MatchaGame) -> None:
        """Nothing, if it left in the meantime."""
        pile = OUTSKIRTS_PILES[self.deck]
        if game.tops[pile] == self.card and game.unseen[pile]:
            game.shine(self.seat, self.card, "M-7.5")
            reveal(game, pile, "M-7.6")


def reveal(game: MatchaGame, pile: int, rule: str) -> None:
    """The next card of an outskirts deck lies on top, face up (M-3.5)."""
    game.lay_on_top(pile, game.draw_unseen(pile, f"matcha/{MATCHA_PILE_NAMES[pile]}", rule))
