"""A position of Duel as compact bytes: the same lists as in the state, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from himeji.rules.chance import Chance
from himeji.rules.duel.state import DuelGame
from himeji.rules.packing import Unpacker, finish_unpacking, pack_game, unpack_options

if TYPE_CHECKING:
    from himeji.rules.duel.ruleset import DuelRuleset


def pack(game: DuelGame) -> bytes:
    """The position, without chance and events."""
    flags = (int(game.drafting), int(game.over))
    numbers = (game.round, game.turn, game.starter, *flags)
    return pack_game(game, numbers, _flat_lists(game), _nested_lists(game))


def _flat_lists(game: DuelGame) -> list[Sequence[int]]:
    return [
        game.goods,
        game.tokens,
        game.slots,
        game.tops,
        game.below,
        game.display,
        game.yard_seals,
        game.garden_seals,
        game.paths,
        game.courtiers,
        game.wares,
        game.cards,
        game.improved,
        game.locations,
        game.unseen,
        game.lanterns,
        game.yards,
        game.gardens,
        game.social,
        game.offers,
    ]


def _nested_lists(game: DuelGame) -> list[list[tuple[int, ...]]]:
    return [game.stacks, game.zones, game.hidden_wares, game.bought]


def unpack(rules: DuelRuleset, data: bytes, chance: Chance) -> DuelGame:
    """The game of a packed position, standing where it stood."""
    feed = Unpacker(data)
    game = rules.empty(feed.get(), chance, unpack_options(rules, feed))
    finish_unpacking(game, feed, _fill)
    return game


def _fill(game: DuelGame, feed: Unpacker) -> None:
    game.round, game.turn, game.starter = feed.get(), feed.get(), feed.get()
    game.drafting, game.over = bool(feed.get()), bool(feed.get())
    flat = [feed.get_all() for _ in _flat_lists(game)]
    game.goods, game.tokens, game.slots, game.tops, game.below, game.display = flat[:6]
    game.yard_seals, game.garden_seals, game.paths, game.courtiers = flat[6:10]
    game.wares, game.cards, game.improved = flat[10:13]
    game.locations, game.unseen, game.lanterns = tuple(flat[13]), tuple(flat[14]), tuple(flat[15])
    game.yards, game.gardens = tuple(flat[16]), tuple(flat[17])
    game.social, game.offers = tuple(flat[18]), tuple(flat[19])
    nested = [feed.get_groups() for _ in _nested_lists(game)]
    game.stacks, game.zones, game.hidden_wares, game.bought = nested
