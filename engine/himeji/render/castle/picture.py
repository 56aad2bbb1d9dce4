"""A castle position as SVG: panels in bands and columns, on one sheet."""

from __future__ import annotations

from typing import Final

from himeji.render.castle import facts
from himeji.render.castle.picture_bridges_and_yards import bridges, outside, yards
from himeji.render.castle.picture_castle import castle
from himeji.render.castle.picture_head import (
    banner,
    draft,
    legend_below,
    legend_beside,
    title_line,
    track,
)
from himeji.render.castle.picture_matcha import outskirts, tea_garden
from himeji.render.castle.picture_seats import domains_left, domains_right
from himeji.render.layout import Band, Column, band, sheet_of
from himeji.rules.castle.state import CastleGame

BANDS: Final = (
    band(title_line, bare=True),
    band(banner, bare=True),
    band(draft),
    band(track),
    Band(
        (Column(344, (bridges,)), Column(612, (castle,)), Column(260, (yards, outside))),
        level=True,
    ),
    band(tea_garden, outskirts),
    Band((Column(614, (domains_left,)), Column(614, (domains_right, legend_beside)))),
    band(legend_below),
)
"""The sheet, top to bottom. A ruleset with more to show adds a maker to a column, or a band."""


def svg(game: CastleGame) -> str:
    """The whole position as one document."""
    return sheet_of(game, BANDS, facts.GAME_TITLE, facts.occasion(game))
