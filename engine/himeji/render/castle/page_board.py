"""The main board as text: track, bridges with gardens, castle, yards, Outside the Walls, Well."""

from __future__ import annotations

from typing import Final

from himeji.render.castle import facts
from himeji.render.castle.page_dice import dice, faces
from himeji.render.castle.phrases import row_phrase
from himeji.render.page_blocks import clan, clans, heading
from himeji.render.phrases import amount, name, phrase, phrases, spoken
from himeji.render.sheet import Block, Line, beside, box, join, table, wrap
from himeji.rules.castle.components import FACES
from himeji.rules.castle.constants import (
    AT_GATE,
    DIPLOMAT_FLOOR,
    DIPLOMAT_ROOMS,
    IN_ROOM,
    STEWARD_FLOOR,
    STEWARD_ROOMS,
    WELL_SPACE,
    YARDS,
)
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import COLOUR_NAMES

CELL: Final = 4
EDGE: Final = 10
SHADES: Final = {True: ("▓▓", "dark"), False: ("░░", "light")}


def track(game: CastleGame) -> Block:
    """The Passage of Time: stacks of markers, positions, points, checkpoints."""
    prices = game.tables.checkpoint
    gates = [f"{at} for {amount(seals, 'seal')}" for at, seals in enumerate(prices) if seals]
    remark = f"┃ checkpoints: {', '.join(gates)}; upper marker first"
    lines = heading("PASSAGE OF TIME", remark)
    stacks = [facts.markers_at(game, position) for position in range(len(prices))]
    for level in range(max(map(len, stacks)) - 1, -1, -1):
        marks = [clan(stack[level]) if level < len(stack) else Line() for stack in stacks]
        lines.append(Line(" " * EDGE) + join([mark.fit(CELL) for mark in marks], ""))
    gate = ["┃" if seals else " " for seals in prices[1:]] + [" "]
    numbers = "".join(f"{n:>2} {gate[n]}" for n in range(len(prices)))
    points = "".join(f"{n:>2} {gate[at]}" for at, n in enumerate(game.tables.track_points))
    return [*lines, Line("position  " + numbers), Line("points    " + points)]


def bridges(game: CastleGame) -> Block:
    """Every bridge with its dice and the gardens under it."""
    most = max(len(game.centre[colour]) for colour in game.rules.colours)
    head = ["BRIDGE", "☼ left", "centre".ljust(4 * most - 1), "right", "GARDEN"]
    rows = [[Line(cell, "title") for cell in (*head, "cost → VP", "effect", "gardeners")]]
    for colour in game.rules.colours:
        rows += _bridge(game, colour)
    return table(rows, gap=1)


def _bridge(game: CastleGame, colour: int) -> list[list[Line]]:
    word = COLOUR_NAMES[colour]
    dice_cells = [
        Line(word),
        Line("☼ ", "lantern") + faces(word, [game.left[colour]]),
        faces(word, game.centre[colour]),
        faces(word, [game.right[colour]]),
    ]
    gardens = [_garden(game, number) for number in facts.gardens_of(game, colour)]
    gardens = gardens or [[Line()] * 4]
    return [
        (dice_cells if number == 0 else [Line()] * 4) + garden
        for number, garden in enumerate(gardens)
    ]


def _garden(game: CastleGame, number: int) -> list[Line]:
    card = game.tables.of(game.gardens[number])
    return [
        Line(name(card)),
        Line(f"{card.food} food → {card.points}"),
        Line(row_phrase(card.rows[0])),
        clans(facts.gardeners_at(game, number)),
    ]


def castle(game: CastleGame) -> Block:
    """The floors of the castle, the highest first, down to the gate."""
    points = game.tables.courtier_points
    left = ", ".join(f"{count} {deck} cards" for deck, count in facts.decks(game))
    lines = heading("CASTLE", f"left in the decks: {left}")
    gate = clans(facts.courtiers_at(game, AT_GATE))
    return [
        *lines,
        *_daimyo(game),
        Line(f"Diplomat rooms, {points[DIPLOMAT_FLOOR]} points each courtier", "dim"),
        *beside(*[_room(game, room, 49) for room in DIPLOMAT_ROOMS]),
        Line(f"Steward rooms, {points[STEWARD_FLOOR]} points each courtier", "dim"),
        *beside(*[_room(game, room, 32) for room in STEWARD_ROOMS]),
        Line(f"Gate, {amount(points[0], 'point')} each courtier  ", "dim") + gate,
    ]


def _daimyo(game: CastleGame) -> Block:
    card = game.tables.of(game.daimyo)
    slots = [
        Line(f"{number + 1}. {phrase(effect)}  ")
        + (clan(holder - 1) if holder else Line("free", "dim"))
        for number, (effect, holder) in enumerate(zip(card.slots, game.slots, strict=True))
    ]
    title = Line(f"Daimyo floor, {game.tables.courtier_points[-1]} points · {name(card)}", "title")
    late = facts.courtiers_without_slot(game)
    lines = [join(slots, "   │   "), *([Line("without a slot  ") + clans(late)] if late else [])]
    return box(title, lines, 98)


def _room(game: CastleGame, room: int, width: int) -> Block:
    space, number = game.tables.spaces[room], game.rooms[room]
    lines: Block = []
    if number:
        card = game.tables.of(number)
        for place, row in enumerate(card.rows):
            tile = facts.tile_beside(game, room, place)
            colour = COLOUR_NAMES[tile.colour] if tile else ""
            shade = Line(*SHADES[row.dark])
            label = Line(colour.ljust(5), f"die-{colour}" if colour else "")
            lines.append(label + " " + shade + " " + row_phrase(row))
    lines.append(Line(f"{name(game.tables.of(number)) if number else 'no card'}", "dim"))
    lines.append(Line(f"die {space.printed}  ") + _on(game, room))
    lines.append(Line("inside ") + clans(facts.courtiers_at(game, IN_ROOM + room)))
    return box(Line(spoken(space.name), "title"), lines, width)


def _on(game: CastleGame, space: int) -> Line:
    found = facts.dice_on(game, space)
    return dice(found) if found else Line("no die", "dim")


def grounds(game: CastleGame) -> Block:
    """Training yards, Outside the Walls and the Well."""
    outside = [
        _outside(game, number)
        for number, space in enumerate(game.tables.spaces)
        if space.area == "outside"
    ]
    return [*_yards(game), Line(), *beside(_well(game), *outside)]


def _yards(game: CastleGame) -> Block:
    head = ("TRAINING YARD", "cost", "value", "face", "effect", "tile", "warriors")
    rows = [[Line(cell, "title") for cell in head]]
    for yard in range(YARDS):
        about = [
            Line(f"Yard {yard + 1}"),
            Line(f"{game.tables.yard_iron[yard]} iron"),
            Line(str(game.tables.yard_value[yard])),
        ]
        for tile, face in facts.tiles_of_yard(game, yard):
            shown = [Line(FACES[face]), Line(phrase(tile.faces[face])), Line(name(tile), "dim")]
            rows.append(
                [*about, *shown, clans(facts.warriors_at(game, yard)) if about[0].width else Line()]
            )
            about = [Line()] * 3
    return table(rows)


def _well(game: CastleGame) -> Block:
    lines = [Line(phrases(game.well))]
    found = facts.dice_on(game, WELL_SPACE)
    printed = game.tables.spaces[WELL_SPACE].printed
    rows = wrap([dice([die]) for die in found] or [Line("no die", "dim")], 23, ", ")
    lines += [Line(f"die {printed}  " if at == 0 else " " * 7) + row for at, row in enumerate(rows)]
    return box(Line("Well", "title"), lines, 34)


def _outside(game: CastleGame, number: int) -> Block:
    space = game.tables.spaces[number]
    offers = " or ".join(phrase(offer) for offer in space.offers)
    lines = [Line(offers), Line(f"die {space.printed}  ") + _on(game, number)]
    side = space.name.rpartition("-")[2]
    return box(Line(f"Outside the Walls, {side}", "title"), lines, 32)
