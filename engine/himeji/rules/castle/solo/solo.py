"""Solitaire: the base game for one seat against the rival clan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from himeji.rules.actions import ActionTable
from himeji.rules.castle.base import base_ruleset
from himeji.rules.castle.board import BASE_BOARD
from himeji.rules.castle.components import BASE_KINDS, load
from himeji.rules.castle.constants import SPACE_NAMES
from himeji.rules.castle.invariants import BASE_BOX
from himeji.rules.castle.rounds import finish, last_exchanges, next_round, set_turn_order
from himeji.rules.castle.ruleset import CastleRuleset
from himeji.rules.castle.setup import (
    castle_cards,
    daimyo_card,
    die_tiles,
    first_dice,
    gardens_and_yards,
)
from himeji.rules.castle.solo.components import read_rival, solitaire_kinds, solo_component
from himeji.rules.castle.solo.constants import SOLITAIRE_PILE, SOLO_PILE_NAMES
from himeji.rules.castle.solo.description import describe_rival, solitaire_faces
from himeji.rules.castle.solo.events import SOLO_EVENTS
from himeji.rules.castle.solo.invariants import SOLO_BOX
from himeji.rules.castle.solo.rival import (
    begin_turn_or_rivals,
    gardens_and_rivals,
    random_start_cards,
    rival_start,
    shuffle_solitaires,
    turn_in_coins,
)
from himeji.rules.castle.solo.scoring import without_rivals_coins
from himeji.rules.castle.solo.section import SolitaireSection
from himeji.rules.castle.solo.steps import SOLO_STEPS
from himeji.rules.castle.solo.texts import SOLO_FIELD_TEXTS, SOLO_STEP_TEXTS, solo_texts
from himeji.rules.castle.solo.vocabulary import add_solo_words
from himeji.rules.castle.steps import without
from himeji.rules.castle.texts import base_texts
from himeji.rules.castle.vocabulary import base_vocabulary
from himeji.rules.components import BoxContents
from himeji.rules.datafile import packaged, revision_of

DIFFICULTY = {"difficulty": ("medium", "easy", "hard")}
DIFFICULTY_WORDS = {
    "difficulty": "The points, influence and turn order the rival starts with (S-1)."
}


def solo_ruleset(read: Callable[[str], str] = packaged) -> CastleRuleset:
    """The base game with a rival."""
    base = base_ruleset(read)
    words = add_solo_words(base_vocabulary())
    files = {name: read(name) for name in ("base.toml", "solo.toml")}
    contents = BoxContents(
        solo_component,
        {**BASE_KINDS, **solitaire_kinds(SPACE_NAMES)},
        (*BASE_BOARD, read_rival),
        {**BASE_BOX, **SOLO_BOX},
    )
    return replace(
        base,
        name="solo",
        title="The White Castle, solitaire",
        revision=revision_of(files),
        seat_counts=(1,),
        choices=DIFFICULTY,
        option_words=DIFFICULTY_WORDS,
        actions=ActionTable("solo", base_texts() | solo_texts()),
        pages=("base.md", "solo.md"),
        tables=load(files, words.parse, contents),
        words=words,
        step_kinds=(*without(base.step_kinds, "pick-pair", "gardens-of-seat"), *SOLO_STEPS),
        pile_names={**base.pile_names, **SOLO_PILE_NAMES},
        decks=(*base.decks, SOLITAIRE_PILE),
        kept=("solitaire",),
        sections=(SolitaireSection(),),
        events={**base.events, **SOLO_EVENTS},
        step_texts={**base.step_texts, **SOLO_STEP_TEXTS},
        field_texts={**base.field_texts, **SOLO_FIELD_TEXTS},
        own_board=(describe_rival,),
        own_faces={"solitaire": solitaire_faces},
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
