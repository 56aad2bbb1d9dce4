"""The seats of Duel as text: goods, tokens, Lantern zones, cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.render.duel import facts
from himeji.render.page_blocks import clan, goods
from himeji.render.phrases import name
from himeji.render.sheet import WIDTH, Block, Line, box, join, wrap
from himeji.render.situation import points
from himeji.rules.constants import COIN, COLOUR_NAMES, SEAL
from himeji.rules.duel.components import Component
from himeji.rules.duel.constants import COLOURS
from himeji.rules.duel.state import DuelGame

LABEL: Final = 12
INNER: Final = WIDTH - 4 - LABEL


def domains(game: DuelGame) -> Block:
    """One box per seat."""
    lines: Block = []
    for seat in range(game.clans):
        lines += _domain(game, seat)
    return lines


def _domain(game: DuelGame, seat: int) -> Block:
    title = clan(seat) + Line(f" Seat {seat}", "title")
    title = title + f" · {facts.path_name(game, seat)} · {points(game, seat)}"
    held = game.has(seat, COIN) + game.has(seat, SEAL)
    left = game.tables.clan_seals - game.seals_placed(seat)
    stores = f"      coins and seals {held}/{game.tables.storage}      {left} Clan Seals left"
    lines = [goods(game, seat), _tokens(game, seat) + Line(stores, "dim")]
    for colour in range(COLOURS):
        lines += _zone(game, seat, colour)
    lines += _cards("cards", facts.cards_of(game, game.cards[seat]))
    lines += _cards("improved", facts.cards_of(game, game.improved[seat]))
    lines += _cards("merchandise", facts.wares_of(game, seat))
    return box(title, lines, WIDTH)


def _tokens(game: DuelGame, seat: int) -> Line:
    names = COLOUR_NAMES[:COLOURS]
    found = [
        Line(f"{game.tokens[seat * COLOURS + number]} ") + Line(name_, f"die-{name_}")
        for number, name_ in enumerate(names)
    ]
    return Line("tokens".ljust(LABEL)) + join(found, "   ")


def _zone(game: DuelGame, seat: int, colour: int) -> Block:
    word = COLOUR_NAMES[colour]
    parts = [Line(facts.printed(game, colour))]
    parts += [
        Line(facts.shines(card)) + Line(f" {name(card)}", "dim")
        for card in facts.zone(game, seat, colour)
    ]
    return _labelled(Line(f"{word} zone", f"die-{word}"), wrap(parts, INNER, " + "))


def _cards(label: str, cards: Sequence[Component]) -> Block:
    if not cards:
        return []
    parts = [Line(name(card)) + Line(f" {facts.icons(card.icons)}", "dim") for card in cards]
    return _labelled(Line(label), wrap(parts, INNER))


def _labelled(label: Line, lines: Block) -> Block:
    return [
        (label if number == 0 else Line()).fit(LABEL) + line for number, line in enumerate(lines)
    ]
