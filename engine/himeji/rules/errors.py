"""The one tree of errors: local play, the server and the SDK raise these classes and no others.

    HimejiError
    ├── InvalidRequest            the caller sent something that can never be right
    │   ├── MalformedMessage      bytes that are not the message the method takes
    │   ├── UnknownAction         an action id or text that the ruleset's table does not have
    │   ├── ImpossiblePosition    a position that breaks the rules; carries every reason found
    │   └── BadComponents         a data file that fails its checks; names file, entry and key
    ├── NotFound                  the named thing does not exist
    │   ├── UnknownRuleset
    │   ├── UnknownGame
    │   ├── UnknownLadder
    │   ├── UnknownAccount
    │   └── UnknownMethod
    ├── Refused                   right in form, wrong in the present state
    │   ├── IllegalAction         what was tried, why not, what was legal, and the rule
    │   ├── GameNotStarted
    │   ├── GameEnded
    │   ├── NotYourDecision
    │   ├── StaleDecision
    │   ├── AlreadyDecided
    │   ├── SeatTaken
    │   ├── SeatLost              the seat was lost before; the stand-in finishes its game
    │   ├── AlreadyExists
    │   ├── RequestIdReused       a request id that came before with another content
    │   ├── TakenOver             a newer stream of the same bot has the games now
    │   ├── BotRetired            the bot was retired: it plays no more
    │   ├── ChanceExhausted       a script of chance results that does not fit the game
    │   └── VersionMismatch       protocol, ruleset revision or engine version differ
    ├── Unauthenticated
    │   ├── MissingToken
    │   └── InvalidToken
    ├── Forbidden
    ├── LimitExceeded             a stated limit; says which one
    │   ├── MessageTooLarge
    │   ├── RateLimited
    │   └── SlowReader            a stream whose client does not read
    ├── Unavailable               try again; a repeated request is never played twice
    │   ├── StoreUnavailable
    │   └── Draining
    ├── DeadlineExceeded
    ├── Unsupported               a method or option that this server does not implement
    └── InternalFault             a defect of ours, told as an incident id and nothing else

`reason` is the name of the value of `ErrorReason` in the contract; `details` are facts a program
can use, keyed as documented there. The sentence is for people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar


class HimejiError(Exception):
    """Anything Himeji refuses, with a reason a program can read and a sentence for people."""

    reason: ClassVar[str] = "UNSPECIFIED"

    def __init__(self, message: str, details: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, str] = dict(details or {})


class InvalidRequest(HimejiError):
    """The caller sent something that can never be right."""

    reason = "INVALID_REQUEST"


class MalformedMessage(InvalidRequest):
    """The bytes are not the message that the method takes."""

    reason = "MALFORMED_MESSAGE"


class UnknownAction(InvalidRequest):
    """The ruleset's action table has no such id or text."""

    reason = "UNKNOWN_ACTION"


class ImpossiblePosition(InvalidRequest):
    """A position that no play can reach; `reasons` holds everything that was found wrong."""

    reason = "IMPOSSIBLE_POSITION"

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("impossible position: " + "; ".join(reasons))
        self.reasons = tuple(reasons)


class BadComponents(InvalidRequest):
    """A data file that fails its checks; the sentence names file, entry and key."""

    reason = "BAD_COMPONENTS"


class NotFound(HimejiError):
    """The named thing does not exist."""

    reason = "NOT_FOUND"


class UnknownRuleset(NotFound):
    """No ruleset of that name is registered."""

    reason = "UNKNOWN_RULESET"


class UnknownGame(NotFound):
    """No game has that id."""

    reason = "UNKNOWN_GAME"


class UnknownLadder(NotFound):
    """No ladder has that name."""

    reason = "UNKNOWN_LADDER"


class UnknownAccount(NotFound):
    """No owner or bot has that name."""

    reason = "UNKNOWN_ACCOUNT"


class UnknownMethod(NotFound):
    """The server has no method of that name."""

    reason = "UNKNOWN_METHOD"


class Refused(HimejiError):
    """Right in form, but the present state does not allow it."""

    reason = "REFUSED"


class IllegalAction(Refused):
    """An action that the rules do not allow now: what was tried, why not, what was legal."""

    reason = "ILLEGAL_ACTION"

    def __init__(self, message: str, *, action: int, rule: str, legal: Sequence[int]) -> None:
        super().__init__(
            f"{message} ({rule})" if rule else message,
            {"action": str(action), "rule": rule, "legal": ",".join(map(str, legal))},
        )
        self.action = action
        self.rule = rule
        self.legal = tuple(legal)


class GameNotStarted(Refused):
    """Seats are still open or have not answered; nothing can be played yet."""

    reason = "GAME_NOT_STARTED"


class GameEnded(Refused):
    """The game is over; nothing more can be played in it."""

    reason = "GAME_ENDED"


class NotYourDecision(Refused):
    """The open decision belongs to another seat."""

    reason = "NOT_YOUR_DECISION"


class StaleDecision(Refused):
    """The game has moved on from the decision that was answered."""

    reason = "STALE_DECISION"


class AlreadyDecided(Refused):
    """The decision was answered before, with other actions."""

    reason = "ALREADY_DECIDED"


class SeatTaken(Refused):
    """The seat, or every seat of the game, is taken."""

    reason = "SEAT_TAKEN"


class SeatLost(Refused):
    """The seat resigned or was lost earlier; it plays no more in this game."""

    reason = "SEAT_LOST"


class AlreadyExists(Refused):
    """The name is in use."""

    reason = "ALREADY_EXISTS"


class RequestIdReused(Refused):
    """The request id came before, with another content."""

    reason = "REQUEST_ID_REUSED"


class TakenOver(Refused):
    """A newer stream of the same bot has taken its games over."""

    reason = "TAKEN_OVER"


class BotRetired(Refused):
    """The bot was retired by its owner: it plays no more."""

    reason = "BOT_RETIRED"


class ChanceExhausted(Refused):
    """A script of chance results does not fit what the game asks for."""

    reason = "CHANCE_EXHAUSTED"


class VersionMismatch(Refused):
    """Client and server speak different protocols, rulesets or engines."""

    reason = "VERSION_MISMATCH"


class Unauthenticated(HimejiError):
    """The call needs a token that the server knows."""

    reason = "UNAUTHENTICATED"


class MissingToken(Unauthenticated):
    """The call carries no token."""

    reason = "MISSING_TOKEN"


class InvalidToken(Unauthenticated):
    """The token is unknown, expired or revoked."""

    reason = "INVALID_TOKEN"


class Forbidden(HimejiError):
    """The token is good, but not for this."""

    reason = "FORBIDDEN"


class LimitExceeded(HimejiError):
    """A stated limit is reached; the sentence says which."""

    reason = "LIMIT_EXCEEDED"


class MessageTooLarge(LimitExceeded):
    """A message over the size that the server takes."""

    reason = "MESSAGE_TOO_LARGE"


class RateLimited(LimitExceeded):
    """Too many calls in too short a time."""

    reason = "RATE_LIMITED"


class SlowReader(LimitExceeded):
    """The client does not read its stream; the server holds no more messages for it."""

    reason = "SLOW_READER"


class Unavailable(HimejiError):
    """Try again: the same request is safe to repeat."""

    reason = "UNAVAILABLE"


class StoreUnavailable(Unavailable):
    """The store does not answer."""

    reason = "STORE_UNAVAILABLE"


class Draining(Unavailable):
    """This server process is stopping; another one answers."""

    reason = "DRAINING"


class DeadlineExceeded(HimejiError):
    """The time the caller allowed has passed."""

    reason = "DEADLINE_EXCEEDED"


class Unsupported(HimejiError):
    """A method or option that this server does not implement."""

    reason = "UNSUPPORTED"


class InternalFault(HimejiError):
    """A defect of ours; only the incident id leaves the server."""

    reason = "INTERNAL_FAULT"

    def __init__(self, incident: str) -> None:
        super().__init__(f"internal fault, incident {incident}", {"incident": incident})
        self.incident = incident
