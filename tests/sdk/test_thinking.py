"""The watch over a bot's thoughts: who is asked, who is reported, and who is given up."""

import threading
import time

import pytest
from himeji import rules
from himeji_sdk._bot import Maker, Question
from himeji_sdk._bot_fault import BotFault
from himeji_sdk._online.bot_threads import Thinking
from himeji_sdk._online.job_loop import Inbox

PATIENCE = 120.0


class FakeSeat:
    """A seat whose bot thinks until it is let go."""

    def __init__(self, game_id, *, free=False):
        self.game_id = game_id
        self.begun, self.free = threading.Event(), threading.Event()
        self.told = threading.Event()
        if free:
            self.free.set()

    def choose(self, question):
        self.begun.set()
        assert self.free.wait(PATIENCE)
        return question.legal[0]

    def hung(self, question, seconds, _thread):
        return BotFault(f"silent for {seconds}", "hung", seat=question.seat)

    def tell_ends(self):
        # Like a real seat, it does not disturb a bot that thinks.
        assert not self.begun.is_set() or self.free.wait(PATIENCE)
        self.told.set()


class Ears:
    """Writes down what it hears."""

    def __init__(self):
        self.heard = []

    def chosen(self, seat, decision, action):
        self.heard.append(("chosen", seat.game_id, decision))

    def unasked(self, seat, decision):
        self.heard.append(("unasked", seat.game_id, decision))

    def faulty(self, seat, fault):
        self.heard.append(("faulty", seat.game_id, fault.kind))

    def ended(self, seat):
        self.heard.append(("ended", seat.game_id))


class Desk:
    """A bot's thoughts, and the inbox that a runner would empty."""

    def __init__(self, *, shared=True, limit=None):
        self.inbox, self.ears = Inbox(), Ears()
        maker = Maker("bot", object, shared=shared)
        self.thinking = Thinking(maker, self.inbox, self.ears, limit)

    def ask(self, seat, decision=1, time_left=None):
        game = rules.new_game("base", 2, seed=1)
        question = Question(game, 0, game.legal(), seat.game_id, time_left)
        self.thinking.ask(seat, question, decision)
        return seat

    def until(self, *news):
        deadline = time.monotonic() + PATIENCE
        while news not in self.ears.heard:
            assert time.monotonic() < deadline, f"{news} was not heard: {self.ears.heard}"
            self.inbox.later(0.05, lambda: None)
            self.inbox.next()()


@pytest.fixture
def desk():
    made = Desk()
    yield made
    made.thinking.dismiss()


def test_a_choice_is_heard(desk):
    desk.ask(FakeSeat("a", free=True))
    desk.until("chosen", "a", 1)
    assert not desk.thinking.busy


def test_a_bot_is_not_asked_about_a_game_that_ended_while_it_was_busy(desk):
    busy, waiting = desk.ask(FakeSeat("a")), desk.ask(FakeSeat("b"))
    assert busy.begun.wait(PATIENCE)
    desk.thinking.end(waiting)
    desk.until("ended", "b")
    busy.free.set()
    desk.until("chosen", "a", 1)
    assert waiting.told.wait(PATIENCE)
    assert not waiting.begun.is_set()


def test_a_bot_that_is_being_stopped_is_not_asked_any_more(desk):
    busy, waiting = desk.ask(FakeSeat("a")), desk.ask(FakeSeat("b"))
    assert busy.begun.wait(PATIENCE)
    desk.thinking.stopping = True
    busy.free.set()
    desk.until("chosen", "a", 1)
    desk.until("unasked", "b", 1)
    assert not waiting.begun.is_set()


def test_a_choice_beyond_the_limit_is_a_fault_and_its_late_answer_is_dropped():
    desk = Desk(shared=False, limit=1.0)
    stuck = desk.ask(FakeSeat("a"))
    desk.until("faulty", "a", "hung")
    assert not desk.thinking.busy
    desk.thinking.end(stuck)
    desk.until("ended", "a")
    stuck.free.set()
    assert stuck.told.wait(PATIENCE)
    desk.ask(FakeSeat("b", free=True))
    desk.until("chosen", "b", 1)
    assert ("chosen", "a", 1) not in desk.ears.heard
    desk.thinking.dismiss()


def test_a_bot_that_outlasts_its_clock_is_reported_once_and_still_heard(desk, caplog):
    late = desk.ask(FakeSeat("a"), time_left=0.1)
    deadline = time.monotonic() + PATIENCE
    while desk.thinking.busy:
        assert time.monotonic() < deadline
        desk.inbox.next()()
    late.free.set()
    desk.until("chosen", "a", 1)
    assert len([each for each in caplog.records if "silent for" in each.getMessage()]) == 1
