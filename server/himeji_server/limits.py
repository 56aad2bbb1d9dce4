"""Every limit of an arena; docs/limits.md has a row for each, and a test compares the two."""

from dataclasses import dataclass
from typing import Final

MOST_MESSAGE_BYTES: Final = 1 << 20
"""A larger message is refused with a typed error."""

MOST_BYTES_READ: Final = 4 << 20
"""A message larger than this is not read at all; gRPC refuses it without a typed error."""

MOST_ACTIONS: Final = 1_000
"""Actions in one request: more than a whole game has."""

MOST_POSITION_BYTES: Final = 2 << 10
"""A position from a client: several times a real one, and refused in milliseconds at worst."""

MOST_METADATA_BYTES: Final = 8 << 10
"""More metadata are refused with a typed error; each entry counts 32 bytes more."""

MOST_METADATA_READ: Final = 32 << 10
"""More metadata than this are not read at all; gRPC refuses them without a typed error."""

NO_LIMIT: Final = 1 << 31
"""In place of a quota, for administrators and for the arena itself."""


@dataclass(frozen=True, kw_only=True)
class AccountLimits:
    """Limits on owners, bots and tokens, in the whole arena; not for administrators."""

    owners: int = 10_000
    registrations_per_minute: int = 5
    """Owners that callers without SCOPE_ADMIN try to create from one address."""

    registrations_per_day: int = 20
    """The same in a day."""

    registrations_in_all_per_day: int = 1_000
    """The same in a day, from all addresses together."""

    bots_per_owner: int = 20
    """Bots that are not retired."""

    bot_names_per_owner: int = 1_000
    """All bots, retired ones included: their names stay taken."""

    guests: int = 24
    """Names for guests of the page; who has been away longest gives way to the next one."""

    guests_per_minute: int = 60
    """New guests from one address."""

    guests_in_all_per_minute: int = 120
    """The same, from all addresses together."""

    versions_per_bot: int = 1_000
    tokens_per_owner: int = 50
    """Tokens that are neither revoked nor expired."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """All other limits. Each process counts for itself, except for games.

    Rates, and what is limited per owner, are not limited for administrators.
    """

    connections: int = 10_000
    """Per process; gRPC closes further connections."""

    streams: int = 5_000
    """Play streams per process."""

    streams_per_owner: int = 256
    watchers_per_owner: int = 64
    games_per_owner: int = 1_000
    """Unfinished games in which bots of the owner have a seat; in the whole arena."""

    waiting_games_per_owner: int = 200
    """Games that the owner created and that have not started; in the whole arena."""

    games_per_guest: int = 8
    """Unfinished games in which a guest of the page has a seat; all guests share one owner."""

    waiting_seconds: float = 86_400.0
    """How long a game may wait for its seats to be taken."""

    requests_at_work: int = 64
    """Requests of one stream that are handled at the same time; further ones wait."""

    messages_waiting: int = 512
    """Messages queued for a client that does not read."""

    slow_seconds: float = 10.0
    """How long such a client has to read on before its stream is aborted."""

    calls_per_second: int = 1_000
    calls_at_once: int = 2_000
    """Unary calls, and streams opened, per owner; calls without a token, per address."""

    requests_per_second: int = 1_000
    requests_at_once: int = 2_000
    """Requests per stream."""

    wait_seconds: float = 30.0
    """How long GetDecision waits at most, even if the request says longer."""

    seconds_between_pings: float = 5.0
    """Keepalive pings that come faster get the connection closed."""
