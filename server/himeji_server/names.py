"""Names of owners and bots: their format, and the errors about names."""

import re
from dataclasses import dataclass
from typing import Final

from himeji.rules.errors import AlreadyExists, BotRetired, InvalidRequest, UnknownAccount

LONGEST_NAME: Final = 32
NAME: Final = rf"[a-z0-9](?:[a-z0-9-]{{0,{LONGEST_NAME - 2}}}[a-z0-9])?"
"""Small letters, digits and hyphens; a hyphen neither begins nor ends a name."""

HOUSE: Final = "house"
LOCAL: Final = "local"
ADMINISTRATOR: Final = "admin"
RESERVED: Final = frozenset({HOUSE, LOCAL, ADMINISTRATOR, "himeji", "anonymous", "nobody"})
"""Names that no caller can give to an owner."""

ARENA: Final = "arena"
"""The operation id of what the arena itself creates: creating it again has no effect."""

BROWSER_PREFIX: Final = "browser-"
"""Begins the name of a person who plays in a browser, as a bot of the local owner."""

_NAME: Final = re.compile(NAME)
_FORM: Final = (
    f"1 to {LONGEST_NAME} small letters, digits and hyphens, with no hyphen at either end"
)


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


def plays_in_browser(bot: str) -> bool:
    """Whether a bot is a person at the page, who plays without a stream."""
    return bot.startswith(f"{LOCAL}/{BROWSER_PREFIX}")


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


def check_length(text: str, field: str, longest: int) -> str:
    """Check the length of a free text; raises InvalidRequest."""
    if len(text) > longest:
        raise InvalidRequest(
            f"{field} has {len(text)} characters, and {longest} are allowed", {"field": field}
        )
    return text


def in_use(kind: str, name: str) -> AlreadyExists:
    """The error for a name that is taken."""
    return AlreadyExists(f"the name {name} is in use", {"kind": kind, "name": name})


def retired(bot: str) -> BotRetired:
    """The error for a bot that is retired."""
    return BotRetired(f"{bot} is retired: it plays no more", {"kind": "bot", "name": bot})


def unknown(kind: str, name: str) -> UnknownAccount:
    """The error for a name that nothing has."""
    return UnknownAccount(
        f"there is no {kind.replace('_', ' ')} {name}", {"kind": kind, "name": name}
    )
