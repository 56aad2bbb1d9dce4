"""Whole games under examination: legality, crashes, hangs and the time that choices take."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from himeji import rules
from himeji.rules import Game

from himeji_sdk._bot import AnyBot, maker
from himeji_sdk._bot_fault import BotFault
from himeji_sdk._local_play import Played, play
from himeji_sdk._time_limit import patience
from himeji_sdk.doctor._finding import CHECK_OF, Finding, fault, ok, skipped
from himeji_sdk.doctor._questions import questions, seated
from himeji_sdk.doctor._settings import Wishes
from himeji_sdk.doctor._timed_bot import ClockFellError, Patient, table

Say = Callable[[str], None]
"""Is told what goes on, and so that it does."""

Watch = Callable[[Game], None]

LITTLE: Final = 1.0
"""Seconds on a clock with which a bot has to hurry."""


def numbered_games(wishes: Wishes) -> Iterator[tuple[int, int]]:
    """The numbers of the games to play and their seats, until there are enough of them."""
    counts = rules.ruleset(wishes.ruleset).seat_counts
    until = time.monotonic() + wishes.seconds
    for number in range(wishes.games):
        if number and time.monotonic() > until:
            return
        yield number, counts[number % len(counts)]


def game_of(players: Sequence[AnyBot], seed: int, wishes: Wishes, watch: Watch) -> Played:
    """Play one game as it is wished for; raises BotFault."""
    return play(
        players,
        ruleset=wishes.ruleset,
        options=wishes.options,
        seed=seed,
        limit=wishes.limit,
        watch=watch,
    )


def alive(say: Say, doing: str, patient: Patient) -> Watch:
    """Says at once, and after each choice, what is being done; and looks at the clock."""
    say(doing)

    def watch(_game: Game) -> None:
        say(f"{doing}, choice {len(patient.times)}")
        patient.check_clock()

    return watch


def games(bot: AnyBot, wishes: Wishes, say: Say) -> Iterator[Finding]:
    """Play; a finding each for legality, crashes, hangs and time."""
    played: list[Patient] = []
    try:
        for number, seats in numbered_games(wishes):
            patient = Patient(bot, wishes.clock)
            played.append(patient)
            doing = f"playing game {number + 1} of {wishes.games}"
            game_of(table(patient, seats, number), number, wishes, alive(say, doing, patient))
    except BotFault as error:
        found = fault(CHECK_OF[error.kind], f"{error.sentence} ({error.rule})", str(error))
        for check in (*CHECK_OF.values(), "time"):
            yield found if check == found.check else skipped(check)
        return
    except ClockFellError:
        yield from _sound(played)
        yield _too_slow(played[-1], wishes)
        return
    yield from _sound(played)
    yield _in_a_hurry(bot, wishes, say) or _time(played, wishes)


def _sound(played: list[Patient]) -> Iterator[Finding]:
    choices = sum(len(each.times) for each in played)
    count = f"{len(played)} game{'s' if len(played) > 1 else ''}"
    yield ok("legality", f"{choices} choices in {count}, all of them legal")
    yield ok("crashes", f"none in {count}")
    yield ok("hangs", f"none in {count}")


def _too_slow(patient: Patient, wishes: Wishes) -> Finding:
    mean = statistics.mean(patient.times)
    return fault(
        "time",
        f"it lost on time after {len(patient.times)} choices, {mean:.2f} s each, "
        f"on a clock of {_clock(wishes)}",
    )


def _in_a_hurry(bot: AnyBot, wishes: Wishes, say: Say) -> Finding | None:
    """The fault of a bot that takes its time, every time, although its clock is nearly out."""
    little = min(LITTLE, wishes.clock[0])
    try:
        times = list(_times(bot, wishes, little, say))
    except BotFault:
        return None  # what it does wrong in the middle of a game is a check of its own
    if min(times) < little:
        return None
    sentence = f"with {little:g} s left on its clock it thought for {min(times):.1f} s"
    return fault("time", f"{sentence}, {len(times)} times of {len(times)}")


def _times(bot: AnyBot, wishes: Wishes, left: float, say: Say) -> Iterator[float]:
    """How long it takes for questions that come with so much time left, until one is quick."""
    number = 9
    player = seated(maker(bot), wishes, number)
    with patience(wishes.limit) as waiting:
        for question in questions(wishes, number, first=8, time_left=left):
            say("asking it with little time left")
            begun = time.monotonic()
            waiting.answer(player, question)
            passed = time.monotonic() - begun
            yield passed
            if passed < left:
                return


def _time(played: list[Patient], wishes: Wishes) -> Finding:
    times = [each for patient in played for each in patient.times]
    most = max(sum(patient.times) for patient in played)
    return ok(
        "time",
        f"{statistics.mean(times) * 1000:.1f} ms a choice, {max(times) * 1000:.1f} ms at most; "
        f"{most:.1f} s a game at most, on a clock of {_clock(wishes)}",
    )


def _clock(wishes: Wishes) -> str:
    bank, increment = wishes.clock
    return f"{bank:g} s + {increment:g} s a choice"


def answers(bot: AnyBot, wishes: Wishes, say: Say) -> list[list[int]]:
    """The actions of some games, for a comparison with those of another process."""
    out = []
    for number, seats in numbered_games(wishes):
        patient, doing = Patient(bot), f"playing game {number + 1} of {wishes.games} to compare"
        watch = alive(say, doing, patient)
        out.append(list(game_of(table(patient, seats, number), number, wishes, watch).actions))
    return out
