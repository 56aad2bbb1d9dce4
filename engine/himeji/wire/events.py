"""Events as messages and back."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from himeji.rules.errors import InvalidRequest
from himeji.rules.game import Event as Happening, Record
from himeji.rules.ruleset import Ruleset
from himeji.v1.game_pb2 import Decision, Event, GameOver
from himeji.v1.game_service_pb2 import GameUpdate

NOBODY: Final = -1

if len({kind.EVENTS_FIELD_NUMBER for kind in (Decision, GameOver, GameUpdate)}) != 1:
    raise AssertionError("one encoding of an event has to do for all messages that tell of games")


def to_events(records: Iterable[Record]) -> list[Event]:
    """The records of a game's log as messages."""
    return [
        Event(kind=kind, seat=None if seat == NOBODY else seat, numbers=(a, b), rule=rule)
        for kind, seat, a, b, rule in records
    ]


def add_events(out: Decision | GameOver | GameUpdate, records: Iterable[Record]) -> None:
    """Tell of the records of a game's log, in a message of which events are a part."""
    out.MergeFromString(b"".join(map(_encoded, records)))


@lru_cache(maxsize=1 << 14)
def _encoded(record: Record) -> bytes:
    """The one event of a message in its serialised form; games tell the same ones many times."""
    return Decision(events=to_events([record])).SerializeToString()


def told_events(ruleset: Ruleset, seats: int, records: Iterable[Record]) -> list[Event]:
    """The same with the text of each, for those who want to read them."""
    records = list(records)
    messages = to_events(records)
    for message, record in zip(messages, records, strict=True):
        message.text = ruleset.tell(record, seats)
    return messages


def from_events(ruleset: Ruleset, messages: Sequence[Event]) -> list[Happening]:
    """The events that the messages tell of; raises InvalidRequest for one that is none."""
    found = []
    for message in messages:
        if message.kind not in ruleset.event_kinds or len(message.numbers) != 2:
            raise InvalidRequest(f"this is no event of {ruleset.name}: {message}")
        seat = message.seat if message.HasField("seat") else NOBODY
        kind = ruleset.event_kinds[message.kind]
        a, b = message.numbers
        found.append(Happening(kind, seat, a, b, message.rule))
    return found
