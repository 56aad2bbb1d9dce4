"""A turn that is being thought out at the page: actions tried on a copy, until one goes to chance.

Nothing of it reaches the game before it is confirmed and sent as one answer; so it can be taken
back freely. The copy has no chance at all, hence it can give nothing away: an action that goes to
chance is only noted, as the last one before the turn is confirmed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple, TypedDict

from himeji import render
from himeji.rules.chance import Scripted
from himeji.rules.constants import DONE
from himeji.rules.errors import ChanceExhausted, InvalidRequest, StaleDecision
from himeji.rules.game import ACTION, Game as Engine

from himeji_server.accounts.caller import Caller
from himeji_server.games.live_game import GameView
from himeji_server.games.seat_rules import is_asked
from himeji_server.rate_limits import check_actions
from himeji_server.web import schemas
from himeji_server.web.games import event_facts

_NO_CHANCE: Final = Scripted(())


class Choice(TypedDict):
    """Something that may be done now."""

    action: int
    text: str
    place: str
    reveals: bool
    free: bool
    declines: bool


class TurnPreview(TypedDict):
    """A turn so far, and what may come next."""

    seat: int
    decision: int
    question: str
    actions: list[int]
    steps: list[str]
    effects: list[schemas.GameEvent]
    complete: bool
    goes_to_chance: bool
    choices: list[Choice]


class PreviewedTurn(NamedTuple):
    """A copy of a game in which a part of a turn was played."""

    engine: Engine
    seat: int
    goes_to_chance: bool = False
    """Whether the last action goes to chance; it is not played in the copy."""

    @property
    def complete(self) -> bool:
        """Whether nothing can be added to the turn before it is confirmed."""
        return self.goes_to_chance or self.engine.over or self.engine.to_move != self.seat

    def picture(self) -> str:
        """The board after the turn, which says whose turn is not confirmed."""
        return render.svg(self.engine, unconfirmed=self.seat if self.complete else None)


def preview(view: GameView, caller: Caller, decision: int, actions: Sequence[int]) -> PreviewedTurn:
    """Play the actions on a copy of a game whose open decision is the caller's.

    Raises StaleDecision, NotYourDecision, IllegalAction, UnknownAction, InvalidRequest.
    """
    check_actions(len(actions))
    if not is_asked(view, caller) or view.stored.decision != decision:
        raise StaleDecision("that decision is not open", {"game_id": view.game_id})
    engine = _copy(view)
    turn = PreviewedTurn(engine, view.stored.seat)
    for action in actions:
        if turn.complete:
            raise InvalidRequest("the turn was over before", {"field": "actions"})
        if _reveals(engine, action):
            turn = turn._replace(goes_to_chance=True)
        else:
            engine.apply(action)
    return turn


def _copy(view: GameView) -> Engine:
    engine = view.copy()
    engine.chance, engine.log = _NO_CHANCE, []
    return engine


def describe(
    turn: PreviewedTurn, decision: int, actions: Sequence[int], picture: str
) -> TurnPreview:
    """The turn so far in words, and what may come next, with the places that the picture marks."""
    engine = turn.engine
    events = [
        event_facts(engine.ruleset, engine.seats, n, record)
        for n, record in enumerate(engine.log or [])
    ]
    return {
        "seat": turn.seat,
        "decision": decision,
        "question": "" if turn.complete else engine.stack[-1].question(engine),
        "actions": list(actions),
        "steps": [engine.ruleset.actions.text(action) for action in actions],
        "effects": [each for each in events if each["kind"] != engine.ruleset.event_kinds[ACTION]],
        "complete": turn.complete,
        "goes_to_chance": turn.goes_to_chance,
        "choices": [] if turn.complete else _choices(engine, render.marks(picture)),
    }


def _choices(engine: Engine, places: Collection[str]) -> list[Choice]:
    """What may come next; to do nothing more comes last, so that it is not chosen by mistake."""
    texts = engine.ruleset.actions
    return [
        {
            "action": action,
            "text": texts.text(action),
            "place": render.place_of(texts.text(action), places),
            "reveals": _reveals(engine, action),
            "free": bool(engine.free_answer_rule(action)),
            "declines": action == DONE,
        }
        for action in sorted(engine.legal(), key=lambda action: action == DONE)
    ]


def _reveals(engine: Engine, action: int) -> bool:
    """Whether an action goes to chance, tried on a copy that has none."""
    twin = engine.clone()
    twin.chance = _NO_CHANCE
    try:
        twin.apply(action)
    except ChanceExhausted:
        return True
    return False
