"""A castle position as text for a terminal: the sections of the page, top to bottom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from himeji.render.castle import facts
from himeji.render.castle.page_board import bridges, castle, grounds, track
from himeji.render.castle.page_dice import dice
from himeji.render.castle.page_matcha import tea_garden
from himeji.render.castle.page_seats import domains
from himeji.render.castle.phrases import row_phrase
from himeji.render.page_blocks import (
    clan,
    clans,
    heading,
    legend_lines,
    page,
    question,
    scores,
    title,
)
from himeji.render.phrases import name, phrases
from himeji.render.sheet import Block, Line, join
from himeji.rules.castle.state import CastleGame

Section = Callable[[CastleGame], Block]


def header(game: CastleGame) -> Block:
    """Ruleset, time, turn order, the question and its answers."""
    lines = title(game, facts.GAME_TITLE, facts.occasion(game))
    order = join([clan(seat) for seat in game.order], " then ")
    hand = facts.in_hand(game)
    if hand:
        order = order + "     Die in hand  " + dice([hand[0]]) + f" {hand[1]}"
    lines.append(Line("Turn order  ", "title") + order)
    lines += question(game)
    return lines


def draft(game: CastleGame) -> Block:
    """The starting pairs that can still be picked."""
    found = facts.pairs(game)
    lines = heading("STARTING PAIRS", "gains are taken at once, backs shine in the Lantern Area")
    for pair in found:
        lines.append(Line(f"{pair.number}. ") + join(_offered(pair), " and "))
        if pair.resource is not None:
            shines = f"{phrases(pair.resource.lantern)}"
            decree = facts.decree_of(game, pair.resource)
            if decree is not None:
                shines += f", with {name(decree)} {phrases(decree.lantern)}"
            lines.append(Line(f"   gains {phrases(pair.resource.gives)}; back {shines}"))
        if pair.tile is not None:
            lines.append(Line(f"   {name(pair.tile)}: {phrases(pair.tile.rows[0].gives)}"))
    return lines if found else []


def _offered(pair: facts.Offered) -> Block:
    words = [Line(name(pair.resource))] if pair.resource is not None else []
    if pair.action is not None:
        worker = f"{row_phrase(pair.action.rows[0])} in every row of the domain"
        words.append(Line(f"{name(pair.action)}: {worker}"))
    return words


def legend(game: CastleGame) -> Block:
    """What the marks mean."""
    shapes = clans([(seat, 1) for seat in range(game.clans)])
    words = [
        join([Line("Marks: clans"), shapes]),
        Line("☼ Lantern end"),
        Line("▓▓ dark row, ░░ light row"),
        Line("(food) covered by a member at home"),
        Line("[5] a die, [ ] none"),
        Line("any = food, iron or pearl"),
        Line("VP = a point"),
    ]
    return legend_lines(game, words)


SECTIONS: Final[tuple[Section, ...]] = (
    header,
    draft,
    track,
    bridges,
    castle,
    grounds,
    tea_garden,
    domains,
    scores,
    legend,
)
"""A section draws what the position has of it, and nothing if it has none."""


def text(game: CastleGame, *, colour: bool = False) -> str:
    return page([section(game) for section in SECTIONS], colour=colour)
