"""The names of all keys. What is committed together shares a bucket, and so a slot of a Cluster."""

import zlib
from functools import lru_cache
from typing import Final

BUCKETS: Final = 64
PULSE: Final = "himeji:pulse"
"""Written to see whether writes are taken."""


def lease(name: str) -> str:
    """Who does a thing that only one process does. It saves work, and no game relies on it."""
    return f"himeji:lease:{name}"


def bucket_of(game_id: str) -> int:
    """The bucket of a game."""
    return zlib.crc32(game_id.encode()) % BUCKETS


def _tag(bucket: int) -> str:
    return f"{{b{bucket:03}}}"


def game(game_id: str) -> str:
    """Everything about a game but its log."""
    return f"{_tag(bucket_of(game_id))}:game:{game_id}"


def log(game_id: str) -> str:
    """The log of a game; the id of an entry is its version."""
    return f"{_tag(bucket_of(game_id))}:log:{game_id}"


@lru_cache(maxsize=1 << 14)
def of_commit(game_id: str) -> tuple[str, str, str, str]:
    """What a commit of a game touches: the game, its log, and the timers and outbox beside it."""
    bucket = bucket_of(game_id)
    return game(game_id), log(game_id), timers(bucket), outbox(bucket)


@lru_cache(maxsize=1 << 14)
def bells_of(game_id: str) -> str:
    """The beginning of the channels on which processes hear of a game."""
    return bells(bucket_of(game_id))


def timers(bucket: int) -> str:
    """The games of a bucket for which something is due at a time."""
    return f"{_tag(bucket)}:timers"


def outbox(bucket: int) -> str:
    """The results of a bucket, for whoever rates them."""
    return f"{_tag(bucket)}:outbox"


def bells(bucket: int, process: str = "") -> str:
    """The channel on which a process hears of games of a bucket: id and version, never the truth.

    It is one of the bucket's slot, so that on a Cluster nobody else has to pass it on.
    """
    return f"{_tag(bucket)}:bells:{process}"


def index(bucket: int) -> str:
    """The games of a bucket by the time of their creation."""
    return f"{_tag(bucket)}:index"


def request(owner: str, request_id: str) -> str:
    """What an owner's request was answered with."""
    return f"himeji:request:{owner}:{request_id}"


# Accounts. Everything of one owner shares a slot; the list of all owners has one of its own.

OWNERS: Final = "{owners}:names"
"""The names of all owners. A name may be here without an owner, never the other way round."""

OWNERS_BY_BOT: Final = "{owners}:by-bot"
"""The same with a slash behind each: so they sort as the names of their bots do."""

TOKEN_BELL: Final = "himeji:token-bell"  # noqa: S105 - a channel
"""The channel on which a change of a token rings: its id. It is a bell, never the truth."""


def _of_owner(name: str) -> str:
    return f"{{o:{name}}}"


def owner(name: str) -> str:
    """An owner."""
    return f"{_of_owner(name)}:owner"


def bots(owner_name: str) -> str:
    """The names of an owner's bots, retired ones too."""
    return f"{_of_owner(owner_name)}:bots"


def active_bots(owner_name: str) -> str:
    """The names of an owner's bots that are not retired."""
    return f"{_of_owner(owner_name)}:active"


def bot(owner_name: str, short_name: str) -> str:
    """A bot."""
    return f"{_of_owner(owner_name)}:bot:{short_name}"


def bot_versions(owner_name: str, short_name: str) -> str:
    """The versions of a bot; the first one is number 1."""
    return f"{_of_owner(owner_name)}:versions:{short_name}"


def tokens(owner_name: str) -> str:
    """The ids of an owner's tokens by the time of their creation."""
    return f"{_of_owner(owner_name)}:tokens"


def live_tokens(owner_name: str) -> str:
    """The ids of the tokens that are not revoked, by the time at which they expire."""
    return f"{_of_owner(owner_name)}:live"


def token(owner_name: str, token_id: str) -> str:
    """A token, without its secret."""
    return f"{_of_owner(owner_name)}:token:{token_id}"


def claim(owner_name: str, request: str) -> str:
    """What a request of an owner was for, and what it was going to make."""
    return f"{_of_owner(owner_name)}:claim:{request}"


def done(owner_name: str, mark: str) -> str:
    """What a request made, where the thing itself does not tell."""
    return f"{_of_owner(owner_name)}:done:{mark}"


def waiting_of(owner_name: str) -> str:
    """The games that an owner created and that may still wait."""
    return f"{_of_owner(owner_name)}:waiting"


def seated_of(owner_name: str) -> str:
    """The games in which bots of an owner may have a seat."""
    return f"{_of_owner(owner_name)}:seated"


BOTS_BELL: Final = "himeji:bots"
"""The channel that tells of a bot: a new stream, or a seat in a game."""


def present(bot: str) -> str:
    """The stream that a bot has; it fades when nobody renews it."""
    return f"himeji:present:{bot}"


def games_of(bot: str) -> str:
    """The games in which a bot has a seat."""
    return f"himeji:games:{bot}"


# Ladders. Everything of one ladder shares a slot; what crosses to a game's slot can be done again.

AUDIT: Final = "{audit}:log"
"""The audit log; the id of an entry is its sequence."""

AUDIT_HEAD: Final = "{audit}:head"
"""The sequence and the link of the last entry of the audit log."""

AUDITED: Final = "{audit}:marks"
"""What has its entry in the audit log already."""

FLAGS: Final = "{flags}:all"
"""What fair-play detection noticed, by id."""

FLAGS_BY_TIME: Final = "{flags}:time"
"""The ids of the flags by the time at which they were raised."""


TOURNAMENTS: Final = "{tournaments}:names"
"""The names of all tournaments by the time of their creation."""


def tournament(name: str) -> str:
    """A tournament: what was asked for, how far it is, and the plan of each round."""
    return f"{{t:{name}}}:tournament"


def tournament_games(name: str) -> str:
    """The games of a tournament by round and table."""
    return f"{{t:{name}}}:games"


def quick_resignations(ladder: str, bot: str, day: str) -> str:
    """The games of a day that a bot gave up after very few decisions."""
    return f"{{flags}}:quick:{ladder}:{day}:{bot}"


def _of_ladder(name: str) -> str:
    return f"{{l:{name}}}"


def tickets(ladder: str) -> str:
    """The queue of a ladder: a ticket for each bot."""
    return f"{_of_ladder(ladder)}:tickets"


def taken_out(ladder: str) -> str:
    """Bots that a call took out of the queue and that have not entered again."""
    return f"{_of_ladder(ladder)}:out"


def load(ladder: str) -> str:
    """How many games of a ladder each bot is seated in."""
    return f"{_of_ladder(ladder)}:load"


def seated(ladder: str) -> str:
    """Who is seated in the games of a ladder that are not settled."""
    return f"{_of_ladder(ladder)}:seated"


def seatings(ladder: str) -> str:
    """The games of a ladder that have not begun, by when their seats must have answered."""
    return f"{_of_ladder(ladder)}:seatings"


def pairs(ladder: str, day: str) -> str:
    """How often two bots were seated together on a day."""
    return f"{_of_ladder(ladder)}:pairs:{day}"


def deals(ladder: str) -> str:
    """The deals of a trusted ladder that are not played from every seat yet."""
    return f"{_of_ladder(ladder)}:deals"


def pace(ladder: str) -> str:
    """Exists while the house does not play among itself on a ladder."""
    return f"{_of_ladder(ladder)}:pace"


def board_head(ladder: str) -> str:
    """The sequence of the last rated game of a ladder, its season and generation."""
    return f"{_of_ladder(ladder)}:head"


def board_log(ladder: str) -> str:
    """The rated games of a ladder; the id of an entry is its sequence."""
    return f"{_of_ladder(ladder)}:log"


def board_rated(ladder: str) -> str:
    """The sequence of each game that has been rated."""
    return f"{_of_ladder(ladder)}:rated"


def board_voided(ladder: str) -> str:
    """The rated games that were taken out of the ratings."""
    return f"{_of_ladder(ladder)}:voided"


def board_rows(ladder: str, season: int) -> str:
    """The table of a season: a row for each version of a bot."""
    return f"{_of_ladder(ladder)}:rows:{season}"


def board_start(ladder: str, season: int) -> str:
    """The means with which versions of bots began a season."""
    return f"{_of_ladder(ladder)}:start:{season}"


def board_seasons(ladder: str) -> str:
    """The seasons of a ladder by their number."""
    return f"{_of_ladder(ladder)}:seasons"


def board_history(ladder: str, bot: str) -> str:
    """The sequences of the rated games of a bot, the oldest first."""
    return f"{_of_ladder(ladder)}:history:{bot}"
