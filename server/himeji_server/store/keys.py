"""The names of all keys and channels of Redis.

The part in braces decides the slot of a Cluster: keys that one script touches share it. Games are
spread over a fixed number of buckets, each with a slot of its own.
"""

import zlib
from functools import lru_cache
from typing import Final, NamedTuple

BUCKETS: Final = 64
WRITE_PROBE: Final = "himeji:write-probe"
"""Written to see whether Redis takes writes."""


def lease(name: str) -> str:
    """The process that does a job alone. It saves work; no game relies on it."""
    return f"himeji:lease:{name}"


def bucket_of(game_id: str) -> int:
    """The bucket of a game."""
    return zlib.crc32(game_id.encode()) % BUCKETS


def _bucket_tag(bucket: int) -> str:
    return f"{{b{bucket:03}}}"


def game(game_id: str) -> str:
    """Everything about a game but its log."""
    return f"{_bucket_tag(bucket_of(game_id))}:game:{game_id}"


def log(game_id: str) -> str:
    """The log of a game; the id of an entry is its version."""
    return f"{_bucket_tag(bucket_of(game_id))}:log:{game_id}"


class GameKeys(NamedTuple):
    """The keys that a commit touches."""

    game: str
    log: str
    timers: str
    outbox: str
    game_index: str


@lru_cache(maxsize=1 << 14)
def of_game(game_id: str) -> GameKeys:
    """The keys that a commit of a game touches; cached, for every commit needs them."""
    bucket = bucket_of(game_id)
    return GameKeys(game(game_id), log(game_id), timers(bucket), outbox(bucket), game_index(bucket))


@lru_cache(maxsize=1 << 14)
def game_channel_prefix(game_id: str) -> str:
    """The channel of a game's bucket without a process; cached, for every commit needs it."""
    return game_channel(bucket_of(game_id), "")


def timers(bucket: int) -> str:
    """The games of a bucket by the time at which their timers are due."""
    return f"{_bucket_tag(bucket)}:timers"


def outbox(bucket: int) -> str:
    """The results of a bucket that are not settled yet."""
    return f"{_bucket_tag(bucket)}:outbox"


def game_channel(bucket: int, process: str) -> str:
    """The channel on which a process is notified of games of a bucket.

    It is in the slot of the bucket (sharded pub/sub), so that a Cluster does not pass messages on
    to all its nodes.
    """
    return f"{_bucket_tag(bucket)}:channel:{process}"


def game_index(bucket: int) -> str:
    """The index of the games of a bucket; game_index.py describes its entries."""
    return f"{_bucket_tag(bucket)}:terms"


def games_to_index(bucket: int) -> str:
    """Games that a version before 0.3.0 created and that are not in the index yet."""
    return f"{_bucket_tag(bucket)}:index"


# Accounts. Everything of one owner shares a slot; the list of all owners has one of its own.

OWNERS: Final = "{owners}:names"
"""The names of all owners. A name may be here without an owner, never the other way round."""

OWNERS_BY_BOT: Final = "{owners}:by-bot"
"""The same with a slash behind each, so that they sort as the names of their bots do."""

OWNER_SKELETONS: Final = "{owners}:skeletons"
"""The names of all owners by what they look like (names.skeleton)."""

GUESTS: Final = "{guests}:tokens"
"""The ids of the tokens that have the names of guests."""

TOKEN_CHANNEL: Final = "himeji:tokens"  # noqa: S105 - a channel
"""The channel on which the ids of changed tokens are published."""


def _owner_tag(name: str) -> str:
    return f"{{o:{name}}}"


def owner(name: str) -> str:
    return f"{_owner_tag(name)}:owner"


def bots(owner_name: str) -> str:
    """The names of an owner's bots, retired ones too."""
    return f"{_owner_tag(owner_name)}:bots"


def active_bots(owner_name: str) -> str:
    """The names of an owner's bots that are not retired."""
    return f"{_owner_tag(owner_name)}:active"


def bot(owner_name: str, short_name: str) -> str:
    return f"{_owner_tag(owner_name)}:bot:{short_name}"


def bot_versions(owner_name: str, short_name: str) -> str:
    """The versions of a bot; the first one is number 1."""
    return f"{_owner_tag(owner_name)}:versions:{short_name}"


def version_count(owner_name: str) -> str:
    """How many versions an owner added to bots, beyond the first one of each."""
    return f"{_owner_tag(owner_name)}:version-count"


def tokens(owner_name: str) -> str:
    """The ids of an owner's tokens by the time of their creation."""
    return f"{_owner_tag(owner_name)}:tokens"


def live_tokens(owner_name: str) -> str:
    """The ids of the tokens that are not revoked, by the time at which they expire."""
    return f"{_owner_tag(owner_name)}:live"


def token(owner_name: str, token_id: str) -> str:
    """A token, without its secret."""
    return f"{_owner_tag(owner_name)}:token:{token_id}"


def request_plans(owner_name: str) -> str:
    """The contents of an owner's last requests, and what each was going to create."""
    return f"{_owner_tag(owner_name)}:request-plans"


def request_times(owner_name: str) -> str:
    """The last requests of an owner, by when they came."""
    return f"{_owner_tag(owner_name)}:request-times"


def created_version(owner_name: str, mark: str) -> str:
    """The version of a bot that a request created; the bot itself does not tell."""
    return f"{_owner_tag(owner_name)}:created-version:{mark}"


def waiting_games(owner_name: str) -> str:
    """The games that an owner created and that may still wait, by when they were added."""
    return f"{_owner_tag(owner_name)}:waiting-games"


def created_games(owner_name: str) -> str:
    """How many games an owner created within a day; it expires at the end of that day."""
    return f"{_owner_tag(owner_name)}:created-games"


def seated_games(owner_name: str) -> str:
    """The games in which bots of an owner may have a seat, by when they were added."""
    return f"{_owner_tag(owner_name)}:seated-games"


def inviting_games(creator: str, invited: str) -> str:
    """The games that an owner created for bots of another one, by when they were added."""
    return f"{_owner_tag(creator)}:inviting-games:{invited}"


def rate_window(what: str, limit: str, address: str) -> str:
    """How often something was done within a window of time, from an address or ("") in all."""
    return f"{{rate:{what}}}:{limit}:{address}"


BOT_CHANNEL: Final = "himeji:bots"
"""The channel on which processes are notified of bots."""


def presence(bot: str) -> str:
    """The stream that a bot has; it expires unless it is renewed."""
    return f"himeji:presence:{bot}"


def games_of(bot: str) -> str:
    """The games in which a bot has a seat."""
    return f"himeji:games:{bot}"


def invitations(bot: str) -> str:
    """The games that wait for a bot because their creator named it, by when they were added."""
    return f"himeji:invitations:{bot}"


# Ladders. Everything of one ladder shares a slot; what also changes a game can be repeated.

AUDIT: Final = "{audit}:log"
"""The audit log; the id of an entry is its sequence."""

AUDIT_HEAD: Final = "{audit}:head"
"""The sequence and the link of the last entry of the audit log."""

AUDIT_MARKS: Final = "{audit}:marks"
"""The marks of what has its entry in the audit log already."""

FLAGS: Final = "{flags}:all"
"""What fair-play detection noticed, by id."""

FLAGS_BY_TIME: Final = "{flags}:time"
"""The ids of the flags by the time at which they were raised."""


TOURNAMENTS_TO_INDEX: Final = "{tournaments}:names"
"""Tournaments that a version before 0.3.0 created, and that are not in the index yet."""


def tournaments_in(state: str) -> str:
    """The tournaments in a state, in the order of their creation; one that ends is in two."""
    return f"{{tournaments}}:{state}"


def tournament(name: str) -> str:
    """A tournament: its record, its progress, its version, and the plan of each round."""
    return f"{{t:{name}}}:tournament"


def tournament_games(name: str) -> str:
    """The games of a tournament by round and table."""
    return f"{{t:{name}}}:games"


def tournament_counters(name: str) -> str:
    """The sums of a tournament's results, for its standings."""
    return f"{{t:{name}}}:counters"


def quick_resignations(ladder: str, bot: str, day: str) -> str:
    """The games of a day that a bot resigned after very few decisions."""
    return f"{{flags}}:quick:{ladder}:{day}:{bot}"


def _ladder_tag(name: str) -> str:
    return f"{{l:{name}}}"


def tickets(ladder: str) -> str:
    """The queue of a ladder: a ticket for each bot."""
    return f"{_ladder_tag(ladder)}:tickets"


def removal(ladder: str, bot: str) -> str:
    """The entry id of the ticket that a call removed; until the bot enters again, or for a day."""
    return f"{_ladder_tag(ladder)}:removed:{bot}"


def load(ladder: str) -> str:
    """How many games of a ladder each bot is seated in."""
    return f"{_ladder_tag(ladder)}:load"


def seated(ladder: str) -> str:
    """Who is seated in the games of a ladder that are not settled."""
    return f"{_ladder_tag(ladder)}:seated"


def seating_deadlines(ladder: str) -> str:
    """The games of a ladder that have not begun, by when their bots must have answered."""
    return f"{_ladder_tag(ladder)}:deadlines"


def pair_counts(ladder: str, day: str) -> str:
    """How often two bots were seated together on a day."""
    return f"{_ladder_tag(ladder)}:pairs:{day}"


def deals(ladder: str) -> str:
    """The deals of a trusted ladder that are not played in every order of seats yet."""
    return f"{_ladder_tag(ladder)}:deals"


def house_pause(ladder: str) -> str:
    """Exists while bots of the house do not play each other on a ladder."""
    return f"{_ladder_tag(ladder)}:house-pause"


def standings_head(ladder: str) -> str:
    """The sequence of the last rated game of a ladder, its season and generation."""
    return f"{_ladder_tag(ladder)}:head"


def standings_log(ladder: str) -> str:
    """The rated games of a ladder; the id of an entry is its sequence."""
    return f"{_ladder_tag(ladder)}:log"


def standings_rated(ladder: str) -> str:
    """The sequence of each game that has been rated."""
    return f"{_ladder_tag(ladder)}:rated"


def standings_voided(ladder: str) -> str:
    """The rated games that are void."""
    return f"{_ladder_tag(ladder)}:voided"


def pending_voids(ladder: str) -> str:
    """The void games that the standings still count, with who voided them and why."""
    return f"{_ladder_tag(ladder)}:pending-voids"


def standings_repair(ladder: str, mark: str) -> str:
    """What a repair of the standings changed, by the request that asked for it."""
    return f"{_ladder_tag(ladder)}:repair:{mark}"


def standings_rows(ladder: str, season: int) -> str:
    """The standings of a season: a row for each version of a bot."""
    return f"{_ladder_tag(ladder)}:rows:{season}"


def standings_snapshots(ladder: str, season: int) -> str:
    """The sequences after which the standings of a season were copied."""
    return f"{_ladder_tag(ladder)}:snapshots:{season}"


def standings_snapshot(ladder: str, season: int, sequence: int) -> str:
    """The standings of a season as they were after a rated game."""
    return f"{_ladder_tag(ladder)}:snapshot:{season}:{sequence}"


def prepared_standings(ladder: str, mark: str, part: str) -> str:
    """Recomputed standings that are not in force yet; they expire if their process dies."""
    return f"{_ladder_tag(ladder)}:prepared:{mark}:{part}"


def starting_means(ladder: str, season: int) -> str:
    """The mean ratings with which versions of bots began a season."""
    return f"{_ladder_tag(ladder)}:start:{season}"


def standings_seasons(ladder: str) -> str:
    """The seasons of a ladder by their number."""
    return f"{_ladder_tag(ladder)}:seasons"


def standings_history(ladder: str, bot: str) -> str:
    """The sequences of the rated games of a bot, the oldest first."""
    return f"{_ladder_tag(ladder)}:history:{bot}"
