"""The base game, 2 to 4 seats."""

from __future__ import annotations

from collections.abc import Callable

from himeji.rules.actions import ActionTable
from himeji.rules.castle.board import BASE_BOARD
from himeji.rules.castle.components import BASE_KINDS, Component, load
from himeji.rules.castle.constants import DIPLOMAT_PILE, PILE_NAMES, STEWARD_PILE
from himeji.rules.castle.events import BASE_EVENTS
from himeji.rules.castle.invariants import BASE_BOX
from himeji.rules.castle.rounds import (
    begin_turn,
    finish,
    gardens,
    last_exchanges,
    next_round,
    next_step,
    set_turn_order,
)
from himeji.rules.castle.ruleset import CastleRuleset
from himeji.rules.castle.scoring import BASE_SCORING
from himeji.rules.castle.setup import BASE_SETUP
from himeji.rules.castle.state import CastleGame
from himeji.rules.castle.steps import STEP_KINDS
from himeji.rules.castle.texts import FIELD_TEXTS, STEP_TEXTS, base_texts
from himeji.rules.castle.turn import AREAS
from himeji.rules.castle.vocabulary import base_vocabulary
from himeji.rules.components import BoxContents
from himeji.rules.constants import BLACK, COIN, CORAL, INFLUENCE, RESOURCES, SEAL, VP, WHITE
from himeji.rules.datafile import packaged, revision_of


def base_ruleset(read: Callable[[str], str] = packaged) -> CastleRuleset:
    """The base game with the packaged components, or with those that a reader of files gives."""
    words = base_vocabulary()
    files = {"base.toml": read("base.toml")}
    return CastleRuleset(
        name="base",
        title="The White Castle",
        family="castle",
        revision=revision_of(files),
        seat_counts=(2, 3, 4),
        choices={},
        option_words={},
        actions=ActionTable("base", base_texts()),
        pages=("base.md",),
        tables=load(files, words.parse, BoxContents(Component, BASE_KINDS, BASE_BOARD, BASE_BOX)),
        words=words,
        kinds_of_area=AREAS,
        step_kinds=STEP_KINDS,
        colours=(CORAL, BLACK, WHITE),
        goods=(*RESOURCES, COIN, SEAL, VP, INFLUENCE),
        cap_rule="B-6.1",
        exchange_rule="B-6.3",
        least_exchange=1,
        exchanges=RESOURCES,
        game=CastleGame,
        own_state=(),
        pile_names=dict(enumerate(PILE_NAMES)),
        decks=(STEWARD_PILE, DIPLOMAT_PILE),
        kept=("steward", "diplomat"),
        lantern_kinds=("start-resource", "decree"),
        tile_kinds=(),
        sections=(),
        events=BASE_EVENTS,
        step_texts=STEP_TEXTS,
        field_texts=FIELD_TEXTS,
        own_board=(),
        own_faces={},
        dice_per_colour={2: 3, 3: 4, 4: 5},
        stacking={2: 1, 3: 2, 4: 2},
        rivals=0,
        rounds=3,
        turns=3,
        setup=BASE_SETUP,
        begin_turn=begin_turn,
        next_step=next_step,
        round_end=(set_turn_order, gardens, next_round),
        game_end=(set_turn_order, last_exchanges, finish),
        scoring=BASE_SCORING,
    )
