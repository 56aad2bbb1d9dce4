"""Every limit of an arena; docs/limits.md has a row for each, and a test compares the two."""

from dataclasses import dataclass
from typing import Final

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
    versions_per_owner: int = 10_000
    """Versions that were added to bots, retired ones included, beyond the first of each."""

    tokens_per_owner: int = 50
    """Tokens that are neither revoked nor expired."""

    request_ids_per_owner: int = 10_000
    """Requests that are remembered, for a day, so that a retry has no second effect."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """All other limits. Each process counts for itself, except for games.

    Rates, and what is limited per owner, are not limited for administrators.
    """

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

    unread_bytes_per_address: int = 8 << 20
    """Answers that strangers have not read yet: a hundred of the largest ones."""

    unread_bytes_per_owner: int = 32 << 20
    unread_bytes: int = 256 << 20
    """The same of all administrators together, and of all house bots, in one process."""

    failures_per_second: int = 100
    failures_at_once: int = 200
    """Calls that are refused as too many, unknown or without a valid token, per owner or address;
    who has too much in flight pays for four. Above it, refusals are delayed."""

    cancellations_per_second: int = 50
    cancellations_at_once: int = 50
    """Calls that are cancelled within a second, per owner or address. Above it, the connection is
    closed: a rapid reset has to end before thousands of its calls wait in front of others."""

    failure_delay_seconds: float = 1.0
    """By how much."""

    block_seconds: float = 10.0
    """How long the address of a client is blocked that makes even more such calls."""

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

    games_created_per_day: int = 50_000
    """Games that an owner creates; in the whole arena."""

    inviting_games_per_pair: int = 20
    """Unfinished games that one owner created for bots of another one; in the whole arena."""

    invitations_per_bot: int = 1_000
    """Invitations that are kept for a bot until it connects; further ones only reach it at once."""

    invitations_from: int = 100
    """Owners from whom a bot says that it accepts invitations."""

    games_per_guest: int = 8
    """Unfinished games in which a guest of the page has a seat; all guests share one owner."""

    waiting_seconds: float = 86_400.0
    """How long a game may wait for its seats to be taken."""

    hello_seconds: float = 10.0
    """How long a Play stream may be open before its Hello comes."""

    requests_at_work: int = 64
    """Requests of one stream that are handled at the same time; further ones wait."""

    requests_at_work_per_owner: int = 256
    """The same of all streams of an owner together."""

    rejections_per_second: int = 100
    rejections_at_once: int = 200
    """Requests that are rejected, repeated or no Act, per owner; beyond it, they are read later."""

    messages_waiting: int = 512
    """Messages queued for a client that does not read."""

    slow_seconds: float = 10.0
    """How long a client has to take a message of a stream before the stream is aborted, and any
    other answer or the status of a call before its connection is closed."""

    calls_per_second: int = 1_000
    calls_at_once: int = 2_000
    """Unary calls, and streams opened, per owner; calls without a token, per address."""

    processor_ms_per_second: int = 250
    processor_ms_at_once: int = 25
    """Processor time of unary calls on the event loop, per owner; of calls without a token, per
    address. Calls beyond it wait for their turn."""

    processor_wait_seconds: float = 4.0
    """How long such a call waits at most before it is refused instead."""

    requests_per_second: int = 1_000
    requests_at_once: int = 2_000
    """Requests per stream."""

    games_read_per_page: int = 100
    """Games that a page of a list is made from, whether they fit its filter or not."""

    games_compared: int = 2_000
    """Games that a head-to-head record is made from, all ladders together."""

    wait_seconds: float = 30.0
    """How long GetDecision waits at most, even if the request says longer."""

    results_between_snapshots: int = 1_000
    """Rated games between two snapshots of a table, from which a void recomputes it."""

    recomputations: int = 2
    """RecomputeStandings calls at the same time per process; each has a worker process."""

    seconds_between_pings: float = 5.0
    """Keepalive pings that come faster get the connection closed."""

    message_bytes: int = 1 << 16
    """A request. Its fields have limits of their own: the table in request_limits.py."""

    play_message_bytes: int = 1 << 18
    """A message of a Play stream; a Hello needs 32 bytes for each game that it resumes."""

    position_bytes: int = 2 << 10
    """A position from a client: several times a real one, and refused in milliseconds at worst."""

    name_length: int = 200
    """Characters of a name, an id or a request id; bytes of entropy."""

    text_length: int = 1_000
    """Characters of a free text or a page token."""

    list_entries: int = 100
    """Seats, options, wants and whatever else a request lists, unless it has a limit below."""

    actions: int = 1_000
    """Actions in one request: more than a whole game has."""

    actions_per_call: int = 100
    """Actions of an ApplyActions that count as one call: a longer one costs several."""

    inline_actions: int = 100
    """Actions of an ApplyActions that the event loop runs itself, in 3 ms at most."""

    rules_workers: int = 1
    """Processes for longer ones, per server process."""

    rules_calls: int = 64
    rules_calls_per_owner: int = 8
    """Calls that these processes run or that wait for them."""

    rules_seconds: float = 10.0
    """How long such a call may run."""

    batch_messages: int = 1_000
    """Messages in one PlayRequest."""

    resumed_games: int = 1_000
    """Games that one Hello resumes; house bots, whose games have no limit, have none here."""

    page_connections: int = 1_000
    """HTTP connections of the page per process; a new one closes the one that is idle longest."""

    page_connections_per_address: int = 128
    """Of these, per address; a new one closes the address's own that is idle longest."""

    page_excess_per_second: int = 20
    page_excess_at_once: int = 256
    """Connections that an address opens beyond that; if it goes on, it is blocked for a while."""

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
    page_requests_per_second: int = 250
    page_requests_at_once: int = 150
    """Requests of the page per address; a page that costs more counts as several requests."""

    page_wait_seconds: float = 10.0
    """How long a request beyond the rate waits for its turn at most before it is refused."""

    page_refusal_seconds: float = 0.5
    """How long a request that is refused so waits for its refusal, so that it cannot be asked again
    at once: a refusal costs nearly as much as a small page."""

    @property
    def bytes_read(self) -> int:
        """What gRPC reads of a message: enough to refuse a slightly larger one with a reason."""
        return 2 * max(self.message_bytes, self.play_message_bytes)
