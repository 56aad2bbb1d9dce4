"""Set-up: one function for each paragraph of section 4, in the order in which they happen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.duel.constants import (
    ACTIVATION_PILE,
    ACTIVATION_SLOTS,
    COLUMNS,
    DECKS,
    DISPLAY,
    GARDEN_PILE,
    LOCATION_PILE,
    LOCATIONS,
    OUTGOING,
    PICK,
    PILE_NAMES,
    SEATS,
    SOCIAL_PILE,
    STACK_NAMES,
    STACKS,
    START_PILE,
    STARTING_PLAYER_PILE,
    YARD_NAMES,
    YARD_PILE,
)
from himeji.rules.duel.rounds import begin_round
from himeji.rules.duel.state import DuelGame
from himeji.rules.game import DRAW, Step

PICKED: Final = 1
STARTS: Final = 3  # start cards on offer
LAYOUTS: Final = ("random", "first-game")
FIRST_GAME: Final = LAYOUTS[1]
SOCIAL_TILES: Final = 4


def influence_decks(game: DuelGame) -> None:
    """All 36 cards in one shuffle, cut into three decks, each with its top card shown (D-4.2)."""
    game.unseen = tuple(game.tables.kinds["influence-card"])
    game.below = [len(game.unseen) // DECKS] * DECKS
    for deck in range(DECKS):
        game.reveal_top(deck, "D-4.2")


def yards(game: DuelGame) -> None:
    """One Basic and one Elite yard tile (D-4.3)."""
    game.yards = tuple(
        lay_out(game, f"{name}-yard", YARD_PILE + yard, 1, "D-4.3")[0]
        for yard, name in enumerate(YARD_NAMES)
    )


def lantern_display(game: DuelGame) -> None:
    """Three lantern cards face up (D-4.4)."""
    game.lanterns = tuple(game.tables.kinds["lantern-card"])
    for place in range(DISPLAY):
        game.refill_display(place, "D-4.4")


def castle(game: DuelGame) -> None:
    """Activation tiles on their slots, location tiles on the Locations (D-4.5)."""
    game.slots = lay_out(game, "activation-tile", ACTIVATION_PILE, ACTIVATION_SLOTS, "D-4.5")
    game.locations = tuple(lay_out(game, "location-tile", LOCATION_PILE, LOCATIONS, "D-4.5"))


def social_paths(game: DuelGame) -> None:
    """Two tiles on each side: the light frame below, the grey one above (D-4.6)."""
    game.social = tuple(lay_out(game, "social-tile", SOCIAL_PILE, SOCIAL_TILES, "D-4.6"))


def gardens(game: DuelGame) -> None:
    """Three tiles stone side up, three plant side up (D-4.7)."""
    game.gardens = tuple(lay_out(game, "garden-tile", GARDEN_PILE, COLUMNS, "D-4.7"))


def lay_out(game: DuelGame, kind: str, pile: int, places: int, rule: str) -> list[int]:
    """Tiles of a kind on their places: at random, or as the layout of the game fixes them."""
    if game.options["layout"] == FIRST_GAME:
        return list(game.tables.first_game[kind])
    left, laid = list(game.tables.kinds[kind]), []
    for _ in range(places):
        laid.append(game.draw(pile, left, 0, rule))
        left.remove(laid[-1])
    return laid


def merchandise(game: DuelGame) -> None:
    """Two stacks face up, of which only the top tile shows (D-4.8)."""
    for stack in range(STACKS):
        game.hidden_wares[stack] = tuple(game.tables.kinds[f"{STACK_NAMES[stack]}-merchandise"])
        game.reveal_ware(stack, "D-4.8")


def starting_player(game: DuelGame) -> None:
    """Chance decides who begins (D-4.10)."""
    names = [f"seat-{seat}" for seat in range(SEATS)]
    slot = f"duel/{PILE_NAMES[STARTING_PLAYER_PILE]}"
    game.starter = game.chance.draw(slot, list(range(SEATS)), names, 0)
    game.note(DRAW, -1, STARTING_PLAYER_PILE, game.starter, "D-4.10")


def start_cards(game: DuelGame) -> None:
    """Three start cards: the other player picks first, then the starting player (D-4.10)."""
    left, offers = list(game.tables.kinds["start-card"]), []
    for _ in range(STARTS):
        offers.append(game.draw(START_PILE, left, 0, "D-4.10"))
        left.remove(offers[-1])
    game.offers = tuple(offers)
    game.stack.append(EndOfDraft())
    game.stack.append(PickStart(game.starter))
    game.stack.append(PickStart(1 - game.starter))


class PickStart(Step):
    """Pick a start card (D-4.10)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "D-4.10")

    def fault(self, game: DuelGame) -> str:
        return "" if any(game.offers) else "no start card is on offer (D-4.10)"

    def candidates(self, game: DuelGame) -> Sequence[int]:
        """All cards that were revealed."""
        return range(PICK, PICK + len(game.offers))

    def blocked(self, game: DuelGame, action: int) -> int:
        """A card is picked once."""
        return 0 if game.offers[action - PICK] else PICKED

    def explain(self, game: DuelGame, action: int, block: int) -> tuple[str, str]:
        return "that start card is taken", "D-4.10"

    def question(self, game: DuelGame) -> str:
        """Ask for a card."""
        return "pick a start card"

    def resolve(self, game: DuelGame, action: int) -> None:
        """Gain what it shows; its back joins the zone of its colour."""
        place = action - PICK
        card = game.offers[place]
        game.offers = (*game.offers[:place], 0, *game.offers[place + 1 :])
        for effect in game.tables.of(card).gives:
            effect.start(game, self.seat, "D-4.10")
        game.shine(self.seat, card, "D-4.10")


class EndOfDraft(Step):
    """Both have their start card: the third goes to the box, the first turn begins (D-4.10)."""

    def __init__(self) -> None:
        super().__init__(-1, "D-4.10")

    def run(self, game: DuelGame) -> None:
        """The Outgoing round begins."""
        game.offers = ()
        game.drafting = False
        begin_round(game, OUTGOING)


DUEL_SETUP = (
    influence_decks,
    yards,
    lantern_display,
    castle,
    social_paths,
    gardens,
    merchandise,
    starting_player,
    start_cards,
)
