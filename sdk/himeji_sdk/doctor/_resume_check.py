"""The check of what a lost connection or a restart means for a bot.

The runner reconnects by itself. What is left for the bot: it is asked in the middle of a game that
it did not see begin, several games go on side by side, and a game may end without ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from himeji_sdk._bot import AnyBot, BotFactory, End, Player, Question, bot_factory
from himeji_sdk._bot_fault import BotFault
from himeji_sdk._time_limit import time_limit
from himeji_sdk.doctor._finding import Finding, fault, ok
from himeji_sdk.doctor._game_checks import OnProgress
from himeji_sdk.doctor._questions import questions, start_player
from himeji_sdk.doctor._settings import Settings

RESUMED_GAMES: Final = 4
Ask = Callable[[Player, Question], None]


def check_resuming(bot: AnyBot, settings: Settings, on_progress: OnProgress) -> Finding:
    """Whether the bot can be asked at any point of any game."""
    with time_limit(settings.limit) as limit:
        for what, scenario in _SCENARIOS.items():

            def ask(player: Player, question: Question, doing: str = f"trying it {what}") -> None:
                on_progress(doing)
                limit.ask(player, question)

            try:
                scenario(bot_factory(bot), settings, ask)
            except BotFault as error:
                return fault("resuming", f"{what}: {error.sentence}", str(error))
    return ok(
        "resuming",
        "it answers in games that it did not see begin, several side by side, "
        "and hears of ends without ranks",
    )


def _in_the_middle(bot: BotFactory, settings: Settings, ask: Ask) -> None:
    for number in range(RESUMED_GAMES):
        player = start_player(bot, settings, number)
        for question in questions(settings, number, first=6 * (number + 1)):
            ask(player, question)


def _side_by_side(bot: BotFactory, settings: Settings, ask: Ask) -> None:
    players = [start_player(bot, settings, number) for number in (0, 1)]
    both = [list(questions(settings, number)) for number in (0, 1)]
    for pair in zip(*both, strict=False):
        for player, question in zip(players, pair, strict=True):
            ask(player, question)


def _no_contest(bot: BotFactory, settings: Settings, ask: Ask) -> None:
    player = start_player(bot, settings, 0)
    for question in questions(settings, 0):
        ask(player, question)
    player.end(End(0, "no_contest", (), (), "doctor-0"))


_SCENARIOS: Final[dict[str, Callable[[BotFactory, Settings, Ask], None]]] = {
    "after a new start, in the middle of a game": _in_the_middle,
    "in two games at once": _side_by_side,
    "when a game ends without ranks": _no_contest,
}
"""Each scenario under its description, which becomes part of the finding."""
