"""What Matcha changes in the events: members may be geishas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from himeji.rules.castle.constants import MEMBER_MOVED
from himeji.rules.castle.events import BASE_EVENTS, tell_member
from himeji.rules.castle.matcha.constants import GEISHA, GEISHA_PLACE_NAMES, GEISHA_PLACES
from himeji.rules.description import numbered
from himeji.rules.events import EventWords


def _member(who: str, member: int, place: int) -> str:
    if member != GEISHA:
        return tell_member(who, member, place)
    start, end = divmod(place, GEISHA_PLACES)
    return f"{who}: a geisha goes from {GEISHA_PLACE_NAMES[start]} to {GEISHA_PLACE_NAMES[end]}"


_MOVED: Final = BASE_EVENTS[MEMBER_MOVED]
MATCHA_EVENTS: Final[Mapping[int, EventWords]] = {
    MEMBER_MOVED: _MOVED._replace(
        b=f"{_MOVED.b}, of a geisha likewise ({numbered(GEISHA_PLACE_NAMES)})",
        say=lambda _, who, member, place: _member(who, member, place),
    ),
}
