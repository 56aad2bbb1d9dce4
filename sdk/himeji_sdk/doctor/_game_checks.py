"""Checks by whole games: legality, crashes, hangs and the time that choices take."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from himeji import rules
from himeji.rules import Game

from himeji_sdk._bot import AnyBot, bot_factory
from himeji_sdk._bot_fault import BotFault
from himeji_sdk._local_play import Played, play
from himeji_sdk._time_limit import time_limit
from himeji_sdk.doctor._finding import CHECK_OF, Finding, fault, ok, skipped
from himeji_sdk.doctor._questions import questions, start_player
from himeji_sdk.doctor._settings import Settings
from himeji_sdk.doctor._timed_bot import ClockExpiredError, TimedBot, lineup

OnProgress = Callable[[str], None]
"""Called with what is being done; the calls also show that the process is alive."""

Watch = Callable[[Game], None]
"""What `play` calls before the first choice and after each one."""

LOW_CLOCK_SECONDS: Final = 1.0
"""Time left with which a bot has to hurry."""


def numbered_games(settings: Settings) -> Iterator[tuple[int, int]]:
    """The number of each game to play and its seats, until the games or the seconds are used up."""
    counts = rules.ruleset(settings.ruleset).seat_counts
    until = time.monotonic() + settings.seconds
    for number in range(settings.games):
        if number and time.monotonic() > until:
            return
        yield number, counts[number % len(counts)]


def play_game(bots: Sequence[AnyBot], seed: int, settings: Settings, watch: Watch) -> Played:
    """Play one game as the settings say; raises BotFault."""
    return play(
        bots,
        ruleset=settings.ruleset,
        options=settings.options,
        seed=seed,
        limit=settings.limit,
        watch=watch,
    )


def progress_watch(on_progress: OnProgress, doing: str, timed: TimedBot) -> Watch:
    """Reports progress now and after each choice, and checks the bot's clock."""
    on_progress(doing)

    def watch(_game: Game) -> None:
        on_progress(f"{doing}, choice {len(timed.times)}")
        timed.check_clock()

    return watch


def check_games(bot: AnyBot, settings: Settings, on_progress: OnProgress) -> Iterator[Finding]:
    """Play; a finding each for legality, crashes, hangs and time."""
    played: list[TimedBot] = []
    try:
        for number, seats in numbered_games(settings):
            timed = TimedBot(bot, settings.clock)
            played.append(timed)
            doing = f"playing game {number + 1} of {settings.games}"
            watch = progress_watch(on_progress, doing, timed)
            play_game(lineup(timed, seats, number), number, settings, watch)
    except BotFault as error:
        found = fault(CHECK_OF[error.kind], f"{error.sentence} ({error.rule})", str(error))
        for check in (*CHECK_OF.values(), "time"):
            yield found if check == found.check else skipped(check)
        return
    except ClockExpiredError:
        yield from _all_ok(played)
        yield _too_slow(played[-1], settings)
        return
    yield from _all_ok(played)
    yield _check_low_clock(bot, settings, on_progress) or _time_ok(played, settings)


def _all_ok(played: list[TimedBot]) -> Iterator[Finding]:
    choices = sum(len(each.times) for each in played)
    count = f"{len(played)} game{'s' if len(played) > 1 else ''}"
    yield ok("legality", f"{choices} choices in {count}, all of them legal")
    yield ok("crashes", f"none in {count}")
    yield ok("hangs", f"none in {count}")


def _too_slow(timed: TimedBot, settings: Settings) -> Finding:
    mean = statistics.mean(timed.times)
    return fault(
        "time",
        f"it lost on time after {len(timed.times)} choices, {mean:.2f} s each, "
        f"on a clock of {_clock_text(settings)}",
    )


def _check_low_clock(bot: AnyBot, settings: Settings, on_progress: OnProgress) -> Finding | None:
    """The fault of a bot that takes too long, every time, although its clock is nearly out."""
    little = min(LOW_CLOCK_SECONDS, settings.clock[0])
    try:
        times = list(_low_clock_times(bot, settings, little, on_progress))
    except BotFault:
        return None  # what it does wrong in the middle of a game is a check of its own
    if min(times) < little:
        return None
    sentence = f"with {little:g} s left on its clock it thought for {min(times):.1f} s"
    return fault("time", f"{sentence}, {len(times)} times of {len(times)}")


def _low_clock_times(
    bot: AnyBot, settings: Settings, left: float, on_progress: OnProgress
) -> Iterator[float]:
    """How long it takes for questions with so much time left, until one is quick enough."""
    number = 9
    player = start_player(bot_factory(bot), settings, number)
    with time_limit(settings.limit) as limit:
        for question in questions(settings, number, first=8, time_left=left):
            on_progress("asking it with little time left")
            begun = time.monotonic()
            limit.ask(player, question)
            passed = time.monotonic() - begun
            yield passed
            if passed < left:
                return


def _time_ok(played: list[TimedBot], settings: Settings) -> Finding:
    times = [each for timed in played for each in timed.times]
    most = max(sum(timed.times) for timed in played)
    return ok(
        "time",
        f"{statistics.mean(times) * 1000:.1f} ms a choice, {max(times) * 1000:.1f} ms at most; "
        f"{most:.1f} s a game at most, on a clock of {_clock_text(settings)}",
    )


def _clock_text(settings: Settings) -> str:
    bank, increment = settings.clock
    return f"{bank:g} s + {increment:g} s a choice"


def play_to_compare(bot: AnyBot, settings: Settings, on_progress: OnProgress) -> list[list[int]]:
    """The actions of some games, to be compared with those of another process."""
    out = []
    for number, seats in numbered_games(settings):
        timed, doing = TimedBot(bot), f"playing game {number + 1} of {settings.games} to compare"
        watch = progress_watch(on_progress, doing, timed)
        out.append(list(play_game(lineup(timed, seats, number), number, settings, watch).actions))
    return out
