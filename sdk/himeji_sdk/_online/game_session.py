"""A game on the stream, as the runner keeps it: the mirror, the open question, the answer."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from himeji.rules.errors import VersionMismatch
from himeji.v1.game_pb2 import Decision, Game as GameMessage, GameOver
from himeji.v1.play_service_pb2 import PlayRequest, Resume
from himeji.wire.chain import commitment

from himeji_sdk._bot import End, Maker, Player, Question, hung
from himeji_sdk._bot_fault import BotFault
from himeji_sdk._client.remote_mirror import Following, end_of, start_of


@dataclass(frozen=True)
class Answer:
    """What a bot chose. It is kept until the arena has said that it stands."""

    decision: int
    action: int


class Seat:
    """The part of one bot in one game; but for `choose` and `tell_ends`, the runner's thread's."""

    def __init__(self, game: GameMessage, maker: Maker, name: str) -> None:
        self.game_id = game.game_id
        self.thinking = 0
        """The decision that the bot is thinking about, 0 for none."""
        self.answer: Answer | None = None
        self.decided = 0
        """The newest decision whose answer stands."""
        self.resigning = False
        self.over: GameOver | None = None
        self._game = game
        self._following = Following(game)
        self._whole = True
        self._players: dict[int, Player] = {}
        self._at_work = threading.Lock()  # a bot is asked one question of a game at a time
        self._maker = maker
        self._name = name

    @property
    def busy(self) -> bool:
        """Whether a choice is being made or on its way."""
        return self.thinking > 0 or self.answer is not None

    @property
    def others(self) -> str:
        """The names of all at the table."""
        return ", ".join(each.bot or each.plan.name or "anybody" for each in self._game.seats)

    def seated(self, game: GameMessage) -> None:
        """The seating was told again, perhaps with more known of the others."""
        self._game = game

    def resume(self) -> Resume:
        """How much is known, for the next Hello."""
        count = self._following.count if self._whole else None
        return Resume(game_id=self.game_id, event_count=count)

    def start_over(self) -> None:
        """Events were missed: the mirror is to be told everything again."""
        self._following = Following(self._game)
        self._whole = False

    def asked(self, decision: Decision) -> Question | None:
        """Take a decision in; the question to ask the bot, None if it is being answered.

        Raises MissingEventsError, and VersionMismatch if the engines differ.
        """
        self._following.take(decision.first_event, decision.events)
        self._whole = True
        answered = self.answer.decision if self.answer is not None else self.decided
        if decision.decision_id == self.thinking or decision.decision_id <= answered:
            return None
        game, legal = self._following.game, list(decision.legal_actions)
        if game.legal() != legal:
            raise VersionMismatch(f"{legal} are legal there and {game.legal()} here")
        self.thinking, self.answer = decision.decision_id, None
        left = decision.clocks.left
        return Question(
            game,
            decision.seat,
            legal,
            self.game_id,
            left[decision.seat].ToMilliseconds() / 1000 if left else None,
        )

    def chosen(self, decision: int, action: int) -> bool:
        """Keep what the bot chose; False if the game has moved on meanwhile."""
        if self.thinking != decision:
            return False
        self.thinking, self.answer = 0, Answer(decision, action)
        return True

    def stands(self, decision: int) -> None:
        """The answer to a decision was played, or is no longer wanted."""
        self.decided = max(self.decided, decision)
        if self.answer is not None and self.answer.decision <= decision:
            self.answer = None

    def act(self) -> PlayRequest | None:
        """The request that says what was chosen, None if nothing is to be said."""
        if self.resigning:
            request = PlayRequest()
            request.resign.game_id = self.game_id
            return request
        if self.answer is None:
            return None
        request = PlayRequest()
        request.act.game_id, request.act.decision_id = self.game_id, self.answer.decision
        request.act.actions.append(self.answer.action)
        return request

    def choose(self, question: Question) -> int:
        """Ask the bot, in a thread of its own; raises BotFault."""
        with self._at_work:
            if question.seat not in self._players:
                player = self._maker.player(self._name)
                player.start(start_of(self._game, question.seat))
                self._players[question.seat] = player
            return self._players[question.seat].answer(question)

    def hung(self, question: Question, seconds: float, thread: int) -> BotFault:
        """The fault of a bot that is at this question, in that thread, and does not answer."""
        return hung(self._name, question, seconds, thread)

    def ends(self) -> list[End]:
        """How the game ended, for each seat that the bot has in it."""
        if self.over is None:
            return []
        seats = sorted(self._players) or [self.over.seat]
        return [end_of(self.game_id, seat, self.over.result) for seat in seats]

    def tell_ends(self) -> None:
        """Tell the bot, in a thread of its own; raises BotFault."""
        with self._at_work:
            for end in self.ends():
                if end.seat in self._players:
                    self._players[end.seat].end(end)

    def unfair(self) -> str:
        """What is wrong with the chance of a game that is over; empty if nothing is."""
        proof = self.over.chance if self.over is not None else self._game.chance
        if proof.commitment != self._game.chance.commitment:
            return "its commitment is not the one that was shown before the game"
        if self.over is not None and commitment(proof.secret) != proof.commitment:
            return "its secret does not fit the commitment"
        return ""
