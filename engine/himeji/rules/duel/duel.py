"""Duel, the stand-alone game for two."""

from __future__ import annotations

from collections.abc import Callable

from himeji.rules.actions import ActionTable
from himeji.rules.constants import COIN, RESOURCES, SEAL, SWAP, VP
from himeji.rules.datafile import packaged, revision_of
from himeji.rules.duel.board import DUEL_BOARD
from himeji.rules.duel.components import load
from himeji.rules.duel.constants import SEATS, action_texts
from himeji.rules.duel.invariants import DUEL_BOX
from himeji.rules.duel.rounds import next_step
from himeji.rules.duel.ruleset import DuelRuleset
from himeji.rules.duel.scoring import DUEL_SCORING
from himeji.rules.duel.setup import DUEL_SETUP, LAYOUTS
from himeji.rules.duel.steps import STEP_KINDS
from himeji.rules.duel.vocabulary import duel_vocabulary


def duel_ruleset(read: Callable[[str], str] = packaged) -> DuelRuleset:
    """Duel with the packaged components, or with those that a reader of files gives."""
    words = duel_vocabulary()
    files = {"duel.toml": read("duel.toml")}
    return DuelRuleset(
        name="duel",
        title="The White Castle: Duel",
        family="duel",
        revision=revision_of(files),
        seat_counts=(SEATS,),
        choices={"layout": LAYOUTS},
        option_words={
            "layout": "How the tiles are laid out: at random, or as fixed for a first game."
        },
        actions=ActionTable("duel", action_texts()),
        pages=("duel.md",),
        goods=(*RESOURCES, COIN, SEAL, VP, SWAP),
        cap_rule="D-7.1",
        exchange_rule="D-7.1",
        least_exchange=2,
        exchanges=RESOURCES,
        scoring=DUEL_SCORING,
        tables=load("duel.toml", files["duel.toml"], words.parse, DUEL_BOARD, DUEL_BOX),
        words=words,
        step_kinds=STEP_KINDS,
        setup=DUEL_SETUP,
        next_step=next_step,
    )
