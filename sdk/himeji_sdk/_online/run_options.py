"""How a bot is run, and what it says of itself to an arena."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import himeji
from himeji import rules
from himeji.v1.game_pb2 import Want
from himeji.v1.play_service_pb2 import Hello

from himeji_sdk._online.game_session import Seat

PROTOCOL: Final = 1


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a bot is run; `himeji_sdk.run` says what each means."""

    name: str
    games: int | None
    invitations: bool
    patience: float
    limit: float | None
    resign_on_fault: bool

    def hello(self, client: str, seats: Iterable[Seat]) -> Hello:
        """What opens a stream, with the games that go on."""
        hello = Hello()
        hello.client = f"{client} himeji-sdk/{himeji.__version__}"
        hello.protocol_version = PROTOCOL
        hello.engine_version = himeji.__version__
        hello.bot = self.name
        for name in sorted(rules.RULESETS):
            hello.rulesets.add(ruleset=name, revision=rules.RULESETS[name].revision)
        hello.wants.extend([Want.WANT_NEXT_DECISION, Want.WANT_MORE_AT_ONCE])
        if self.invitations:
            hello.wants.append(Want.WANT_INVITATIONS)
        hello.resume.extend(seat.resume() for seat in seats)
        return hello
