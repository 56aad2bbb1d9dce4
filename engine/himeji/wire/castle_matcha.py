"""The extension board of Matcha in messages of the castle family; empty without Matcha."""

from himeji.rules.castle.constants import MEMBERS
from himeji.rules.castle.matcha.constants import (
    CALLIGRAPHY_PILE,
    FLOWER_PILE,
    GEISHA_PLACES,
    LILIES_IN_POND,
    TEA_ROOMS,
)
from himeji.rules.castle.matcha.state import MatchaGame
from himeji.rules.castle.state import CastleGame
from himeji.v1.castle_pb2 import CastlePosition
from himeji.wire.message_reader import Deck, MessageReader

DECKS = (
    Deck(FLOWER_PILE, "flower", "unseen_flowers", "flower_top"),
    Deck(CALLIGRAPHY_PILE, "calligraphy", "unseen_calligraphies", "calligraphy_top"),
)
TILES = ("ceremony",)


def write(game: CastleGame, out: CastlePosition) -> None:
    """Fill the fields of Matcha."""
    if not isinstance(game, MatchaGame):
        return
    out.geishas.extend(game.geishas)
    out.water_lilies.extend(game.lilies)
    out.tea_house_tiles.extend(game.ceremonies[:-1])
    out.overlook_tile = game.ceremonies[-1]
    out.domain_tiles.extend(game.domain_tiles)
    out.offered_ceremonies.extend(game.pair_tiles)


def read(game: CastleGame, message: CastlePosition, reader: MessageReader) -> None:
    """Read the fields of Matcha; in a game without it they must be empty."""
    there = int(isinstance(game, MatchaGame))
    geishas = reader.numbers("geishas", game.clans * GEISHA_PLACES * there, MEMBERS)
    lilies = reader.cards("water_lilies", LILIES_IN_POND * there, ("lily",))
    rooms = reader.cards("tea_house_tiles", len(TEA_ROOMS) * there, TILES)
    overlook = reader.card("overlook_tile", "ceremony")
    domains = reader.cards("domain_tiles", game.clans * there, TILES, gaps=True)
    tiles = len(message.offered_ceremonies) * there
    offered = reader.cards("offered_ceremonies", tiles, TILES, gaps=True)
    if isinstance(game, MatchaGame):
        game.geishas, game.lilies = tuple(geishas), tuple(lilies)
        game.ceremonies, game.domain_tiles = (*rooms, overlook), tuple(domains)
        game.pair_tiles = tuple(offered)
