"""The extension board of Matcha as text: tea garden, outskirts and their spaces for dice."""

from __future__ import annotations

from typing import Final

from himeji.render.castle import facts, facts_matcha
from himeji.render.castle.page_dice import dice
from himeji.render.castle.phrases import row_phrase
from himeji.render.page_blocks import clans, heading
from himeji.render.phrases import amount, dagger, name, phrases, spoken
from himeji.render.sheet import Block, Line, beside, box, table
from himeji.rules.castle.components import Component
from himeji.rules.castle.matcha.constants import (
    AT_ENTRANCE,
    GEISHA_PLACE_NAMES,
    GEISHA_PLACES,
    ON_OVERLOOK,
    ON_STEP_1,
    ON_STEP_2,
    TEA_ROOMS,
)
from himeji.rules.castle.matcha.state import MatchaGame
from himeji.rules.castle.state import CastleGame

CURTAINS: Final = {True: ("▓▓ blue  ", "dark"), False: ("░░ yellow", "light")}
PATH: Final = {
    AT_ENTRANCE: "to the overlook or to step 1",
    ON_OVERLOOK: "the water lilies",
    ON_STEP_1: "a yellow curtain; its card shines",
    ON_STEP_2: "a blue curtain",
}


def tea_garden(game: CastleGame) -> Block:
    """Path, pond and tea house, then the outskirts; nothing without Matcha."""
    if not isinstance(game, MatchaGame):
        return []
    lilies = facts_matcha.lilies(game)
    shown = " + ".join(f"{name(lily)} {phrases(lily.faces)}" for lily in lilies)
    return [
        *heading("TEA GARDEN", f"water lilies: {shown}"),
        *_path(game),
        Line(),
        *beside(*[_card(card, left) for card, left in facts_matcha.outskirts(game)]),
        *table(
            [_space(game, number) for number in facts.spaces_of(game, "tea-fields", "outskirts")]
        ),
    ]


def _path(game: MatchaGame) -> Block:
    head = ("PLACE", "points", "arriving gives", "tile", "geishas")
    rows = [[Line(cell, "title") for cell in head]]
    for place in range(AT_ENTRANCE, GEISHA_PLACES):
        worth = f"{game.tea_garden.geisha_points[place]}"
        if place in TEA_ROOMS:
            worth += f"/{GEISHA_PLACE_NAMES[place].partition('s-')[0]}"
        effects = [PATH[place]] if place in PATH else []
        tiles = [""] * len(effects)
        found = facts_matcha.ceremony_at(game, place)
        if found is not None:
            price = f"or {amount(game.tea_garden.overlook_coins, 'coin')} → " if effects else ""
            effects.append(price + phrases(found[0].rows[found[1]].gives))
            tiles.append(name(found[0]))
        where = Line(spoken(GEISHA_PLACE_NAMES[place]))
        geishas = clans(facts_matcha.geishas_at(game, place))
        rows.append([where, Line(worth), Line(effects[0]), Line(tiles[0], "dim"), geishas])
        for effect, tile in zip(effects[1:], tiles[1:], strict=True):
            rows.append([Line(), Line(), Line(effect), Line(tile, "dim"), Line()])
    return table(rows, gap=1)


def _card(card: Component, left: int) -> Block:
    lines = [
        Line(f"{place:<6}") + Line(*CURTAINS[row.dark]) + f" {row_phrase(row)}"
        for place, row in zip(card.row_names, card.rows, strict=True)
    ]
    lines.append(Line(f"back {phrases(card.lantern)}; {left} cards below", "dim"))
    return box(Line(name(card), "title"), lines, 49)


def _space(game: CastleGame, number: int) -> list[Line]:
    space, found = game.tables.spaces[number], facts.dice_on(game, number)
    marked = dagger(reconstructed=space.reconstructed)
    gives = phrases(space.offers) or f"the {space.name.rpartition('-')[2]} curtains"
    on = dice(found) if found else Line("no die", "dim")
    return [Line(spoken(space.name)), Line(f"die {space.printed}{marked}"), Line(gives), on]
