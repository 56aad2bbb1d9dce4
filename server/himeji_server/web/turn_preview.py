"""A turn that is being thought out at the page: actions tried on a copy, until one goes to chance.

Nothing of it reaches the game before it is sent as one answer; so it can be taken back freely. The
copy has no chance at all, hence it can give nothing away.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple, TypedDict

from himeji import render
from himeji.rules.chance import Scripted
from himeji.rules.errors import ChanceExhausted, InvalidRequest, StaleDecision
from himeji.rules.game import ACTION, Game as Play

from himeji_server.accounts.caller import Caller
from himeji_server.games.live_game import LiveGame
from himeji_server.games.use_cases import GameUseCases
from himeji_server.rate_limits import check_actions
from himeji_server.web import schemas
from himeji_server.web.games import happening

_NO_CHANCE: Final = Scripted(())


class Choice(TypedDict):
    """Something that may be done now."""

    action: int
    text: str
    place: str
    reveals: bool
    free: bool


class TurnPreview(TypedDict):
    """A turn so far, and what may come next."""

    seat: int
    decision: int
    question: str
    actions: list[int]
    steps: list[str]
    effects: list[schemas.Happening]
    complete: bool
    choices: list[Choice]


class PreviewedTurn(NamedTuple):
    """A copy of a game in which a part of a turn was played."""

    play: Play
    seat: int

    @property
    def complete(self) -> bool:
        """Whether the turn is over."""
        return self.play.over or self.play.to_move != self.seat


def sketched(
    table: LiveGame, caller: Caller, decision: int, actions: Sequence[int]
) -> PreviewedTurn:
    """Play the actions on a copy of a game whose open decision is the caller's.

    Raises StaleDecision, NotYourDecision, IllegalAction, UnknownAction, InvalidRequest.
    """
    check_actions(len(actions))
    if not GameUseCases.is_asked(table, caller) or table.stored.decision != decision:
        raise StaleDecision("that decision is not open", {"game_id": table.game_id})
    play = _copy(table)
    sketch = PreviewedTurn(play, table.stored.seat)
    for action in actions:
        if sketch.complete:
            raise InvalidRequest("the turn was over before", {"field": "actions"})
        try:
            play.apply(action)
        except ChanceExhausted:
            text = play.ruleset.actions.text(action)
            raise InvalidRequest(
                f"“{text}” goes to chance: it cannot be tried", {"field": "actions"}
            ) from None
    return sketch


def _copy(table: LiveGame) -> Play:
    if table.play is None:
        raise StaleDecision("the game has not begun", {"game_id": table.game_id})
    play = table.play.clone()
    play.chance, play.log = _NO_CHANCE, []
    return play


def plan(sketch: PreviewedTurn, decision: int, actions: Sequence[int], picture: str) -> TurnPreview:
    """The turn so far in words, and what may come next, with the places that the picture marks."""
    play = sketch.play
    told = [happening(play, n, record) for n, record in enumerate(play.log or [])]
    return {
        "seat": sketch.seat,
        "decision": decision,
        "question": "" if sketch.complete else play.stack[-1].question(play),
        "actions": list(actions),
        "steps": [play.ruleset.actions.text(action) for action in actions],
        "effects": [each for each in told if each["kind"] != play.ruleset.event_kinds[ACTION]],
        "complete": sketch.complete,
        "choices": [] if sketch.complete else _choices(play, render.marks(picture)),
    }


def _choices(play: Play, places: Collection[str]) -> list[Choice]:
    texts = play.ruleset.actions
    return [
        {
            "action": action,
            "text": texts.text(action),
            "place": render.place_of(texts.text(action), places),
            "reveals": _reveals(play, action),
            "free": bool(play.free_answer_rule(action)),
        }
        for action in play.legal()
    ]


def _reveals(play: Play, action: int) -> bool:
    """Whether an action goes to chance, tried on a copy that has none."""
    twin = play.clone()
    twin.chance = _NO_CHANCE
    try:
        twin.apply(action)
    except ChanceExhausted:
        return True
    return False
