"""What a lost connection or a new start means for a bot: games it did not see begin, or never end.

The runner takes care of the line itself. What is left for the bot: it is asked in the middle of a
game, several games go on side by side, and a game may end without ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from himeji_sdk._bot import AnyBot, End, Maker, Player, Question, maker
from himeji_sdk._bot_fault import BotFault
from himeji_sdk._time_limit import patience
from himeji_sdk.doctor._finding import Finding, fault, ok
from himeji_sdk.doctor._game_checks import Say
from himeji_sdk.doctor._questions import questions, seated
from himeji_sdk.doctor._settings import Wishes

GAMES: Final = 4
Ask = Callable[[Player, Question], None]


def resuming(bot: AnyBot, wishes: Wishes, say: Say) -> Finding:
    """Whether the bot goes on wherever it is put."""
    with patience(wishes.limit) as waiting:
        for what, scene in _SCENES.items():

            def ask(player: Player, question: Question, doing: str = f"trying it {what}") -> None:
                say(doing)
                waiting.answer(player, question)

            try:
                scene(maker(bot), wishes, ask)
            except BotFault as error:
                return fault("resuming", f"{what}: {error.sentence}", str(error))
    return ok(
        "resuming",
        "it answers in games that it did not see begin, several side by side, "
        "and hears of ends without ranks",
    )


def _in_the_middle(bot: Maker, wishes: Wishes, ask: Ask) -> None:
    for number in range(GAMES):
        player = seated(bot, wishes, number)
        for question in questions(wishes, number, first=6 * (number + 1)):
            ask(player, question)


def _side_by_side(bot: Maker, wishes: Wishes, ask: Ask) -> None:
    players = [seated(bot, wishes, number) for number in (0, 1)]
    both = [list(questions(wishes, number)) for number in (0, 1)]
    for pair in zip(*both, strict=False):
        for player, question in zip(players, pair, strict=True):
            ask(player, question)


def _no_contest(bot: Maker, wishes: Wishes, ask: Ask) -> None:
    player = seated(bot, wishes, 0)
    for question in questions(wishes, 0):
        ask(player, question)
    player.end(End(0, "no_contest", (), (), "doctor-0"))


_SCENES: Final[dict[str, Callable[[Maker, Wishes, Ask], None]]] = {
    "after a new start, in the middle of a game": _in_the_middle,
    "in two games at once": _side_by_side,
    "when a game ends without ranks": _no_contest,
}
"""What a bot is put into, each by what happens in it."""
