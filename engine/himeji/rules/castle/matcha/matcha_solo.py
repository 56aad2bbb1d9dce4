"""Matcha for one seat against the rival clan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from himeji.rules.actions import ActionTable
from himeji.rules.castle.components import BASE_KINDS, load
from himeji.rules.castle.matcha.board import MATCHA_BOARD
from himeji.rules.castle.matcha.components import MATCHA_KINDS
from himeji.rules.castle.matcha.constants import MATCHA_SPACE_NAMES
from himeji.rules.castle.matcha.invariants import MATCHA_BOX
from himeji.rules.castle.matcha.matcha import matcha_ruleset
from himeji.rules.castle.matcha.rival import gardens_pond_and_rivals, start_choices
from himeji.rules.castle.matcha.setup import pairs_and_tiles
from himeji.rules.castle.matcha.steps import MATCHA_SOLO_STEPS
from himeji.rules.castle.matcha.texts import (
    MATCHA_SOLO_FIELD_TEXTS,
    MATCHA_SOLO_STEP_TEXTS,
    matcha_solo_texts,
    matcha_texts,
)
from himeji.rules.castle.matcha.vocabulary import add_matcha_solo_words, add_matcha_words
from himeji.rules.castle.rounds import next_round, set_turn_order
from himeji.rules.castle.ruleset import CastleRuleset
from himeji.rules.castle.setup import turn_order
from himeji.rules.castle.solo.components import read_rival, solitaire_kinds, solo_component
from himeji.rules.castle.solo.constants import SOLITAIRE_PILE
from himeji.rules.castle.solo.invariants import SOLO_BOX
from himeji.rules.castle.solo.rival import rival_start, shuffle_solitaires, turn_in_coins
from himeji.rules.castle.solo.scoring import without_rivals_coins
from himeji.rules.castle.solo.solo import solo_ruleset
from himeji.rules.castle.solo.steps import SOLO_STEPS
from himeji.rules.castle.solo.texts import solo_texts
from himeji.rules.castle.solo.vocabulary import add_solo_words
from himeji.rules.castle.steps import without
from himeji.rules.castle.texts import base_texts
from himeji.rules.castle.vocabulary import base_vocabulary
from himeji.rules.components import BoxContents
from himeji.rules.datafile import packaged, revision_of

Phase = Callable[[Any], None]
FILES = ("base.toml", "solo.toml", "matcha.toml", "matcha-solo.toml")
INSTEAD: Mapping[Phase, Phase] = {turn_order: rival_start, pairs_and_tiles: start_choices}
"""What happens in the set-up of Matcha instead of what is for several seats."""


def matcha_solo_ruleset(read: Callable[[str], str] = packaged) -> CastleRuleset:
    """Matcha with a rival."""
    matcha, solo = matcha_ruleset(read), solo_ruleset(read)
    words = add_matcha_solo_words(add_solo_words(add_matcha_words(base_vocabulary())))
    files = {name: read(name) for name in FILES}
    kinds = {**BASE_KINDS, **MATCHA_KINDS, **solitaire_kinds(MATCHA_SPACE_NAMES)}
    board, box = (*MATCHA_BOARD, read_rival), {**MATCHA_BOX, **SOLO_BOX}
    texts = base_texts() | matcha_texts() | solo_texts() | matcha_solo_texts()
    return replace(
        matcha,
        name="matcha-solo",
        title="The White Castle: Matcha, solitaire",
        revision=revision_of(files),
        seat_counts=solo.seat_counts,
        choices=solo.choices,
        option_words=solo.option_words,
        actions=ActionTable("matcha-solo", texts),
        pages=("base.md", "solo.md", "matcha.md"),
        tables=load(files, words.parse, BoxContents(solo_component, kinds, board, box)),
        words=words,
        step_kinds=(
            *without(matcha.step_kinds, "pick-pair-and-tile", "gardens-and-pond-of-seat"),
            *SOLO_STEPS,
            *MATCHA_SOLO_STEPS,
        ),
        pile_names={**matcha.pile_names, **solo.pile_names},
        decks=(*matcha.decks, SOLITAIRE_PILE),
        kept=solo.kept,
        sections=(*matcha.sections, *solo.sections),
        events={**solo.events, **matcha.events},
        step_texts={**matcha.step_texts, **solo.step_texts, **MATCHA_SOLO_STEP_TEXTS},
        field_texts={**matcha.field_texts, **solo.field_texts, **MATCHA_SOLO_FIELD_TEXTS},
        own_board=(*matcha.own_board, *solo.own_board),
        own_faces=solo.own_faces,
        rivals=solo.rivals,
        setup=tuple(INSTEAD.get(phase, phase) for phase in matcha.setup),
        begin_turn=solo.begin_turn,
        round_end=(
            set_turn_order,
            turn_in_coins,
            gardens_pond_and_rivals,
            shuffle_solitaires,
            next_round,
        ),
        game_end=solo.game_end,
        scoring=without_rivals_coins(matcha.scoring),
    )
