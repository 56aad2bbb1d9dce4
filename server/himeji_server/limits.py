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

    streams: int = 5_000
    """Play streams per process."""

    streams_per_owner: int = 256
    watchers_per_owner: int = 64
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

    page_connections: int = 1_000
    """HTTP connections of the page per process; a new one closes the one that is idle longest."""

    page_connections_per_address: int = 128
    """Of these, per address; a new one closes the address's own that is idle longest."""

    page_header_seconds: float = 10.0
    """How long a client may take for the header of a request, the first one from the connect on."""

    page_idle_seconds: int = 15
    """How long a connection of the page may be idle between two requests."""

    page_body_seconds: float = 10.0
    """How long the body of a request may take."""

    page_write_seconds: float = 30.0
    """How long a client may take to read what was sent; then its connection is closed."""

    page_header_bytes: int = 16_384
    """Request line and headers of a request."""

    page_body_bytes: int = 16_384
    """The body of a request: the page's forms are a fraction of this."""

    page_discarded_bytes: int = 262_144
    """Body bytes that are read and thrown away, so that the client reads why it was refused."""

    event_streams: int = 256
    """Server-sent event streams of the page per process."""

    event_streams_per_address: int = 8
    """Of these, per address; a browser opens one for all its tabs."""

    games_per_event_stream: int = 16
    page_requests_per_second: int = 500
    page_requests_at_once: int = 3_000
    """Requests of the page per address; a page that costs more counts as several requests."""

    page_refusal_seconds: float = 0.5
    """How long a request beyond the rate waits for its refusal, so that it cannot be asked again
    at once: a refusal costs nearly as much as a small page."""
