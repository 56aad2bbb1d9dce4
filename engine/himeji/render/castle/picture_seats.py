"""The domains in the picture: goods, rows with their cells, action card, Lantern Area, points."""

from __future__ import annotations

from typing import Final

from himeji.render.canvas import Canvas, Number, width_of
from himeji.render.castle import facts
from himeji.render.castle.facts_matcha import own_ceremony
from himeji.render.castle.picture_elements import chips, dice_space, row_bar
from himeji.render.icons import Die, icon
from himeji.render.palette import BLUE_FACE, DICE, EDGE, FAINT, MUTED
from himeji.render.panels import PAD, Pen, seat_goods, seat_name, seat_points, small_id
from himeji.render.phrases import brief, dagger, parted, phrase, phrases
from himeji.rules.castle.components import LINES
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import COLOUR_NAMES
from himeji.rules.effects import Effect

TOP: Final = 106
ROW: Final = 50
CELL: Final = 56
CELLS_AT: Final = 74


def domains_left(game: CastleGame, width: Number) -> list[Canvas]:
    """The domains of seats 0 and 2."""
    return [_domain(game, seat, width) for seat in range(0, game.clans, 2)]


def domains_right(game: CastleGame, width: Number) -> list[Canvas]:
    """The domains of seats 1 and 3."""
    return [_domain(game, seat, width) for seat in range(1, game.clans, 2)]


def _domain(game: CastleGame, seat: int, width: Number) -> Canvas:
    if seat >= game.seats:
        return rival(game, seat, width)
    canvas = Canvas(width)
    seat_name(game, canvas, seat)
    seat_goods(game, canvas, seat)
    for row in range(len(game.tables.cells)):
        drawn = Canvas(width)
        _row(game, drawn, seat, row)
        colour = COLOUR_NAMES[row]
        own = f"domain-{colour},domain-row {colour}" if seat == game.to_move else ""
        canvas.place(drawn, 0, 0, mark=own)
    _action_card(game, canvas, seat)
    bottom = TOP + ROW * len(game.tables.cells) + 8
    # Every domain is as high as the highest, so that neighbours end on one line.
    canvas.height = max(_lanterns(game, Canvas(width), s, bottom) for s in range(game.clans))
    _lanterns(game, canvas, seat, bottom)
    canvas.height += 26
    seat_points(game, canvas, seat)
    return canvas


def _row(game: CastleGame, canvas: Canvas, seat: int, row: int) -> None:
    y, colour = TOP + ROW * row, COLOUR_NAMES[row]
    look, cells = DICE[colour], game.tables.cells[row]
    canvas.rect(PAD, y, 6, ROW - 8, rx=2, fill=look.fill, stroke=look.edge)
    value = game.domain_dice[seat * 4 + row]
    dice = [Die(colour, value)] if value else []
    printed = next(s.printed for s in game.tables.spaces if s.name == f"domain-{colour}")
    dice_space(canvas, printed, dice, PAD + 41, y)
    label = colour + dagger(reconstructed=game.tables.row_reconstructed(row))
    canvas.text(PAD + 27, y + 39, label, size=10, fill=MUTED, anchor="middle")
    home = facts.at_home(game, seat, row)
    for number, cell in enumerate(cells):
        covered = number >= len(cells) - home
        worker = facts.worker_of(game, row) if covered else ""
        _cell(canvas, cell, worker, CELLS_AT + CELL * number, y)


def _cell(canvas: Canvas, effect: Effect, worker: str, x: Number, y: Number) -> None:
    """A cell shows its reward; a covered one the member, and small below what it hides."""
    drawn = Canvas()
    size = (CELL - 5, ROW - 8)
    _, word = parted(effect)
    if worker:
        drawn.rect(0, 0, *size, rx=5, fill=FAINT, stroke=EDGE, stroke_dasharray="3 2")
        icon(drawn, worker, 16, 3, 19)
        drawn.text(size[0] / 2, 36, brief(effect), size=10, fill=MUTED, anchor="middle")
    else:
        drawn.rect(0, 0, *size, rx=5, fill="#ffffff", stroke="#8b7c5c", stroke_width=1.4)
        icon(drawn, word, 16, 4, 19)
        fits = width_of(brief(effect), 11, bold=True) < size[0] - 4
        drawn.text(
            size[0] / 2, 36, brief(effect), size=11 if fits else 10, bold=True, anchor="middle"
        )
    state = f"covered by a {worker}" if worker else "visible"
    canvas.place(drawn, x, y, title=f"{effect.text}, {state}")


def _action_card(game: CastleGame, canvas: Canvas, seat: int) -> None:
    number = game.action_card[seat]
    x = CELLS_AT + CELL * len(game.tables.cells[0]) + 8
    width = canvas.width - x - PAD
    if not number:
        canvas.text(x, TOP + 26, "no action card yet", size=11, fill=MUTED)
        return
    card = game.tables.of(number)
    for line, row in facts.card_rows(card):
        y = TOP + ROW * line
        row_bar(canvas, row, x, y, (width, ROW * row.lines - 8))
    small_id(canvas, card, x, TOP - 5, width)
    found = own_ceremony(game, seat)
    if found is not None:
        tile, seals = found
        y = TOP + ROW * LINES
        canvas.rect(x, y, width, ROW - 8, rx=4, fill=BLUE_FACE, stroke=EDGE)
        Pen(canvas, x + 6, y + 17, size=10).effects(tile.rows[0].gives, limit=x + width)
        pen = Pen(canvas, x + 6, y + 35, size=10)
        pen.icon("seal")
        pen.word(f"{seals}")
        small_id(canvas, tile, x + 44, y + 35, width - 44)


def _lanterns(game: CastleGame, canvas: Canvas, seat: int, y: Number) -> Number:
    icon(canvas, "lantern", PAD, y + 2, 20)
    canvas.text(PAD + 26, y + 17, "Lantern Area", size=12, bold=True)
    cards = [game.tables.of(number) for number in game.lanterns[seat]]
    if not cards:
        canvas.text(PAD + 122, y + 17, "no card yet", size=11, fill=MUTED)
        return y + 24
    return chips(canvas, cards, PAD + 122, y, canvas.width - PAD)


# --- the clan that nobody plays -----------------------------------------------------------------


def rival(game: CastleGame, clan: int, width: Number) -> Canvas:
    """No domain, but what it holds, its supply and the solitaire deck (S-2, S-5)."""
    canvas = Canvas(width)
    seat_name(game, canvas, clan)
    seat_goods(game, canvas, clan)
    pen = Pen(canvas, PAD, TOP + 14)
    pen.word("Supply", bold=True)
    for row in range(len(game.tables.cells)):
        worker = facts.worker_of(game, row)
        pen.icon(worker)
        pen.word(f"{facts.at_home(game, clan, row)} {worker}s")
        pen.x += 8
    canvas.text(PAD, TOP + 46, "Solitaire deck", size=12, bold=True)
    canvas.place(_solitaire(game, width - 2 * PAD), PAD, TOP + 56)
    canvas.text(
        PAD, TOP + 156, f"{facts.solitaires_unseen(game)} unseen cards, then", size=11, fill=MUTED
    )
    y = TOP + 164
    for card in facts.solitaires_under(game):
        small_id(canvas, card, PAD, y + 10, width / 4)
        line = f"{facts.bridge_side(game, card)}; {phrases(card.actions)}"
        size = min(10, 10 * (width - 2 * PAD - 96) / width_of(line, 10))
        canvas.text(PAD + 96, y + 10, line, size=round(size, 1))
        y += 15
    canvas.height = max(y, TOP + ROW * 3) + 30
    seat_points(game, canvas, clan)
    return canvas


def _solitaire(game: CastleGame, width: Number) -> Canvas:
    card = facts.solitaire_top(game)
    canvas = Canvas(width, 86)
    canvas.rect(0, 0, width, 86, rx=7, fill="#ffffff", stroke=EDGE)
    if card is None:
        canvas.text(10, 26, "no card lies on top", size=12, fill=MUTED)
        return canvas
    canvas.text(10, 22, facts.bridge_side(game, card), size=12, bold=True)
    for number, action in enumerate(card.actions):
        canvas.text(10, 42 + 15 * number, phrase(action), size=11)
    small_id(canvas, card, width - 130, 22, 120)
    return canvas
