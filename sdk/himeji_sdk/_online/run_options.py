"""The options of a run, and the Hello that they lead to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import himeji
from himeji import rules
from himeji.v1.play_service_pb2 import Hello

from himeji_sdk._online.game_session import GameSession

PROTOCOL_VERSION: Final = 1


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a bot is run; `himeji_sdk.run` says what each means."""

    name: str
    version: int
    games: int | None
    invitations: bool
    invitations_from: tuple[str, ...]
    patience: float
    limit: float | None
    resign_on_fault: bool

    def hello(self, client: str, sessions: Iterable[GameSession]) -> Hello:
        """What opens a stream: who we are, what we can play, which games we resume."""
        hello = Hello()
        hello.client = f"{client} himeji-sdk/{himeji.__version__}"
        hello.protocol_version = PROTOCOL_VERSION
        hello.engine_version = himeji.__version__
        hello.bot, hello.bot_version = self.name, self.version
        for name in sorted(rules.RULESETS):
            hello.rulesets.add(ruleset=name, revision=rules.RULESETS[name].revision)
        hello.next_decision_in_accepted = True
        hello.accept_invitations = self.invitations or bool(self.invitations_from)
        hello.invitations_from.extend(self.invitations_from)
        hello.resume.extend(each.resume() for each in sessions)
        return hello
