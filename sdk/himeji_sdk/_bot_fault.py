"""A bot's own mistake, with everything that helps to find it."""

from __future__ import annotations

import sys
import traceback
from itertools import dropwhile
from pathlib import Path
from typing import Final

from himeji import render
from himeji.rules import Game

CRASHED: Final = "crashed"
ILLEGAL: Final = "illegal"
HUNG: Final = "hung"


class BotFault(Exception):
    """A bot crashed, did not answer, or gave an answer that the rules do not allow.

    It stands beside the tree of errors: those say what Himeji refuses, this one what a bot did.
    The text is a whole report; `sentence` is its first line.
    """

    def __init__(  # noqa: PLR0913 - all that is known of it
        self,
        sentence: str,
        kind: str,
        *,
        seat: int,
        game_id: str = "",
        game: Game | None = None,
        rule: str = "",
    ) -> None:
        where = f"seat {seat} of game {game_id}" if game_id else f"seat {seat}"
        self.sentence = f"{sentence} ({where})"
        super().__init__(self.sentence)
        self.kind = kind
        """What it did: "crashed", "illegal" or "hung"."""
        self.seat = seat
        self.game_id = game_id
        self.game = game
        """The position in which it happened, None outside of a decision."""
        self.legal = () if game is None else tuple(game.legal())
        self.rule = rule or ("" if game is None else game.stack[-1].rule)
        self._trace = ""

    def with_cause(self, error: BaseException) -> BotFault:
        """Add what the bot raised, without the frames of the SDK; returns the fault itself."""
        self.sentence += f": {type(error).__name__}: {error}"
        trace = error.__traceback__
        while trace is not None and _is_sdk_file(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        self._trace = "".join(traceback.format_exception(type(error), error, trace))
        return self

    def with_stack(self, thread: int) -> BotFault:
        """Add the line of code that the bot's thread is at; returns the fault itself."""
        frame = sys._current_frames().get(thread)  # noqa: SLF001 - the documented way to see it
        calls = list(traceback.extract_stack(frame)) if frame is not None else []
        below = dropwhile(lambda call: not _is_sdk_file(call.filename), calls)
        own = list(dropwhile(lambda call: _is_sdk_file(call.filename), below))
        self._trace = "It is here:\n" + "".join(traceback.format_list(own)) if own else ""
        return self

    @property
    def position(self) -> str:
        """The position as JSON, for `himeji.rules.from_json`; empty outside of a decision."""
        return "" if self.game is None else self.game.to_json()

    def __str__(self) -> str:
        return "\n".join([self.sentence, *self._details()])

    def _details(self) -> list[str]:
        lines = [self._trace.rstrip()] if self._trace else []
        if self.game is not None:
            step, texts = self.game.stack[-1], self.game.ruleset.actions
            lines.append(f"It was asked to {step.question(self.game)} ({self.rule}). Legal were:")
            lines += [f"{action:>6}  {texts.text(action)}" for action in self.legal]
            lines += ["The position:", render.text(self.game)]
        return lines


def _is_sdk_file(file: str) -> bool:
    """Whether a frame is in the SDK, and so of no interest to a bot's author."""
    return Path(file).is_relative_to(_SDK)


_SDK: Final = Path(__file__).parent
