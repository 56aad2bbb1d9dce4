"""A castle position as compact bytes: the same lists as in the state, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from himeji.rules.castle.state import CastleGame
from himeji.rules.chance import Chance
from himeji.rules.packing import Unpacker, finish_unpacking, pack_game, unpack_options

if TYPE_CHECKING:
    from himeji.rules.castle.ruleset import CastleRuleset


def pack(game: CastleGame) -> bytes:
    """The position, without chance and events."""
    numbers = (game.round, game.turn, game.deal, game.daimyo, game.hand, game.hand_side)
    flags = (int(game.drafting), int(game.over))
    return pack_game(game, (*numbers, *flags), _flat_lists(game), _nested_lists(game))


def _flat_lists(game: CastleGame) -> list[Sequence[int]]:
    return [
        game.goods,
        game.courtiers,
        game.gardeners,
        game.warriors,
        game.action_card,
        game.domain_dice,
        game.left,
        game.right,
        game.rooms,
        game.slots,
        game.order,
        game.markers,
        game.tiles,
        game.gardens,
        game.yard_tiles,
        game.pairs,
        game.tops,
        game.under,
        game.pair_tiles,
        game.geishas,
        game.lilies,
        game.ceremonies,
        game.domain_tiles,
    ]


def _nested_lists(game: CastleGame) -> list[list[tuple[int, ...]]]:
    decks = [game.unseen[pile] for pile in game.rules.decks]
    return [game.lanterns, game.centre, game.spaces, decks]


def unpack(rules: CastleRuleset, data: bytes, chance: Chance) -> CastleGame:
    """The game of a packed position, standing where it stood."""
    feed = Unpacker(data)
    game = rules.empty(feed.get(), chance, unpack_options(rules, feed))
    finish_unpacking(game, feed, _fill)
    return game


def _fill(game: CastleGame, feed: Unpacker) -> None:
    game.round, game.turn, game.deal = feed.get(), feed.get(), feed.get()
    game.daimyo, game.hand, game.hand_side = feed.get(), feed.get(), feed.get()
    game.drafting, game.over = bool(feed.get()), bool(feed.get())
    flat = [feed.get_all() for _ in _flat_lists(game)]
    (game.goods, game.courtiers, game.gardeners, game.warriors, game.action_card) = flat[:5]
    (game.domain_dice, game.left, game.right, game.rooms, game.slots) = flat[5:10]
    game.order, game.markers = tuple(flat[10]), tuple(flat[11])
    game.set_tiles(tuple(flat[12]))
    game.gardens, game.yard_tiles, game.pairs = tuple(flat[13]), tuple(flat[14]), tuple(flat[15])
    game.tops, game.under, game.pair_tiles = tuple(flat[16]), tuple(flat[17]), tuple(flat[18])
    game.geishas, game.lilies = tuple(flat[19]), tuple(flat[20])
    game.ceremonies, game.domain_tiles = tuple(flat[21]), tuple(flat[22])
    game.lanterns, game.centre, game.spaces, decks = [
        feed.get_groups() for _ in _nested_lists(game)
    ]
    for pile, cards in zip(game.rules.decks, decks, strict=True):
        game.unseen[pile] = cards
