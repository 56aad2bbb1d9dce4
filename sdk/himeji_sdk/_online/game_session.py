"""One game on the stream: its mirror, the open decision, and the answer until it is confirmed.

Invariant: an answer is kept until the arena has accepted or outdated it, so that it can be sent
again on the next stream; a decision is never asked twice. Everything belongs to the runner's
thread, except `ask_bot` and `notify_end`, which run in a bot thread, one at a time by `_bot_lock`.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from himeji.rules.errors import VersionMismatch
from himeji.v1.game_pb2 import Decision, Game as GameMessage, GameOver
from himeji.v1.play_service_pb2 import ClientMessage, Resume
from himeji.wire.chain import commitment

from himeji_sdk._bot import BotFactory, End, Player, Question, hung_fault
from himeji_sdk._bot_fault import BotFault
from himeji_sdk._client.remote_mirror import RemoteMirror, end_of, start_of


@dataclass(frozen=True)
class Answer:
    """The bot's choice for a decision."""

    decision: int
    action: int


class GameSession:
    """A bot's part in one game; it may hold several seats of it."""

    def __init__(self, game: GameMessage, factory: BotFactory, name: str) -> None:
        self.game_id = game.game_id
        self.asking = 0
        """The decision that the bot is being asked, 0 for none."""
        self.answer: Answer | None = None
        """The answer that is not confirmed yet."""
        self.settled = 0
        """The newest decision whose answer is confirmed."""
        self.resigning = False
        self.over: GameOver | None = None
        self._game = game
        self._mirror = RemoteMirror(game)
        self._players: dict[int, Player] = {}
        self._bot_lock = threading.Lock()
        self._factory = factory
        self._name = name

    @property
    def busy(self) -> bool:
        """Whether a choice is being made, or not confirmed yet."""
        return self.asking > 0 or self.answer is not None

    @property
    def seat_names(self) -> str:
        """Who sits where, for the log."""
        return ", ".join(each.bot or each.plan.name or "anybody" for each in self._game.seats)

    def update(self, game: GameMessage) -> None:
        """Replace what is known of the game; more of the seats may be filled."""
        self._game = game

    def resume(self) -> Resume:
        """How much of the game is known, for the next Hello."""
        return Resume(game_id=self.game_id, event_count=self._mirror.event_count)

    def reset_mirror(self) -> None:
        """Forget all events, so that the next stream sends them from the first one on."""
        self._mirror = RemoteMirror(self._game)

    def take_decision(self, decision: Decision) -> Question | None:
        """Feed the mirror; returns what to ask the bot, None if that was asked already.

        Raises MissingEventsError, and VersionMismatch if the engines differ.
        """
        self._mirror.feed(decision.first_event, decision.events)
        answered = self.answer.decision if self.answer is not None else self.settled
        if decision.decision_id == self.asking or decision.decision_id <= answered:
            return None
        game, legal = self._mirror.game, list(decision.legal_actions)
        if game.legal() != legal:
            raise VersionMismatch(f"{legal} are legal there and {game.legal()} here")
        self.asking, self.answer = decision.decision_id, None
        left = decision.clocks.left
        return Question(
            game,
            decision.seat,
            legal,
            self.game_id,
            left[decision.seat].ToMilliseconds() / 1000 if left else None,
        )

    def take_choice(self, decision: int, action: int) -> bool:
        """Keep the bot's choice as the answer; False if the decision is outdated."""
        if self.asking != decision:
            return False
        self.asking, self.answer = 0, Answer(decision, action)
        return True

    def settle(self, decision: int) -> None:
        """Drop the answer: the arena has played it, or no longer wants it."""
        self.settled = max(self.settled, decision)
        if self.answer is not None and self.answer.decision <= decision:
            self.answer = None

    def pending_request(self) -> ClientMessage | None:
        """What is to be sent, again after a reconnect: Resign, Act, or nothing."""
        request = ClientMessage()
        if self.resigning:
            request.resign.game_id = self.game_id
            return request
        if self.answer is None:
            return None
        request.act.game_id, request.act.decision_id = self.game_id, self.answer.decision
        request.act.actions.append(self.answer.action)
        return request

    def ask_bot(self, question: Question) -> int:
        """The bot's action; raises BotFault."""
        with self._bot_lock:
            if question.seat not in self._players:
                player = self._factory.new_player(self._name)
                player.start(start_of(self._game, question.seat))
                self._players[question.seat] = player
            return self._players[question.seat].answer(question)

    def hung_fault(self, question: Question, seconds: float, thread: int) -> BotFault:
        """The fault of a bot that is asked in that thread and does not answer."""
        return hung_fault(self._name, question, seconds, thread)

    def ends(self) -> list[End]:
        """How the game ended, for each seat that the bot holds."""
        if self.over is None:
            return []
        seats = sorted(self._players) or [self.over.seat]
        return [end_of(self.game_id, seat, self.over.result) for seat in seats]

    def notify_end(self) -> None:
        """Call the bot's `on_end`, once per seat; raises BotFault."""
        with self._bot_lock:
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
