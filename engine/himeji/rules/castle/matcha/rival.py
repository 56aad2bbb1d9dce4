"""The rival in Matcha: its geishas, its losses, and the choices of the player's start (M-12)."""

from __future__ import annotations

from collections.abc import Sequence

from himeji.rules.castle.constants import (
    CARD_MOVED,
    IN_DOMAIN,
    INFLUENCE_MOVED,
    OUT_OF_GAME,
    START_ACTION_PILE,
    START_RESOURCE_PILE,
)
from himeji.rules.castle.matcha.constants import (
    CEREMONY_PILE,
    GEISHA_PLACE_NAMES,
    GEISHA_PLACES,
    KEEP,
    ON_STEP_1,
    OUTSKIRTS_PILES,
    RIVAL_DISCARD,
    RIVAL_WALK,
    START_KIND_NAMES,
    TEA_ROOMS,
    WALKS,
)
from himeji.rules.castle.matcha.geishas import move_geisha, reveal, standing
from himeji.rules.castle.matcha.rounds import GardensAndPondOfSeat
from himeji.rules.castle.matcha.scoring import geisha_worth
from himeji.rules.castle.matcha.setup import keep_tile
from himeji.rules.castle.matcha.state import MatchaGame
from himeji.rules.castle.setup import EndOfDraft, Start, take_start_cards
from himeji.rules.castle.solo.rival import RivalActions, RivalGardens
from himeji.rules.castle.solo.rival_actions import PLAYER, RivalAction, RivalChoice
from himeji.rules.constants import COIN, GOODS, INFLUENCE, VP
from himeji.rules.effects import Effect
from himeji.rules.game import Step

# --- set-up (M-12.1) ----------------------------------------------------------------------------


def start_choices(game: MatchaGame) -> None:
    """Two starting cards of each kind and two ceremony tiles; one of each is kept (M-12.1)."""
    dealt = []
    for pile in (START_RESOURCE_PILE, START_ACTION_PILE, CEREMONY_PILE):
        kind = game.rules.pile_names[pile]
        slot = f"matcha/{kind}" if pile == CEREMONY_PILE else f"castle/{kind}"
        left = [card for card in game.tables.kinds[kind] if card not in game.ceremonies]
        for _ in range(2):
            dealt.append(game.draw(pile, slot, left, "M-12.1"))
            left.remove(dealt[-1])
    game.pairs = (dealt[0], dealt[2], dealt[1], dealt[3])
    game.pair_tiles = (dealt[4], dealt[5])
    kinds = range(len(START_KIND_NAMES) - 1, -1, -1)
    game.stack += [EndOfDraft(), TakeKept(PLAYER), *[KeepStart(PLAYER, kind) for kind in kinds]]


class KeepStart(Start):
    """Keep one of two starting cards or ceremony tiles (M-12.1)."""

    def __init__(self, seat: int, kind: int) -> None:
        super().__init__(seat, "M-12.1")
        self.kind = kind  # resource card, action card, tile

    def fault(self, game: MatchaGame) -> str:
        both = all(game.pair_tiles if self.kind == 2 else game.pairs[self.kind :: 2])
        offered = len(game.pairs) == 4 and len(game.pair_tiles) == 2 and both
        if not offered:
            return "two of the kind must be on offer (M-12.1)"
        taken = isinstance(_first_start(game), TakeKept)
        return "" if taken else "what is kept comes to the player afterwards (M-12.1)"

    def candidates(self, game: MatchaGame) -> Sequence[int]:
        """The first or the second."""
        return (KEEP + 2 * self.kind, KEEP + 2 * self.kind + 1)

    def question(self, game: MatchaGame) -> str:
        return f"keep a starting {START_KIND_NAMES[self.kind]}"

    def resolve(self, game: MatchaGame, action: int) -> None:
        """The other one leaves the game."""
        other = 1 - (action - KEEP) % 2
        if self.kind == 2:
            game.pair_tiles = tuple(
                [0 if n == other else tile for n, tile in enumerate(game.pair_tiles)]
            )
            return
        gone = 2 * other + self.kind
        game.pairs = tuple([0 if n == gone else card for n, card in enumerate(game.pairs)])


class TakeKept(Start):
    """What was kept comes to the player (M-12.1, B-1.7)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "M-12.1")

    def fault(self, game: MatchaGame) -> str:
        """Of each kind one is left, or one is still to be kept."""
        if _first_start(game) is not self:
            return "what is kept comes to the player once, in the end (M-12.1)"
        choices = [step.kind for step in game.stack if isinstance(step, KeepStart)]
        offered = (game.pairs[0::2], game.pairs[1::2], game.pair_tiles)
        left = [len(cards) - cards.count(0) for cards in offered]
        fits = left == [1 + choices.count(kind) for kind in range(len(START_KIND_NAMES))]
        return "" if fits else "of each kind one starting component is kept (M-12.1)"

    def run(self, game: MatchaGame) -> None:
        """The tile, then the cards with their gains."""
        keep_tile(game, self.seat, max(game.pair_tiles))
        resource, action = max(game.pairs[0::2]), max(game.pairs[1::2])
        game.pairs = game.pair_tiles = ()
        take_start_cards(game, self.seat, resource, action)


def _first_start(game: MatchaGame) -> Step:
    """The lowest of the pending steps of the start."""
    return next(step for step in game.stack if isinstance(step, Start))


# --- geishas of the rival (M-12.4, M-12.5) ------------------------------------------------------


class RivalGeisha(RivalAction):
    """A geisha from the supply to a place of the path."""

    def __init__(self, place: int, text: str, code: int) -> None:
        super().__init__(text, code)
        self.place = place

    def start(self, game: MatchaGame, seat: int, rule: str) -> None:
        """The next walk is that of another geisha than the one placed here (M-12.9)."""
        placed = self.place if self.possible(game, seat) else IN_DOMAIN
        waiting = game.stack[-1] if game.stack else None
        if isinstance(waiting, RivalActions):
            game.stack[-1] = RivalActions(_spared(game, waiting.deeds, placed))
        super().start(game, seat, rule)

    def possible(self, game: MatchaGame, rival: int) -> bool:
        """A geisha is left."""
        return game.geishas[rival * GEISHA_PLACES + IN_DOMAIN] > 0

    def do(self, game: MatchaGame, rival: int) -> None:
        """It goes there; on step 1 a card is discarded."""
        move_geisha(game, rival, IN_DOMAIN, self.place, "M-12.5")
        if self.place == ON_STEP_1:
            discard(game)


def walk_word(spared: int) -> str:
    """The word for a walk of any geisha but one at that place; in the domain: of any."""
    return f"rival-walk but {GEISHA_PLACE_NAMES[spared]}" if spared else "rival-walk"


def _spared(game: MatchaGame, actions: tuple[Effect, ...], placed: int) -> tuple[Effect, ...]:
    """The waiting actions, where the next walk spares the geisha just placed."""
    for number, action in enumerate(actions):
        if isinstance(action, RivalWalk):
            walk = game.rules.words.parse(walk_word(placed))
            return (*actions[:number], walk, *actions[number + 1 :])
    return actions


class RivalWalk(RivalAction):
    """Another geisha of the player's choice goes one step (M-12.5)."""

    def __init__(self, spared: int, code: int) -> None:
        super().__init__(walk_word(spared), code)
        self.spared = spared

    def possible(self, game: MatchaGame, rival: int) -> bool:
        """Some geisha can walk."""
        return bool(rival_walks(game, self.spared))

    def do(self, game: MatchaGame, rival: int) -> None:
        """Walk; of several the player chooses."""
        walks = rival_walks(game, self.spared)
        if len(walks) == 1:
            _walk(game, walks[0])
        else:
            game.stack.append(RivalGeishaWalks(PLAYER, self.spared))


def rival_walks(game: MatchaGame, spared: int) -> list[int]:
    """The steps that geishas of the rival can take, as numbers of WALKS.

    In the tea house the room that is worth most now, of those with room (M-12.4, M-12.8).
    """
    rival = game.seats
    walks = [
        number
        for number, (start, end, steps) in enumerate(WALKS)
        if steps == 1
        and standing(game, rival, start, end) == 0
        and game.geishas[rival * GEISHA_PLACES + start] > int(start == spared)
    ]
    rooms = [WALKS[number][1] for number in walks if WALKS[number][1] in TEA_ROOMS]
    best = max([geisha_worth(game, rival, room) for room in rooms], default=0)
    poor = [room for room in rooms if geisha_worth(game, rival, room) < best]
    return [number for number in walks if WALKS[number][1] not in poor]


def _walk(game: MatchaGame, number: int) -> None:
    start, end, _ = WALKS[number]
    move_geisha(game, game.seats, start, end, "M-12.5")
    if end == ON_STEP_1:
        discard(game)


class RivalGeishaWalks(RivalChoice):
    """The player chooses which geisha of the rival goes one step, and where to (M-12.5)."""

    def __init__(self, seat: int, spared: int) -> None:
        super().__init__(seat, "M-12.5")
        self.spared = spared

    def fault(self, game: MatchaGame) -> str:
        several = len(rival_walks(game, self.spared)) > 1
        return "" if several else "the rival has no choice of walks (M-12.5)"

    def candidates(self, game: MatchaGame) -> Sequence[int]:
        """Every step that can be taken."""
        return [RIVAL_WALK + number for number in rival_walks(game, self.spared)]

    def question(self, game: MatchaGame) -> str:
        """Ask for the step."""
        return "choose a step for a geisha of the rival"

    def resolve(self, game: MatchaGame, action: int) -> None:
        _walk(game, action - RIVAL_WALK)


def discard(game: MatchaGame) -> None:
    """The top card of an outskirts deck leaves the game, never the last one (M-12.4)."""
    decks = [deck for deck, pile in enumerate(OUTSKIRTS_PILES) if game.unseen[pile]]
    if len(decks) > 1:
        game.stack.append(RivalDiscard(PLAYER))
    for deck in decks if len(decks) == 1 else []:
        _discard(game, deck)


def _discard(game: MatchaGame, deck: int) -> None:
    pile = OUTSKIRTS_PILES[deck]
    game.note(CARD_MOVED, game.seats, game.tops[pile], OUT_OF_GAME, "M-12.4")
    reveal(game, pile, "M-12.4")


class RivalDiscard(RivalChoice):
    """The player chooses the deck whose top card leaves the game (M-12.4)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "M-12.4")

    def fault(self, game: MatchaGame) -> str:
        both = all(game.unseen[pile] for pile in OUTSKIRTS_PILES)
        return "" if both else "a deck has only its last card (M-12.4)"

    def candidates(self, game: MatchaGame) -> Sequence[int]:
        return (RIVAL_DISCARD, RIVAL_DISCARD + 1)

    def question(self, game: MatchaGame) -> str:
        """Ask for the deck."""
        return "choose an outskirts card that leaves the game"

    def resolve(self, game: MatchaGame, action: int) -> None:
        _discard(game, action - RIVAL_DISCARD)


# --- losses (M-12.2, M-12.5) --------------------------------------------------------------------


class RivalLosesPoints(RivalAction):
    """The rival loses VP, as far as it has them."""

    def __init__(self, amount: int, text: str, code: int) -> None:
        super().__init__(text, code)
        self.amount = amount

    def do(self, game: MatchaGame, rival: int) -> None:
        """A loss of 0 is no impossible action (M-12.9)."""
        game.pay(rival, VP, min(self.amount, game.has(rival, VP)), "M-12.5")


class RivalLosesCoins(RivalAction):
    """The rival loses all its coins."""

    def do(self, game: MatchaGame, rival: int) -> None:
        game.pay(rival, COIN, game.has(rival, COIN), "M-12.5")


class RivalInfluenceBack(RivalAction):
    """The rival's marker goes back, and ends on top of those it meets."""

    def __init__(self, amount: int, text: str, code: int) -> None:
        super().__init__(text, code)
        self.amount = amount

    def do(self, game: MatchaGame, rival: int) -> None:
        """As far as possible; a marker that does not move keeps its place (B-6.2)."""
        at = rival * GOODS + INFLUENCE
        for _ in range(min(self.amount, game.goods[at])):
            game.goods[at] -= 1
            game.markers = (*[marker for marker in game.markers if marker != rival], rival)
            game.note(INFLUENCE_MOVED, rival, game.goods[at], 0, "M-12.5")


# --- the end of a round (M-10.2, M-12.10) -------------------------------------------------------


def gardens_pond_and_rivals(game: MatchaGame) -> None:
    """The garden step in the new turn order; the rival's gardeners alone give VP (M-12.10)."""
    for clan in reversed(game.order):
        mine = clan < game.seats
        game.stack.append(GardensAndPondOfSeat(clan) if mine else RivalGardens())
