"""The set-up of Matcha: pond, outskirts, ceremony tiles, and pairs with their tiles (M-3)."""

from __future__ import annotations

from typing import cast

from himeji.rules.castle.constants import CARD_MOVED, PICK, TO_DOMAIN
from himeji.rules.castle.matcha.constants import (
    CEREMONY_PILE,
    LILIES_IN_POND,
    LILY_PILE,
    MATCHA_PILE_NAMES,
    OUTSKIRTS_PILES,
    TEA_ROOMS,
)
from himeji.rules.castle.matcha.geishas import reveal
from himeji.rules.castle.matcha.state import MatchaGame
from himeji.rules.castle.setup import PickPair, starting_pairs
from himeji.rules.castle.state import CastleGame


def _dealt(game: MatchaGame, pile: int, amount: int, rule: str) -> list[int]:
    """Tiles drawn from all of their kind that do not lie on the table yet."""
    left = [
        tile for tile in game.tables.kinds[MATCHA_PILE_NAMES[pile]] if tile not in game.ceremonies
    ]
    dealt = []
    for _ in range(amount):
        dealt.append(game.draw(pile, f"matcha/{MATCHA_PILE_NAMES[pile]}", left, rule))
        left.remove(dealt[-1])
    return dealt


def water_lilies(game: MatchaGame) -> None:
    """Three random water lilies in the pond (M-3.4)."""
    game.lilies = tuple(_dealt(game, LILY_PILE, LILIES_IN_POND, "M-3.4"))


def outskirts(game: MatchaGame) -> None:
    """Two decks face up; with two clans without the diamond cards (M-3.5)."""
    with_diamonds = game.clans > 2
    for pile in OUTSKIRTS_PILES:
        cards = game.tables.kinds[MATCHA_PILE_NAMES[pile]]
        game.unseen[pile] = tuple(
            card for card in cards if with_diamonds or not game.tables.of(card).diamond
        )
        reveal(game, pile, "M-3.5")


def ceremony_tiles(game: MatchaGame) -> None:
    """One tile for each room of the tea house and one for the overlook (M-3.6)."""
    game.ceremonies = tuple(_dealt(game, CEREMONY_PILE, len(TEA_ROOMS) + 1, "M-3.6"))


def pairs_and_tiles(game: MatchaGame) -> None:
    """Starting pairs, a ceremony tile below each, picked in reverse turn order (M-3.6, M-3.8)."""
    starting_pairs(game, PickPairAndTile)
    game.pair_tiles = tuple(_dealt(game, CEREMONY_PILE, len(game.pairs) // 2, "M-3.6"))


class PickPairAndTile(PickPair):
    """Pick a starting pair with its ceremony tile (M-3.8)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat)
        self.rule = "M-3.8"

    def resolve(self, game: CastleGame, action: int) -> None:
        """The tile stays blue side up on the domain for the whole game."""
        matcha, pair = cast("MatchaGame", game), action - PICK
        tile = matcha.pair_tiles[pair]
        matcha.pair_tiles = (*matcha.pair_tiles[:pair], 0, *matcha.pair_tiles[pair + 1 :])
        keep_tile(matcha, self.seat, tile)
        super().resolve(game, action)


def keep_tile(game: MatchaGame, seat: int, tile: int) -> None:
    """A ceremony tile comes to a domain."""
    tiles = game.domain_tiles
    game.domain_tiles = (*tiles[:seat], tile, *tiles[seat + 1 :])
    game.note(CARD_MOVED, seat, tile, TO_DOMAIN, "M-3.8")
