"""A position of Duel as text for a terminal: the sections of the page, top to bottom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from himeji.render.duel import facts
from himeji.render.duel.facts import FLOORS
from himeji.render.duel.page_seats import domains
from himeji.render.page_blocks import (
    TIMES,
    clan,
    clans,
    heading,
    legend_lines,
    page,
    question,
    scores,
    title,
)
from himeji.render.phrases import name, phrase
from himeji.render.sheet import WIDTH, Block, Line, beside, box, join, table, wrap
from himeji.rules.constants import COLOUR_NAMES, SIDE_NAMES
from himeji.rules.duel.constants import (
    ACTIVATION_SLOTS,
    COLUMN_NAMES,
    COLUMNS,
    DECK_NAMES,
    FRAME_NAMES,
    LOCATION_NAMES,
    SLOT_NAMES,
    STACK_NAMES,
    YARD_NAMES,
    YARDS,
)
from himeji.rules.duel.state import DuelGame

CELL: Final = 13


def header(game: DuelGame) -> Block:
    """Ruleset, time, the question and its answers."""
    marker = Line("Starting player  ", "title") + clan(game.starter)
    return [*title(game, game.rules.title, facts.occasion(game)), marker, *question(game)]


def draft(game: DuelGame) -> Block:
    """The start cards that can still be picked."""
    if not game.offers:
        return []
    lines = heading("START CARDS", "gains are taken at once, the back joins a Lantern zone")
    for place, card in enumerate(game.offers):
        text = facts.start_card(game.tables.of(card)) if card else "picked"
        lines.append(Line(f"{place + 1}. {text}"))
    return lines


def castle(game: DuelGame) -> Block:
    """The three floors: slots, Locations with tile and tokens, decks."""
    lines = heading("CASTLE", "a token is placed on a Location between two actions")
    for places in FLOORS:
        cells = [_place(game, place) for place in places]
        indent = " " * ((len(FLOORS[-1]) - len(places)) * (CELL + 1) // 2)
        for row in range(3):
            lines.append(Line(indent) + join([cell[row].fit(CELL) for cell in cells]))
    return lines


def _place(game: DuelGame, place: str) -> tuple[Line, Line, Line]:
    if place in LOCATION_NAMES:
        location = LOCATION_NAMES.index(place)
        colour = facts.tile_colour(game, location)
        head = Line(f"({place} ") + Line(colour, f"die-{colour}") + Line(")")
        tokens = [Line(token, f"die-{token}") for token in facts.tokens_on(game, location)]
        shown = [Line(token.spans[0][0][:1].upper(), token.spans[0][1]) for token in tokens]
        return head, join(shown, " < ") if shown else Line("no token", "dim"), Line()
    slot = SLOT_NAMES.index(place)
    if slot < ACTIVATION_SLOTS:
        return Line(f"[{place}]", "title"), Line(facts.action_in(game, slot)), Line()
    deck = slot - ACTIVATION_SLOTS
    top = game.tops[deck]
    card = name(game.tables.of(top)) if top else "empty: Well"
    return Line(f"[{place}]", "title"), Line(card), Line(f"{game.below[deck]} below", "dim")


def decks(game: DuelGame) -> Block:
    """The top cards of the decks, the lantern display, the merchandise."""
    rows = [[Line(cell, "title") for cell in ("DECK", "top card", "price", "scroll", "icons")]]
    for deck, top in enumerate(game.tops):
        if top:
            card = game.tables.of(top)
            cells = (name(card), facts.price(card.price), facts.scroll(card))
            rows.append([Line(DECK_NAMES[deck]), *map(Line, cells), Line(facts.icons(card.icons))])
        else:
            rows.append([Line(DECK_NAMES[deck]), Line("empty"), Line(), Line("Well"), Line()])
    display = [
        Line(f"{place + 1}. {_lantern_card(game, card)}" if card else f"{place + 1}. none")
        for place, card in enumerate(game.display)
    ]
    left = Line(f" ({len(game.lanterns)} in the deck)", "dim")
    wares = []
    for stack, tile in enumerate(game.wares):
        ware = game.tables.of(tile) if tile else None
        text = f"{name(ware)} {facts.icons(ware.icons)}" if ware else "sold out"
        below = Line(f" {len(game.hidden_wares[stack])} below", "dim")
        wares.append(Line(f"{STACK_NAMES[stack]} {text}") + below)
    return [
        *table(rows),
        Line("LANTERN CARDS", "title") + left,
        *wrap(display, WIDTH, "   "),
        Line("MERCHANDISE    ", "title") + join(wares, "   "),
    ]


def _lantern_card(game: DuelGame, number: int) -> str:
    card = game.tables.of(number)
    return f"{COLOUR_NAMES[card.colour]} zone {facts.shines(card)}, {name(card)}"


def grounds(game: DuelGame) -> Block:
    """Gardens and training yards."""
    head = ("GARDEN", "cost", "reward", "tile", "icons", "Clan Seals")
    rows = [[Line(cell, "title") for cell in head]]
    for column in range(COLUMNS):
        seals = clans(facts.seals_in_garden(game, column))
        cells = (
            COLUMN_NAMES[column],
            f"{game.tables.column_food[column]} food",
            phrase(facts.garden_face(game, column)),
            name(game.tables.of(game.gardens[column])),
            facts.icons(game.tables.column_icons[column]),
        )
        rows.append([*map(Line, cells), seals])
    return [*table(rows), Line(), *_yards(game)]


def _yards(game: DuelGame) -> Block:
    head = ("TRAINING YARD", "cost", "reward", "tile", "spaces", "Clan Seals")
    rows = [[Line(cell, "title") for cell in head]]
    for yard in range(YARDS):
        tile = game.tables.of(game.yards[yard])
        cells = (
            YARD_NAMES[yard],
            f"{game.tables.yard_iron[yard]} iron",
            " or ".join(phrase(face) for face in tile.faces),
            name(tile),
            str(game.tables.yard_spaces[yard]),
        )
        rows.append([*map(Line, cells), clans(facts.seals_in_yard(game, yard))])
    return table(rows)


def paths(game: DuelGame) -> Block:
    """The social paths, side by side, the top first."""
    return beside(*[_path(game, side) for side in range(len(SIDE_NAMES))])


def _path(game: DuelGame, side: int) -> Block:
    lines = []
    for space in reversed(facts.spaces()):
        here = join([clan(seat) for seat in facts.seats_on(game, side, space)])
        text = (
            f"{space}  flags {TIMES}{facts.level_of(space)}  {facts.reward_on(game, side, space)}  "
        )
        lines.append(Line(text) + here)
    gate = join([clan(seat) for seat in facts.seats_on(game, side, 0)])
    lines.append(Line("gate  ", "dim") + gate)
    tiles = [game.tables.of(game.social[2 * side + frame]) for frame in range(len(FRAME_NAMES))]
    below = ", ".join(name(tile) for tile in tiles)
    return box(Line(f"{SIDE_NAMES[side].capitalize()} path · {below}", "title"), lines, 49)


def legend(game: DuelGame) -> Block:
    """What the marks mean."""
    words = [
        join([Line("Marks: seats"), clans([(seat, 1) for seat in range(game.clans)])]),
        Line("C < W a white token on a coral one"),
        Line("(L1 coral) a Location and its tile"),
        Line("any = food, iron or pearl"),
        Line("VP = a point"),
        Line(f"Well = {facts.WELL}"),
        Line(f"trade = {facts.trades(game)}"),
    ]
    return legend_lines(game, words)


Section = Callable[[DuelGame], Block]
SECTIONS: Final[tuple[Section, ...]] = (
    header,
    draft,
    castle,
    decks,
    grounds,
    paths,
    domains,
    scores,
    legend,
)
"""A section draws what the position has of it, and nothing if it has none."""


def text(game: DuelGame, *, colour: bool = False) -> str:
    return page([section(game) for section in SECTIONS], colour=colour)
