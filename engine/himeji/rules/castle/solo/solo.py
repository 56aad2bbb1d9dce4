"""Solitaire: the base game for one seat against the rival clan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from himeji.rules.actions import ActionTable
from himeji.rules.castle.base import base_ruleset
from himeji.rules.castle.board import BASE_BOARD
from himeji.rules.castle.components import BASE_KINDS, load
from himeji.rules.castle.constants import DIPLOMAT_PILE, STEWARD_PILE
from himeji.rules.castle.invariants import BASE_BOX, SOLO_BOX
from himeji.rules.castle.rounds import finish, last_exchanges, next_round, set_turn_order
from himeji.rules.castle.ruleset import CastleRuleset
from himeji.rules.castle.scoring import without_rivals_coins
from himeji.rules.castle.section import SolitaireSection
from himeji.rules.castle.setup import (
    castle_cards,
    daimyo_card,
    die_tiles,
    first_dice,
    gardens_and_yards,
)
from himeji.rules.castle.solo.components import RIVAL_BOARD, RIVAL_KINDS
from himeji.rules.castle.solo.constants import SOLITAIRE_PILE
from himeji.rules.castle.solo.rival import (
    begin_turn_or_rivals,
    gardens_and_rivals,
    random_start_cards,
    rival_start,
    shuffle_solitaires,
    turn_in_coins,
)
from himeji.rules.castle.steps import RIVAL_STEPS, without
from himeji.rules.castle.texts import base_texts, rival_texts
from himeji.rules.castle.vocabulary import base_vocabulary, rival_words
from himeji.rules.datafile import packaged, revision_of

DIFFICULTY = {"difficulty": ("medium", "easy", "hard")}
DIFFICULTY_WORDS = {
    "difficulty": "The points, influence and turn order the rival starts with (S-1)."
}


def solo_ruleset(read: Callable[[str], str] = packaged) -> CastleRuleset:
    """The base game with a rival."""
    base = base_ruleset(read)
    words = rival_words(base_vocabulary())
    files = {name: read(name) for name in ("base.toml", "solo.toml")}
    return replace(
        base,
        name="solo",
        title="The White Castle, solitaire",
        revision=revision_of(files),
        seat_counts=(1,),
        choices=DIFFICULTY,
        option_words=DIFFICULTY_WORDS,
        actions=ActionTable("solo", base_texts() | rival_texts()),
        pages=("base.md", "solo.md"),
        tables=load(
            files,
            {**BASE_KINDS, **RIVAL_KINDS},
            words.parse,
            (*BASE_BOARD, *RIVAL_BOARD),
            {**BASE_BOX, **SOLO_BOX},
        ),
        words=words,
        step_kinds=(*without(base.step_kinds, "pick-pair", "gardens-of-seat"), *RIVAL_STEPS),
        decks=(STEWARD_PILE, DIPLOMAT_PILE, SOLITAIRE_PILE),
        kept=("solitaire",),
        sections=(SolitaireSection(),),
        rivals=1,
        setup=(
            castle_cards,
            daimyo_card,
            die_tiles,
            gardens_and_yards,
            rival_start,
            first_dice,
            random_start_cards,
        ),
        begin_turn=begin_turn_or_rivals,
        round_end=(
            set_turn_order,
            turn_in_coins,
            gardens_and_rivals,
            shuffle_solitaires,
            next_round,
        ),
        game_end=(set_turn_order, turn_in_coins, last_exchanges, finish),
        scoring=without_rivals_coins(base.scoring),
    )
