"""The index of games: which games a state, bot, owner, ladder, tournament or ruleset has.

Each bucket has one sorted set for all of it, because the scripts that change a game have to change
its entries too: the index is exact whatever is killed. The members are entries,

    term (6 bytes)  time of creation (6 bytes, milliseconds)  game id

where a term is a digest of what is searched for, such as "bot ada/first". All scores are 0, so
Redis sorts entries as bytes: those of a term are neighbours, in the order of creation. A term is
short, because a finished game keeps about seven entries (100 bytes each). Two names might share
one, so whoever reads the index compares the games that it finds with what was searched for.

A game is in one state at a time, so there is no term for all games: that list is merged from those
of the states.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from himeji.v1.game_pb2 import Game, SeatPlan, SeatPolicy

from himeji_server.store import keys
from himeji_server.store.client import Store
from himeji_server.store.game_records import OVER, PLAYING, WAITING, StoredState

TERM_BYTES: Final = 6
TIME_BYTES: Final = 6
_SPARE: Final = 6
"""Entries that are read of a bucket beyond its share of a page: games are not spread evenly."""

_SAMPLED_BUCKETS: Final = 4
_AFTER_ALL: Final = b"\xff"  # no time begins with it

Terms = Sequence[bytes]
"""The terms of a list: it has the games of any of them."""


# --- terms --------------------------------------------------------------------------------------

FIELDS: Final = ("state", "ruleset", "ladder", "tournament", "bot", "owner")
"""What games can be searched for by; a bot or an owner is one that has a seat."""


def term(field: str, value: str) -> bytes:
    """The term of the games that have a value of one of the FIELDS."""
    return hashlib.blake2b(f"{field} {value}".encode(), digest_size=TERM_BYTES).digest()


ALL_GAMES: Final[Terms] = tuple(term("state", state) for state in (WAITING, PLAYING, OVER))
"""In the order in which a game passes through them, see GameIndex.newest."""

_SEAT_FOR_ANYONE: Final = term("seat", "for anyone")


def _seat_for(owner: str) -> bytes:
    """The term of the waiting games with a seat for a bot of an owner, or for any of them."""
    return term("seat for", owner)


def joinable_terms(owner: str) -> Terms:
    """The terms of the waiting games that have a seat for anyone, or for a bot of an owner."""
    return [_SEAT_FOR_ANYONE, _seat_for(owner)]


def _seat_term(plan: SeatPlan) -> bytes | None:
    """The term of a game with such a seat, while it waits; None for a policy that is not known."""
    if plan.policy == SeatPolicy.SEAT_POLICY_ANYONE:
        return _SEAT_FOR_ANYONE
    if plan.policy in (SeatPolicy.SEAT_POLICY_OWNER, SeatPolicy.SEAT_POLICY_BOT):
        return _seat_for(plan.name.partition("/")[0])
    return None


# --- changes of the index -----------------------------------------------------------------------


def _changes(*, removed: Iterable[bytes] = (), added: Iterable[bytes] = ()) -> bytes:
    """Changes of a game's entries, as index.lua reads them."""
    return b"".join([*(b"-" + each for each in removed), *(b"+" + each for each in added)])


def changes_of_creation(header: Game) -> bytes:
    """The entries of a new game."""
    return _changes(added=[*_lasting_terms(header), *_terms_in_state(header, WAITING)])


def changes_of_seat(bot: str) -> bytes:
    """The entries of a game in which a bot takes a seat."""
    return _changes(added=_seated_terms([bot]))


def changes_of_leaving(bot: str) -> tuple[bytes, bytes]:
    """What changes when a bot has no seat in a game any more, and when its owner has none."""
    bot_entry, owner_entry = _seated_terms([bot])
    return _changes(removed=[bot_entry]), _changes(removed=[owner_entry])


def changes_of_state(header: Game, before: StoredState, after: StoredState) -> bytes:
    """What changes when a game begins or ends."""
    return _changes(removed=_terms_in_state(header, before), added=_terms_in_state(header, after))


def changes_of_end(header: Game) -> bytes:
    """What changes when a game ends, whether it had begun or not."""
    before = _terms_in_state(header, WAITING) | _terms_in_state(header, PLAYING)
    return _changes(removed=before, added=_terms_in_state(header, OVER))


def all_entries(header: Game, state: StoredState, bots: Iterable[str]) -> bytes:
    """Every entry of a game."""
    terms = _lasting_terms(header) | _terms_in_state(header, state) | _seated_terms(bots)
    return _changes(added=terms)


def _lasting_terms(header: Game) -> dict[bytes, None]:
    values = {
        "ruleset": header.ruleset,
        "ladder": header.ladder,
        "tournament": header.tournament,
    }
    return dict.fromkeys(term(field, value) for field, value in values.items() if value)


def _terms_in_state(header: Game, state: StoredState) -> dict[bytes, None]:
    terms = [term("state", state)]
    if state == WAITING:
        seats = (_seat_term(seat.plan) for seat in header.seats)
        terms += [each for each in seats if each is not None]
    return dict.fromkeys(terms)


def _seated_terms(bots: Iterable[str]) -> dict[bytes, None]:
    return dict.fromkeys(
        each for bot in bots for each in (term("bot", bot), term("owner", bot.partition("/")[0]))
    )


# --- reading ------------------------------------------------------------------------------------


def game_at(position: bytes) -> str:
    """The game at a position: an entry without its term, the same in every list of the game."""
    return position[TIME_BYTES:].decode()


class GamePositions(NamedTuple):
    """A part of a list: the positions of its games, the newest first."""

    positions: list[bytes]
    is_last: bool
    """Whether the list ends with it."""


class GameIndex:
    """The index of the games of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def newest(self, terms: Terms, before: bytes, count: int) -> GamePositions:
        """At most so many games of a list after a position; b"" is before the first game.

        A game that changes its state meanwhile is not missed if the terms are in the order in which
        it passes through them.
        """
        # Every bucket is asked for somewhat more than its share, which nearly always suffices.
        share = count // keys.BUCKETS + _SPARE
        rows: list[list[bytes]] = await asyncio.gather(
            *(
                self._store.call(
                    *("ZRANGE", keys.game_index(bucket), b"(" + each + (before or _AFTER_ALL)),
                    *(b"[" + each, "BYLEX", "REV", "LIMIT", 0, share),
                )
                for bucket in range(keys.BUCKETS)
                for each in terms
            )
        )
        # What is older than the end of a row that was cut off may be missing from that row.
        complete = max((row[-1][TERM_BYTES:] for row in rows if len(row) == share), default=b"")
        found = {entry[TERM_BYTES:] for row in rows for entry in row}
        positions = sorted((each for each in found if each >= complete), reverse=True)
        return GamePositions(positions[:count], not complete and len(positions) <= count)

    async def most_selective(self, lists: Sequence[Terms]) -> Terms:
        """The list with the fewest games, as far as a sample of the buckets tells."""
        if len(lists) == 1:
            return lists[0]
        counts = await asyncio.gather(*map(self._sampled_count, lists))
        return min(zip(counts, lists, strict=True), key=lambda each: each[0])[1]

    async def _sampled_count(self, terms: Terms) -> int:
        counts = await asyncio.gather(
            *(
                self._store.call(
                    *("ZLEXCOUNT", keys.game_index(bucket), b"[" + each, b"(" + each + _AFTER_ALL)
                )
                for bucket in range(_SAMPLED_BUCKETS)
                for each in terms
            )
        )
        return sum(map(int, counts))
