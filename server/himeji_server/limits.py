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


@dataclass(frozen=True, kw_only=True)
class AccountLimits:
    """Limits on owners, bots and tokens, in the whole arena."""

    owners: int = 10_000
    bots_per_owner: int = 20
    """Bots that are not retired."""

    bot_names_per_owner: int = 1_000
    """All bots, retired ones included: their names stay taken."""

    versions_per_bot: int = 1_000
    tokens_per_owner: int = 50
    """Tokens that are neither revoked nor expired."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """All other limits. Each process counts for itself, except for games."""

    connections: int = 10_000
    """Per process; gRPC closes further connections."""

    connections_per_address: int = 1_000
    """Connections on which no valid token was shown; the oldest ones above it are closed."""

    connections_per_owner: int = 1_000
    """Connections on which a token of the owner was shown; the oldest ones above it are closed."""

    handshake_seconds: float = 10.0
    """How long a new connection has to speak HTTP/2."""

    idle_seconds: float = 30.0
    """How long a connection may be without a call, and a reflection stream without a request."""

    calls_per_connection: int = 512
    """Calls in flight; a client keeps further ones back by itself."""

    calls_in_flight_per_address: int = 1_000
    """Calls of strangers. Above twice as many, the connection that made the call is closed."""

    calls_in_flight_per_owner: int = 2_000
    """Unary calls; closed as above."""

    request_seconds: float = 10.0
    """How long the message of a unary call may take to arrive."""

    unread_bytes: int = 32 << 20
    """Answers that one owner or one address without a token has not read yet."""

    failures_per_second: int = 200
    failures_at_once: int = 500
    """Calls that are cancelled, or refused as too many, unknown or without a valid token, per owner
    or address. Above it, a connection that cancels is closed, and refusals are delayed."""

    failure_delay_seconds: float = 1.0
    """By how much."""

    failures_logged: int = 10
    """Log lines about such calls per address and ten seconds; the rest is one line in all."""

    guesses_per_second: int = 10
    guesses_at_once: int = 10
    """Calls with a token that was not valid within the last hour, per address; others wait."""

    guess_wait_seconds: float = 2.0
    """How long such a call waits for its turn at most before it is refused instead."""

    health_checks_per_second: int = 1_000
    """Per address, and twice as many at once."""

    streams: int = 5_000
    """Play streams per process."""

    streams_per_owner: int = 256
    watchers_per_owner: int = 64
    """Streams of WatchGame, WatchResults and RecomputeStandings together."""

    watchers_per_address: int = 1_000
    """All streams but Play: those above, health watches and reflection."""

    games_per_owner: int = 1_000
    """Unfinished games in which bots of the owner have a seat; in the whole arena."""

    waiting_games_per_owner: int = 200
    """Games that the owner created and that have not started; in the whole arena."""

    waiting_seconds: float = 86_400.0
    """How long a game may wait for its seats to be taken."""

    requests_at_work: int = 64
    """Requests of one stream that are handled at the same time; further ones wait."""

    messages_waiting: int = 512
    """Messages queued for a client that does not read."""

    slow_seconds: float = 10.0
    """How long such a client has to read on before its stream is aborted, and how long any client
    has to take an answer before its connection is closed."""

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
