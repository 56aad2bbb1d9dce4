"""Names of owners and bots: their format, and the errors about names."""

import re
from dataclasses import dataclass
from typing import Final

from himeji.rules.errors import AlreadyExists, BotRetired, InvalidRequest, UnknownAccount

LONGEST_NAME: Final = 32
NAME: Final = rf"(?=[a-z0-9-]{{1,{LONGEST_NAME}}}(?![a-z0-9-]))[a-z0-9]+(?:-[a-z0-9]+)*"
"""Small letters, digits and single hyphens; a hyphen neither begins nor ends a name.

Without double hyphens, no name begins with "xn--", which browsers show as other characters.
"""

HOUSE: Final = "house"
LOCAL: Final = "local"
GUEST: Final = "guest"
ADMINISTRATOR: Final = "admin"
ARENA_OWNERS: Final = frozenset({HOUSE, LOCAL, GUEST, ADMINISTRATOR})
"""The owners that the arena itself creates."""

RESERVED: Final = ARENA_OWNERS | {
    *("administrator", "admins", "moderator", "moderators", "operator", "operators", "staff"),
    *("organiser", "organisers", "organizer", "organizers", "official", "officials"),
    *("root", "superuser", "sysadmin", "system", "webmaster", "security", "server", "service"),
    *("arena", "himeji", "support", "guests", "anonymous", "everybody", "everyone"),
    *("nobody", "none", "null", "undefined", "unknown"),
}
"""Names that no caller can give to an owner: the arena's own, and those that claim authority."""

ARENA: Final = "arena"
"""The operation id of what the arena itself creates: creating it again has no effect."""

_NAME: Final = re.compile(NAME)
_FORM: Final = (
    f"1 to {LONGEST_NAME} small letters, digits and single hyphens, with no hyphen at either end"
)
_LOOK_ALIKES: Final = str.maketrans("0134578i", "oleastbl", "-")
_LOOK_ALIKE_PAIRS: Final = (("rn", "m"), ("vv", "w"))


@dataclass(frozen=True)
class BotName:
    """The full name of a bot, "owner/short"."""

    owner: str
    short: str

    def __str__(self) -> str:
        return f"{self.owner}/{self.short}"


def owner_of(bot: str) -> str:
    """The owner in the full name of a bot."""
    return bot.partition("/")[0]


def skeleton(name: str) -> str:
    """What a name looks like: names with the same skeleton can be taken for each other."""
    looks = name.translate(_LOOK_ALIKES)
    for pair, letter in _LOOK_ALIKE_PAIRS:
        looks = looks.replace(pair, letter)
    return looks


_RESERVED_SKELETONS: Final = {skeleton(name): name for name in RESERVED}


def check_not_reserved(name: str) -> None:
    """Raise AlreadyExists for the name of a new owner that is, or looks like, a reserved one."""
    reserved = _RESERVED_SKELETONS.get(skeleton(name))
    if reserved is not None:
        looks = "" if name == reserved else f"looks like {reserved}, which "
        raise AlreadyExists(f"the name {name} {looks}is reserved", {"kind": "owner", "name": name})


def plays_in_browser(bot: str) -> bool:
    """Whether a bot is a guest: a person at the page, who plays without a stream."""
    return owner_of(bot) == GUEST


def owner_name(text: str, field: str = "owner") -> str:
    """Check the name of an owner; raises InvalidRequest."""
    if _NAME.fullmatch(text) is None:
        raise InvalidRequest(f"the name of an owner has {_FORM}", {"field": field})
    return text


def bot_name(text: str, field: str = "bot") -> BotName:
    """Parse the full name of a bot, "owner/name"; raises InvalidRequest."""
    owner, slash, short = text.partition("/")
    if not slash or _NAME.fullmatch(owner) is None or _NAME.fullmatch(short) is None:
        raise InvalidRequest(
            f'a bot is named "owner/name", and each part has {_FORM}', {"field": field}
        )
    return BotName(owner, short)


def in_use(kind: str, name: str) -> AlreadyExists:
    """The error for a name that is taken."""
    return AlreadyExists(f"the name {name} is in use", {"kind": kind, "name": name})


def looks_like(kind: str, name: str, other: str) -> AlreadyExists:
    """The error for a name that could be taken for one that is in use."""
    return AlreadyExists(
        f"the name {name} looks like {other}, which is in use", {"kind": kind, "name": name}
    )


def retired(bot: str) -> BotRetired:
    """The error for a bot that is retired."""
    return BotRetired(f"{bot} is retired: it plays no more", {"kind": "bot", "name": bot})


def unknown(kind: str, name: str) -> UnknownAccount:
    """The error for a name that nothing has."""
    return UnknownAccount(
        f"there is no {kind.replace('_', ' ')} {name}", {"kind": kind, "name": name}
    )
