"""The findings of an examination: one per check, in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from himeji_sdk._bot_fault import CRASHED, HUNG, ILLEGAL

OK: Final = "ok"
FAULT: Final = "fault"
SKIPPED: Final = "skipped"


class ReportKind(StrEnum):
    """What a line of a worker process is about."""

    DOING = "doing"
    FINDING = "finding"
    ACTIONS = "actions"
    DONE = "done"


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    check: str
    """Which one, a key of CHECKS."""

    verdict: str
    """One of "ok", "fault" and "skipped", for what another fault made impossible to examine."""

    sentence: str
    advice: str = ""
    """What to do about a fault."""

    report: str = ""
    """A fault in full: the bot's code, the position, the legal actions and the rule."""


CHECKS: Final[dict[str, str]] = {
    "loading": "A bot is a class that derives from himeji_sdk.Bot, or a function "
    "choose(game, legal); its file must be importable by itself: python FILE.py shows the error.",
    "legality": "Answer with one of the numbers in `legal`, as it was given to this very call; "
    "what each means, `himeji actions RULESET` lists. Never answer from an earlier list.",
    "crashes": "Mend what the trace below shows: it ends with the line of your code, and the "
    "position follows. Online, a crash stops the bot while its clock runs on.",
    "hangs": "Give every loop an end: count its rounds, or look at time.monotonic() in it. "
    "Online, the game would be lost on time.",
    "time": "Spend less on each choice: divide self.time_left by the choices still to come "
    "(a seat makes about 50 in a game), and answer at once when little is left.",
    "memory": "Empty what grows in on_start or on_end, or give caches a bound "
    "(functools.lru_cache(maxsize=...)). A ladder plays for days.",
    "resuming": "Read the position from `game`, not from what you remember: a bot that is started "
    "again is first asked in the middle of a game, and a game may end without ranks.",
    "determinism": "Seed your own random.Random, do not iterate over sets of strings or objects, "
    "and count rounds instead of seconds where the same game shall come out again.",
}
"""All checks in their order, each with what to do about a fault."""

CHECK_OF: Final = {ILLEGAL: "legality", CRASHED: "crashes", HUNG: "hangs"}
"""The check that a kind of BotFault belongs to."""


def ok(check: str, sentence: str) -> Finding:
    return Finding(check, OK, sentence)


def fault(check: str, sentence: str, report: str = "", advice: str = "") -> Finding:
    """A fault, with the advice of its check unless another is given."""
    return Finding(check, FAULT, sentence, advice or CHECKS[check], report)


def skipped(check: str) -> Finding:
    return Finding(check, SKIPPED, "not examined: another fault comes first")
