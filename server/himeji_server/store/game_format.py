"""How games are written in Redis: the fields of a game's hash and the entries of its log.

An entry is one line of text. Its first four words are those of the hash chain after the version,
which is the id of the entry; then come the milliseconds since the creation of the game, those
charged to, added to and left on the clock, and why an answer went no further. commit.lua appends
such lines. A log that was compacted is one field with all lines, compressed.
"""

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from himeji.v1.game_pb2 import Game

from himeji_server.store.commands import Argument
from himeji_server.store.game_records import (
    Creator,
    Entry,
    Snapshot,
    StoredGame,
    StoredSeat,
    StoredState,
)

_CHAIN_WORDS: Final = 4
_NUMBERS: Final = 5
_WORDS: Final = _CHAIN_WORDS + _NUMBERS
_MOST_SEATS: Final = 4
_SEAT_FIELDS: Final = ("bot", "botversion", "entropy", "left", "strikes", "lost")

SUMMARY_FIELDS: Final = (
    *("header", "secret", "state", "version", "decision", "seat", "asked", "chain", "seats"),
    *("result", "created", "started", "ended", "creator", "expires"),
    *(f"{name}{seat}" for seat in range(_MOST_SEATS) for name in _SEAT_FIELDS),
)
"""All that there is of a game but its log, its position, and what only scripts read."""


def new_game_fields(
    header: Game, secret: bytes, chain: bytes, creator: Creator
) -> dict[str, Argument]:
    """The fields of a new game, without those that create_game.lua adds: state and times."""
    timed = header.HasField("clock")
    bank = header.clock.bank.ToMilliseconds()
    return {
        "header": header.SerializeToString(),
        "secret": secret,
        "chain": chain,
        "seats": len(header.seats),
        "increment": header.clock.increment.ToMilliseconds() if timed else "",
        "creator": creator.owner,
        "creatorbot": creator.bot,
        **{f"left{seat}": bank for seat in range(len(header.seats))},
    }


def parse_game(fields: Mapping[str, bytes], header: Game | None = None) -> StoredGame:
    """Parse the hash of a game; its header need not be parsed again if it is known."""
    return StoredGame(
        header=header or Game.FromString(fields["header"]),
        secret=fields["secret"],
        state=StoredState(fields["state"].decode()),
        version=_number(fields, "version"),
        decision=_number(fields, "decision"),
        seat=int(fields.get("seat", b"-1")),
        asked=_number(fields, "asked"),
        chain=fields["chain"],
        snapshot=_snapshot(fields.get("position", b"")),
        seats=[_seat(fields, seat) for seat in range(_number(fields, "seats"))],
        result=fields.get("result", b""),
        created=_number(fields, "created"),
        started=_number(fields, "started"),
        ended=_number(fields, "ended"),
        creator=Creator(_text(fields, "creator"), _text(fields, "creatorbot")),
        expires=_number(fields, "expires"),
    )


def parse_summary(values: Sequence[bytes | None]) -> StoredGame | None:
    """Parse the SUMMARY_FIELDS of a game; None if there is no such game."""
    pairs = zip(SUMMARY_FIELDS, values, strict=True)
    fields = {name: value for name, value in pairs if value is not None}
    return parse_game(fields) if "header" in fields else None


def _number(fields: Mapping[str, bytes], name: str) -> int:
    return int(fields.get(name, b"0"))


def _text(fields: Mapping[str, bytes], name: str) -> str:
    return fields.get(name, b"").decode()


def _snapshot(text: bytes) -> Snapshot | None:
    version, _, position = text.partition(b" ")
    return Snapshot(int(version) if version.isdigit() else 0, position) if text else None


def _seat(fields: Mapping[str, bytes], seat: int) -> StoredSeat:
    lost, _, lost_at = fields.get(f"lost{seat}", b"0 0").decode().partition(" ")
    return StoredSeat(
        bot=_text(fields, f"bot{seat}"),
        bot_version=_number(fields, f"botversion{seat}"),
        entropy=fields.get(f"entropy{seat}", b""),
        left=_number(fields, f"left{seat}"),
        strikes=_number(fields, f"strikes{seat}"),
        lost=int(lost),
        lost_at=int(lost_at),
        given_up_by=_text(fields, f"givenup{seat}"),
    )


def without_version(text: str) -> str:
    """Drop the version, the first word, from the text of an entry."""
    return text.partition(" ")[2]


def parse_log(game: StoredGame, stream: Sequence[Any]) -> list[Entry]:
    """Parse the stream of a log, up to the version of the game.

    It was read after the hash of the game, so it may have entries that the hash does not know.
    """
    entries = (_parse_streamed(raw, game.created) for raw in stream)
    return [each for each in entries if each.version <= game.version]


def _parse_streamed(raw: Sequence[Any], created: int) -> Entry:
    identity, fields = raw
    version = int(bytes(identity).partition(b"-")[0])
    return _parse_line(version, bytes(fields[1]).decode(errors="replace"), created)


def _parse_line(version: int, line: str, created: int) -> Entry:
    """Parse the line of an entry. A broken one gets zeros: replaying the log finds it."""
    parts = line.split(" ", _WORDS)
    try:
        since, charged, added, left, stop = map(int, parts[_CHAIN_WORDS:_WORDS])
    except ValueError:
        since = charged = added = left = stop = 0
    text = " ".join([str(version), *parts[:_CHAIN_WORDS]])
    refusal = parts[_WORDS] if len(parts) > _WORDS else ""
    return Entry(version, text, created + since, charged, added, left, stop, refusal)


def _line(entry: Entry, created: int) -> str:
    numbers = (entry.time - created, entry.charged, entry.added, entry.left, entry.stop)
    return " ".join([without_version(entry.text), *map(str, numbers), entry.refusal]).rstrip()


def pack_log(game: StoredGame) -> bytes:
    """Compress a whole log."""
    lines = [_line(each, game.created) for each in game.log]
    return zlib.compress("\n".join(lines).encode(), level=9)


def unpack_log(packed: bytes, created: int) -> list[Entry]:
    """Parse a log that was compressed."""
    lines = zlib.decompress(packed).decode().split("\n")
    return [_parse_line(version, line, created) for version, line in enumerate(lines, start=1)]
