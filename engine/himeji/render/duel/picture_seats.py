"""The seats of Duel in the picture: goods, tokens, Lantern zones, cards, merchandise, points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.render.canvas import Canvas, Number
from himeji.render.duel import facts
from himeji.render.duel.picture_elements import SUIT_FILLS, chip_width, token, write_icons
from himeji.render.icons import icon
from himeji.render.palette import EDGE, MUTED
from himeji.render.panels import PAD, Pen, seat_goods, seat_name, seat_points
from himeji.render.phrases import name
from himeji.rules.constants import COIN, COLOUR_NAMES, GOOD_NAMES, SEAL
from himeji.rules.duel.components import Component
from himeji.rules.duel.constants import COLOURS
from himeji.rules.duel.state import DuelGame

LABEL: Final = 108
CHIP: Final = 26


def left_seat(game: DuelGame, width: Number) -> list[Canvas]:
    return [_seat(game, 0, width)]


def right_seat(game: DuelGame, width: Number) -> list[Canvas]:
    return [_seat(game, 1, width)]


def _seat(game: DuelGame, seat: int, width: Number) -> Canvas:
    canvas = Canvas(width)
    seat_name(game, canvas, seat)
    seat_goods(game, canvas, seat)
    _fill(game, canvas, seat)
    # Both are as high as the higher one, so that they end on one line.
    canvas.height = max(_fill(game, Canvas(width), each) for each in range(game.clans)) + 22
    seat_points(game, canvas, seat)
    return canvas


def _fill(game: DuelGame, canvas: Canvas, seat: int) -> Number:
    """Everything below the goods; returns the lower edge."""
    y = _tokens(game, canvas, seat, 94)
    for colour in range(COLOURS):
        drawn = Canvas(canvas.width)
        y = _zone(game, drawn, seat, colour, y)
        own = f"lantern {COLOUR_NAMES[colour]}" if seat == game.to_move else ""
        canvas.place(drawn, 0, 0, mark=own)
    shown = (
        ("Cards", facts.cards_of(game, game.cards[seat])),
        ("Improved", facts.cards_of(game, game.improved[seat])),
        ("Merchandise", facts.wares_of(game, seat)),
    )
    for label, cards in shown:
        y = _cards(canvas, label, cards, y)
    return y


def _tokens(game: DuelGame, canvas: Canvas, seat: int, y: Number) -> Number:
    canvas.text(PAD, y + 17, "Tokens", size=12, bold=True)
    x: Number = LABEL + 12
    for colour in range(COLOURS):
        for _ in range(game.tokens[seat * COLOURS + colour]):
            token(canvas, COLOUR_NAMES[colour], x, y + 13, 10)
            x += 23
    held = game.has(seat, COIN) + game.has(seat, SEAL)
    left = game.tables.clan_seals - game.seals_placed(seat)
    text = f"storage {held} of {game.tables.storage} · {left} Clan Seals left"
    canvas.text(canvas.width - PAD, y + 17, text, size=11, fill=MUTED, anchor="end")
    return y + 30


def _zone(game: DuelGame, canvas: Canvas, seat: int, colour: int, y: Number) -> Number:
    word = COLOUR_NAMES[colour]
    icon(canvas, f"lantern {word}", PAD, y + 3, 18)
    canvas.text(PAD + 24, y + 17, word.capitalize(), size=12, bold=True)
    good = game.tables.zone_good[colour]
    chips = [(facts.printed(game, colour), GOOD_NAMES[good], "printed")]
    chips += [
        (facts.shines(card), GOOD_NAMES[card.good], name(card))
        for card in facts.zone(game, seat, colour)
    ]
    x: Number = LABEL
    for text, icon_word, title in chips:
        width = chip_width(text)
        if x + width > canvas.width - PAD:
            x, y = LABEL, y + CHIP + 4
        drawn = Canvas()
        drawn.rect(0, 0, width, CHIP - 2, rx=12, fill="#fdebd2", stroke="#e2a45c")
        icon(drawn, icon_word, 7, 4, 16)
        drawn.text(27, 16.5, text)
        canvas.place(drawn, x, y, title=title)
        x += width + 6
    return y + CHIP + 4


def _cards(canvas: Canvas, label: str, cards: Sequence[Component], y: Number) -> Number:
    if not cards:
        return y
    canvas.text(PAD, y + 17, label, size=12, bold=True)
    x: Number = LABEL
    for card in cards:
        width = 20 * sum(card.icons) + 14 + 7 * len(name(card))
        if x + width > canvas.width - PAD:
            x, y = LABEL, y + CHIP + 4
        drawn = Canvas()
        fill = SUIT_FILLS[card.suit] if card.price.amount else "#efe6f5"
        drawn.rect(0, 0, width, CHIP - 2, rx=5, fill=fill, stroke=EDGE)
        write_icons(Pen(drawn, 6, 17), card.icons)
        drawn.text(20 * sum(card.icons) + 8, 16, name(card), size=10, fill=MUTED)
        canvas.place(drawn, x, y, title=name(card))
        x += width + 6
    return y + CHIP + 4
