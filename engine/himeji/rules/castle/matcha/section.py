"""What positions of Matcha hold beyond those of the base game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from himeji.rules.castle.constants import MEMBERS
from himeji.rules.castle.matcha.constants import (
    GEISHA_PLACE_NAMES,
    GEISHA_PLACES,
    LILIES_IN_POND,
    MATCHA_PILE_NAMES,
    OUTSKIRTS_DECK_NAMES,
    OUTSKIRTS_PILES,
    TEA_ROOMS,
)
from himeji.rules.castle.matcha.setup import PickPairAndTile
from himeji.rules.castle.matcha.state import MatchaGame
from himeji.rules.castle.section import Section

if TYPE_CHECKING:
    from himeji.rules.castle.reader import CastleReader

TILE_PLACES = (*[GEISHA_PLACE_NAMES[room] for room in TEA_ROOMS], "overlook")


class MatchaSection(Section):
    """The extension board, and what clans have of it."""

    key = "tea"

    def describe(self, game: MatchaGame) -> Any:
        """Pond, ceremony tiles, visible outskirts cards, tiles of the starting pairs."""
        names = game.tables.names
        return {
            "lilies": [names[lily] for lily in game.lilies],
            "ceremonies": {
                place: names[tile] for place, tile in zip(TILE_PLACES, game.ceremonies, strict=True)
            },
            "outskirts": {
                MATCHA_PILE_NAMES[pile]: names[game.tops[pile]] for pile in OUTSKIRTS_PILES
            },
            "offered": [names[tile] or None for tile in game.pair_tiles],
        }

    def read(self, reader: CastleReader, game: MatchaGame) -> None:
        """Everything of the extension board."""
        keys = ("lilies", "ceremonies", "outskirts", "offered")
        tea = reader.table(reader.position, self.key, "", keys)
        game.lilies = tuple(reader.listed(tea, "lilies", "tea.", ("lily",)))
        if len(game.lilies) != LILIES_IN_POND or len(set(game.lilies)) != LILIES_IN_POND:
            reader.fault("tea.lilies", f"expected {LILIES_IN_POND} different water lilies (M-3.4)")
        tiles = reader.table(tea, "ceremonies", "tea.", TILE_PLACES)
        game.ceremonies = tuple(
            self._one(reader, tiles, f"tea.ceremonies.{place}", "ceremony") for place in TILE_PLACES
        )
        cards = reader.table(tea, "outskirts", "tea.", OUTSKIRTS_DECK_NAMES)
        for pile in OUTSKIRTS_PILES:
            deck = MATCHA_PILE_NAMES[pile]
            game.lay_on_top(pile, self._one(reader, cards, f"tea.outskirts.{deck}", deck))
        offered = reader.items(tea, "offered", "tea.")
        game.pair_tiles = tuple(
            reader.component(tile, "tea.offered", ("ceremony",)) for tile in offered
        )

    def _one(self, reader: CastleReader, table: Mapping[str, Any], where: str, kind: str) -> int:
        value = table.get(where.rpartition(".")[2])
        if value is None:
            reader.fault(where, "missing")
        return reader.component(value, where, (kind,))

    def describe_clan(self, game: MatchaGame, clan: int) -> dict[str, Any]:
        """Geishas and the own ceremony tile."""
        at = clan * GEISHA_PLACES
        return {
            "geishas": {name: game.geishas[at + n] for n, name in enumerate(GEISHA_PLACE_NAMES)},
            "ceremony": game.tables.names[game.domain_tiles[clan]] or None,
        }

    def read_clan(
        self, reader: CastleReader, game: MatchaGame, clan: int, held: Mapping[str, Any]
    ) -> None:
        """Geishas and tile of one clan."""
        path, at = f"clans[{clan}].", clan * GEISHA_PLACES
        found = reader.table(held, "geishas", path, GEISHA_PLACE_NAMES)
        numbers = [reader.number(found, name, f"{path}geishas.", 99) for name in GEISHA_PLACE_NAMES]
        game.geishas = (*game.geishas[:at], *numbers, *game.geishas[at + GEISHA_PLACES :])
        tile = reader.component(held.get("ceremony", ""), f"{path}ceremony", ("ceremony",))
        tiles = game.domain_tiles
        game.domain_tiles = (*tiles[:clan], tile, *tiles[clan + 1 :])

    def places(self, game: MatchaGame) -> list[tuple[int, str]]:
        """Tiles and cards of the extension board and of the domains."""
        places = [(lily, "tea.lilies") for lily in game.lilies]
        places += [(component, where) for where, component in laid_out(game).items()]
        places += [(tile, "tea.offered") for tile in game.pair_tiles]
        return places + [
            (tile, f"clans[{clan}].ceremony") for clan, tile in enumerate(game.domain_tiles)
        ]

    def faults(self, game: MatchaGame) -> list[str]:
        """Geishas are five, no more fit in a place than its limit, and nothing is missing."""
        found = [
            f"{where}: nothing lies there (M-3.5, M-3.6)"
            for where, component in laid_out(game).items()
            if not component
        ]
        for clan in range(game.clans):
            where = f"clans[{clan}]"
            here = game.geishas[clan * GEISHA_PLACES : (clan + 1) * GEISHA_PLACES]
            if sum(here) != MEMBERS:
                found.append(f"{where}.geishas: {sum(here)} instead of {MEMBERS} (M-3.7)")
            for place, limit in enumerate(game.tea_garden.geisha_limit):
                if limit and here[place] > limit:
                    name = GEISHA_PLACE_NAMES[place]
                    found.append(f"{where}.geishas.{name}: {here[place]}, {limit} fit (M-7.5)")
            if clan < game.seats and not game.drafting and not game.domain_tiles[clan]:
                found.append(f"{where}.ceremony: missing after the set-up (M-3.8)")
        if game.pair_tiles and not game.drafting:
            found.append("tea.offered: left-over tiles leave the game after the set-up (M-3.6)")
        picking = any(isinstance(step, PickPairAndTile) for step in game.stack)
        if picking and [bool(tile) for tile in game.pair_tiles] != [
            bool(card) for card in game.pairs[0::2]
        ]:
            found.append("tea.offered: each pair that is left has its tile (M-3.6)")
        return found


def laid_out(game: MatchaGame) -> dict[str, int]:
    """The ceremony tiles and the visible cards of the extension board, by their places."""
    tiles = zip(TILE_PLACES, game.ceremonies, strict=True)
    cards = [(MATCHA_PILE_NAMES[pile], game.tops[pile]) for pile in OUTSKIRTS_PILES]
    return {
        **{f"tea.ceremonies.{place}": tile for place, tile in tiles},
        **{f"tea.outskirts.{deck}": card for deck, card in cards},
    }
