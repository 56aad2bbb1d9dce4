"""Matcha: the base game with its expansion, 2 to 4 seats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from himeji.rules.actions import ActionTable
from himeji.rules.castle.base import base_ruleset
from himeji.rules.castle.components import BASE_KINDS, Component, load
from himeji.rules.castle.matcha.board import MATCHA_BOARD, describe_tea_garden
from himeji.rules.castle.matcha.components import MATCHA_KINDS
from himeji.rules.castle.matcha.constants import CALLIGRAPHY_PILE, FLOWER_PILE, MATCHA_PILE_NAMES
from himeji.rules.castle.matcha.events import MATCHA_EVENTS
from himeji.rules.castle.matcha.invariants import MATCHA_BOX
from himeji.rules.castle.matcha.rounds import gardens_and_pond
from himeji.rules.castle.matcha.scoring import with_matcha
from himeji.rules.castle.matcha.section import MatchaSection
from himeji.rules.castle.matcha.setup import (
    ceremony_tiles,
    outskirts,
    pairs_and_tiles,
    water_lilies,
)
from himeji.rules.castle.matcha.spaces import MATCHA_AREAS
from himeji.rules.castle.matcha.state import MATCHA_STATE, MatchaGame
from himeji.rules.castle.matcha.steps import MATCHA_STEPS
from himeji.rules.castle.matcha.texts import MATCHA_FIELD_TEXTS, MATCHA_STEP_TEXTS, matcha_texts
from himeji.rules.castle.matcha.vocabulary import add_matcha_words
from himeji.rules.castle.rounds import next_round, set_turn_order
from himeji.rules.castle.ruleset import CastleRuleset
from himeji.rules.castle.setup import (
    castle_cards,
    daimyo_card,
    die_tiles,
    first_dice,
    gardens_and_yards,
    turn_order,
)
from himeji.rules.castle.steps import without
from himeji.rules.castle.texts import base_texts
from himeji.rules.castle.vocabulary import base_vocabulary
from himeji.rules.components import BoxContents
from himeji.rules.constants import CHASEN, GREEN, RESOURCES
from himeji.rules.datafile import packaged, revision_of


def matcha_ruleset(read: Callable[[str], str] = packaged) -> CastleRuleset:
    """The base game with the expansion."""
    base = base_ruleset(read)
    words = add_matcha_words(base_vocabulary())
    files = {name: read(name) for name in ("base.toml", "matcha.toml")}
    kinds = {**BASE_KINDS, **MATCHA_KINDS}
    contents = BoxContents(Component, kinds, MATCHA_BOARD, MATCHA_BOX)
    return replace(
        base,
        name="matcha",
        title="The White Castle: Matcha",
        revision=revision_of(files),
        actions=ActionTable("matcha", base_texts() | matcha_texts()),
        pages=("base.md", "matcha.md"),
        tables=load(files, words.parse, contents),
        words=words,
        kinds_of_area=MATCHA_AREAS,
        step_kinds=(
            *without(base.step_kinds, "pick-pair", "gardens-of-seat", "activate-gardens"),
            *MATCHA_STEPS,
        ),
        colours=(*base.colours, GREEN),
        goods=(*RESOURCES, CHASEN, *base.goods[len(RESOURCES) :]),
        exchanges=(*RESOURCES, CHASEN),
        game=MatchaGame,
        own_state=MATCHA_STATE,
        pile_names={**base.pile_names, **MATCHA_PILE_NAMES},
        decks=(*base.decks, FLOWER_PILE, CALLIGRAPHY_PILE),
        kept=(*base.kept, "flower", "calligraphy"),
        lantern_kinds=(*base.lantern_kinds, "flower", "calligraphy"),
        tile_kinds=("lily", "ceremony"),
        sections=(MatchaSection(),),
        events={**base.events, **MATCHA_EVENTS},
        step_texts={**base.step_texts, **MATCHA_STEP_TEXTS},
        field_texts={**base.field_texts, **MATCHA_FIELD_TEXTS},
        own_board=(describe_tea_garden,),
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
        scoring=with_matcha(base.scoring),
    )
