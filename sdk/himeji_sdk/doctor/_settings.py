"""The settings of an examination."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Final

from himeji.wire.clock import LADDER

LADDER_CLOCK: Final = (LADDER.bank_ms / 1000, LADDER.increment_ms / 1000)
"""What a seat of a ladder's game has for the game, and gets for each choice, in seconds."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a bot is examined; times are seconds."""

    bot: str
    """The bot, as `himeji play` takes it."""

    ruleset: str = "base"
    options: dict[str, str] = field(default_factory=dict)
    games: int = 6
    """So many games for each check, unless that would take too long."""

    seconds: float = 60.0
    """So long for each check; a game that has begun is played to its end."""

    limit: float = 30.0
    """A bot that takes longer for one choice hangs."""

    clock: tuple[float, float] = LADDER_CLOCK
    deterministic: bool = False
    """Whether the same seed must give the same choices."""

    def to_json(self) -> str:
        """As JSON, for the worker process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """The inverse of `to_json`."""
        facts = json.loads(text)
        bank, increment = facts.pop("clock")
        return cls(clock=(bank, increment), **facts)
