"""The seats as text: every domain with its goods, rows and Lantern Area."""

from __future__ import annotations

from typing import Final

from himeji.render.castle import facts
from himeji.render.castle.facts_matcha import own_ceremony
from himeji.render.castle.page_dice import faces
from himeji.render.castle.phrases import row_phrase
from himeji.render.page_blocks import NOBODY, clan, goods
from himeji.render.phrases import RECONSTRUCTED, amount, brief, name, phrases
from himeji.render.sheet import Block, Line, box, table, wrap
from himeji.render.situation import points, who
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import COLOUR_NAMES

BOX: Final = 100


def domains(game: CastleGame) -> Block:
    """One box per clan, in the order of the seats."""
    lines: Block = []
    for seat in range(game.clans):
        lines += _domain(game, seat) if seat < game.seats else _rival(game, seat)
    return lines


def _rival(game: CastleGame, clan_number: int) -> Block:
    """The clan that nobody plays: no domain, but its supply and the solitaire deck (S-2)."""
    homes = [
        amount_of_members(facts.at_home(game, clan_number, row), facts.worker_of(game, row))
        for row in range(len(game.tables.cells))
    ]
    top = facts.solitaire_top(game)
    shown = f"{facts.bridge_side(game, top)}  {name(top)}" if top else NOBODY
    acts = phrases(top.actions) if top else NOBODY
    under = [Line(name(card)) for card in facts.solitaires_under(game)] or [Line(NOBODY)]
    then = Line(f"{facts.solitaires_unseen(game)} unseen, then ") + under[0]
    body = [
        goods(game, clan_number),
        Line("Supply  ") + ", ".join(homes),
        Line("Solitaire deck  top: ") + shown,
        Line(f"                its actions: {acts}"),
        *[Line(" " * 16) + line for line in wrap([then, *under[1:]], BOX - 20, ", ")],
    ]
    return box(_title(game, clan_number), body, BOX)


def _domain(game: CastleGame, seat: int) -> Block:
    body = [goods(game, seat), *_rows(game, seat), *_tile(game, seat), *_lanterns(game, seat)]
    return box(_title(game, seat), body, BOX)


def _title(game: CastleGame, seat: int) -> Line:
    place, words = game.order.index(seat) + 1, who(game, seat).capitalize()
    title = clan(seat) + Line(f" {words}", "title")
    return title + f" · {place}. in turn order · {points(game, seat)}"


def _rows(game: CastleGame, seat: int) -> Block:
    number = game.action_card[seat]
    card = game.tables.of(number) if number else None
    labels = ("row", "die", "at home", "rewards", "", "", "", "", "")
    above = name(card) if card else "no card"
    rows = [[*[Line(label, "dim") for label in labels], Line(above, "dim")]]
    for row, cells in enumerate(game.tables.cells):
        colour, home = COLOUR_NAMES[row], facts.at_home(game, seat, row)
        open_cells = len(cells) - home
        shown = [
            Line(f" {brief(cell)} ") if n < open_cells else Line(f"({brief(cell)})", "dim")
            for n, cell in enumerate(cells)
        ]
        die = faces(colour, [game.domain_dice[seat * 4 + row]])
        serves = Line(NOBODY, "dim")
        if card is not None and row < len(card.row_of_line):
            served = row_phrase(card.rows[card.row_of_line[row]])
            serves = Line(served.replace(" + ", "+"))  # the line has no room for more
        members = Line(amount_of_members(home, facts.worker_of(game, row)))
        if game.tables.row_reconstructed(row):
            shown[-1] += RECONSTRUCTED
        rows.append([Line(colour), die, members, *shown, serves])
    return table(rows, gap=1)


def _tile(game: CastleGame, seat: int) -> Block:
    """The ceremony tile beside the green row (M-5.6)."""
    found = own_ceremony(game, seat)
    if found is None:
        return []
    tile, seals = found
    price = amount(seals, "seal")
    effect = Line(f"Ceremony tile {price} → {phrases(tile.rows[0].gives)} ")
    return [effect + Line(name(tile), "dim")]


def amount_of_members(count: int, worker: str) -> str:
    """Members at home, for example 3 courtiers."""
    return f"{count} {worker}" + ("" if count == 1 else "s")


def _lanterns(game: CastleGame, seat: int) -> Block:
    shines = [
        Line(phrases(card.lantern)) + Line(f" {name(card)}", "dim")
        for card in (game.tables.of(number) for number in game.lanterns[seat])
    ] or [Line("no card yet", "dim")]
    lines = wrap(shines, BOX - 4 - 14)
    first = Line("Lantern Area  ", "lantern")
    return [(first if at == 0 else Line(" " * 14)) + line for at, line in enumerate(lines)]
