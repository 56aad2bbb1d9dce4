"""The threads of a bot and their watchdog: who is asked, who is reported, and who is given up."""

import threading
import time

import pytest
from himeji import rules
from himeji_sdk._bot import BotFactory, Question
from himeji_sdk._bot_fault import BotFault
from himeji_sdk._online.bot_threads import BotThreads
from himeji_sdk._online.job_loop import JobLoop

TIMEOUT_SECONDS = 120.0


class FakeSession:
    """A game whose bot thinks until it is released."""

    def __init__(self, game_id, *, released=False):
        self.game_id = game_id
        self.begun, self.released = threading.Event(), threading.Event()
        self.told = threading.Event()
        if released:
            self.released.set()

    def ask_bot(self, question):
        self.begun.set()
        assert self.released.wait(TIMEOUT_SECONDS)
        return question.legal[0]

    def hung_fault(self, question, seconds, _thread):
        return BotFault(f"silent for {seconds}", "hung", seat=question.seat)

    def notify_end(self):
        # Like a real session, it does not call a bot that is being asked.
        assert not self.begun.is_set() or self.released.wait(TIMEOUT_SECONDS)
        self.told.set()


class RecordingListener:
    """Records every call."""

    def __init__(self):
        self.calls = []

    def on_choice(self, session, decision, action):
        self.calls.append(("chosen", session.game_id, decision))

    def on_skipped(self, session, decision):
        self.calls.append(("skipped", session.game_id, decision))

    def on_fault(self, session, fault):
        self.calls.append(("fault", session.game_id, fault.kind))

    def on_game_end(self, session):
        self.calls.append(("ended", session.game_id))


class Asker:
    """The threads of a bot, and the job loop that a runner would run."""

    def __init__(self, *, shared=True, limit=None):
        self.loop, self.listener = JobLoop(), RecordingListener()
        factory = BotFactory("bot", object, shared=shared)
        self.threads = BotThreads(factory, self.loop, self.listener, limit)

    def ask(self, session, decision=1, time_left=None):
        game = rules.new_game("base", 2, seed=1)
        question = Question(game, 0, game.legal(), session.game_id, time_left)
        self.threads.ask(session, question, decision)
        return session

    def until(self, *call):
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while call not in self.listener.calls:
            assert time.monotonic() < deadline, f"{call} was not made: {self.listener.calls}"
            self.loop.call_later(0.05, lambda: None)
            self.loop.next_job()()


@pytest.fixture
def asker():
    made = Asker()
    yield made
    made.threads.shutdown()


def test_a_choice_is_heard(asker):
    asker.ask(FakeSession("a", released=True))
    asker.until("chosen", "a", 1)
    assert not asker.threads.busy


def test_a_bot_is_not_asked_about_a_game_that_ended_while_it_was_busy(asker):
    busy, waiting = asker.ask(FakeSession("a")), asker.ask(FakeSession("b"))
    assert busy.begun.wait(TIMEOUT_SECONDS)
    asker.threads.end(waiting)
    asker.until("ended", "b")
    busy.released.set()
    asker.until("chosen", "a", 1)
    assert waiting.told.wait(TIMEOUT_SECONDS)
    assert not waiting.begun.is_set()


def test_a_bot_that_is_being_stopped_is_not_asked_any_more(asker):
    busy, waiting = asker.ask(FakeSession("a")), asker.ask(FakeSession("b"))
    assert busy.begun.wait(TIMEOUT_SECONDS)
    asker.threads.stopping = True
    busy.released.set()
    asker.until("chosen", "a", 1)
    asker.until("skipped", "b", 1)
    assert not waiting.begun.is_set()


def test_a_choice_beyond_the_limit_is_a_fault_and_its_late_answer_is_dropped():
    asker = Asker(shared=False, limit=1.0)
    stuck = asker.ask(FakeSession("a"))
    asker.until("fault", "a", "hung")
    assert not asker.threads.busy
    asker.threads.end(stuck)
    asker.until("ended", "a")
    stuck.released.set()
    assert stuck.told.wait(TIMEOUT_SECONDS)
    asker.ask(FakeSession("b", released=True))
    asker.until("chosen", "b", 1)
    assert ("chosen", "a", 1) not in asker.listener.calls
    asker.threads.shutdown()


def test_a_bot_that_outlasts_its_clock_is_reported_once_and_still_heard(asker, caplog):
    late = asker.ask(FakeSession("a"), time_left=0.1)
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while asker.threads.busy:
        assert time.monotonic() < deadline
        asker.loop.next_job()()
    late.released.set()
    asker.until("chosen", "a", 1)
    assert len([each for each in caplog.records if "silent for" in each.getMessage()]) == 1
