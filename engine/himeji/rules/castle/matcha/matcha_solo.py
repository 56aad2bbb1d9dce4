"""Matcha for one seat against the rival clan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from himeji.rules.actions import ActionTable
from himeji.rules.castle.board import BASE_BOARD
from himeji.rules.castle.components import BASE_KINDS, load
from himeji.rules.castle.invariants import MATCHA_BOX, SOLO_BOX
from himeji.rules.castle.matcha.components import TEA_BOARD, TEA_KINDS
from himeji.rules.castle.matcha.matcha import matcha_ruleset
from himeji.rules.castle.matcha.rival import gardens_pond_and_rivals, start_choices
from himeji.rules.castle.matcha.setup import pairs_and_tiles
from himeji.rules.castle.rounds import next_round, set_turn_order
from himeji.rules.castle.ruleset import CastleRuleset
from himeji.rules.castle.scoring import without_rivals_coins
from himeji.rules.castle.setup import turn_order
from himeji.rules.castle.solo.components import RIVAL_BOARD, RIVAL_KINDS
from himeji.rules.castle.solo.constants import SOLITAIRE_PILE
from himeji.rules.castle.solo.rival import rival_start, shuffle_solitaires, turn_in_coins
from himeji.rules.castle.solo.solo import solo_ruleset
from himeji.rules.castle.state import CastleGame
from himeji.rules.castle.steps import RIVAL_STEPS, TEA_RIVAL_STEPS, without
from himeji.rules.castle.texts import base_texts, rival_texts, tea_rival_texts, tea_texts
from himeji.rules.castle.vocabulary import (
    base_vocabulary,
    rival_words,
    tea_rival_words,
    tea_words,
)
from himeji.rules.datafile import packaged, revision_of

Phase = Callable[[CastleGame], None]
FILES = ("base.toml", "solo.toml", "matcha.toml", "matcha-solo.toml")
INSTEAD: Mapping[Phase, Phase] = {turn_order: rival_start, pairs_and_tiles: start_choices}
"""What happens in the set-up of Matcha instead of what is for several seats."""


def matcha_solo_ruleset(read: Callable[[str], str] = packaged) -> CastleRuleset:
    """Matcha with a rival."""
    matcha, solo = matcha_ruleset(read), solo_ruleset(read)
    words = tea_rival_words(rival_words(tea_words(base_vocabulary())))
    files = {name: read(name) for name in FILES}
    kinds = {**BASE_KINDS, **TEA_KINDS, **RIVAL_KINDS}
    board = (*BASE_BOARD, *TEA_BOARD, *RIVAL_BOARD)
    texts = base_texts() | tea_texts() | rival_texts() | tea_rival_texts()
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
        tables=load(files, kinds, words.parse, board, {**MATCHA_BOX, **SOLO_BOX}),
        words=words,
        step_kinds=(
            *without(matcha.step_kinds, "pick-pair-and-tile", "gardens-and-pond-of-seat"),
            *RIVAL_STEPS,
            *TEA_RIVAL_STEPS,
        ),
        decks=(*matcha.decks, SOLITAIRE_PILE),
        kept=solo.kept,
        sections=(*matcha.sections, *solo.sections),
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
