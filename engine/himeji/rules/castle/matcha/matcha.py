"""Matcha: the base game with its expansion, 2 to 4 seats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from himeji.rules.actions import ActionTable
from himeji.rules.castle.base import base_ruleset
from himeji.rules.castle.board import BASE_BOARD
from himeji.rules.castle.components import BASE_KINDS, load
from himeji.rules.castle.constants import MEMBERS
from himeji.rules.castle.invariants import MATCHA_BOX
from himeji.rules.castle.matcha.components import TEA_BOARD, TEA_KINDS
from himeji.rules.castle.matcha.constants import CALLIGRAPHY_PILE, FLOWER_PILE, GEISHA_PLACES
from himeji.rules.castle.matcha.section import TeaSection
from himeji.rules.castle.matcha.setup import (
    ceremony_tiles,
    outskirts,
    pairs_and_tiles,
    water_lilies,
)
from himeji.rules.castle.matcha.spaces import TEA_AREAS, gardens_and_pond
from himeji.rules.castle.rounds import next_round, set_turn_order
from himeji.rules.castle.ruleset import CastleRuleset
from himeji.rules.castle.scoring import with_tea
from himeji.rules.castle.setup import (
    castle_cards,
    daimyo_card,
    die_tiles,
    first_dice,
    gardens_and_yards,
    turn_order,
)
from himeji.rules.castle.steps import TEA_STEPS, without
from himeji.rules.castle.texts import base_texts, tea_texts
from himeji.rules.castle.vocabulary import base_vocabulary, tea_words
from himeji.rules.constants import CHASEN, GREEN, RESOURCES
from himeji.rules.datafile import packaged, revision_of


def matcha_ruleset(read: Callable[[str], str] = packaged) -> CastleRuleset:
    """The base game with the expansion."""
    base = base_ruleset(read)
    words = tea_words(base_vocabulary())
    files = {name: read(name) for name in ("base.toml", "matcha.toml")}
    board = (*BASE_BOARD, *TEA_BOARD)
    return replace(
        base,
        name="matcha",
        title="The White Castle: Matcha",
        revision=revision_of(files),
        actions=ActionTable("matcha", base_texts() | tea_texts()),
        pages=("base.md", "matcha.md"),
        tables=load(files, {**BASE_KINDS, **TEA_KINDS}, words.parse, board, MATCHA_BOX),
        words=words,
        kinds_of_area=TEA_AREAS,
        step_kinds=(
            *without(base.step_kinds, "pick-pair", "gardens-of-seat", "activate-gardens"),
            *TEA_STEPS,
        ),
        colours=(*base.colours, GREEN),
        goods=(*RESOURCES, CHASEN, *base.goods[len(RESOURCES) :]),
        geishas_at_home=(MEMBERS, *[0] * (GEISHA_PLACES - 1)),
        exchanges=(*RESOURCES, CHASEN),
        decks=(*base.decks, FLOWER_PILE, CALLIGRAPHY_PILE),
        kept=(*base.kept, "flower", "calligraphy"),
        sections=(TeaSection(),),
        turns=4,
        setup=(
            castle_cards,
            daimyo_card,
            die_tiles,
            gardens_and_yards,
            turn_order,
            water_lilies,
            outskirts,
            ceremony_tiles,
            first_dice,
            pairs_and_tiles,
        ),
        round_end=(set_turn_order, gardens_and_pond, next_round),
        scoring=with_tea(base.scoring),
    )
