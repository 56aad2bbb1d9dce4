"""Who makes the call that is being answered.

The guard sets the caller before a handler runs, in the task in which the handler runs, so that
`current_caller()` works in handlers of every shape and in the tasks that they start.
"""

from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from himeji.rules.errors import Forbidden, MissingToken
from himeji.v1.account_service_pb2 import Scope

from himeji_server.names import BotName


@dataclass(frozen=True)
class Caller:
    """An owner, as far as a token speaks for them."""

    owner: str
    token_id: str
    scopes: frozenset[int]
    bot: str = ""
    """The bot that the token is bound to, as "owner/name". Empty: all bots of the owner."""

    digest: str = field(default="", repr=False, compare=False)
    """The digest of the secret that was shown: a token may have two for a while."""

    def has(self, *scopes: int) -> bool:
        """Whether the token is good for one of these."""
        return not self.scopes.isdisjoint(scopes)

    def need(self, *scopes: int) -> None:
        """Raise Forbidden unless the token is good for one of these."""
        if not self.has(*scopes):
            raise missing_scope(scopes)

    def may_speak_for(self, bot: BotName) -> bool:
        """Whether a bot is the caller's and within what the token is bound to."""
        return bot.owner == self.owner and self.bot in ("", str(bot))

    def need_bot(self, bot: BotName) -> None:
        """Raise Forbidden unless the bot is the caller's to use."""
        if bot.owner != self.owner:
            raise Forbidden(f"{bot} is a bot of somebody else")
        if not self.may_speak_for(bot):
            raise Forbidden(f"the token is bound to {self.bot}")


def missing_scope(scopes: Iterable[int]) -> Forbidden:
    """Say which scope would be needed; of several, any one."""
    names = [scope_name(each) for each in scopes]
    return Forbidden(
        f"the token is not good for this: it would need the scope {' or '.join(names)}",
        {"scope": names[0]},
    )


def scope_name(scope: int) -> str:
    """A scope as errors name it."""
    return Scope.Name(scope).removeprefix("SCOPE_")  # type: ignore[arg-type]


_CALLER: Final[ContextVar[Caller | None]] = ContextVar("caller", default=None)


def set_caller(caller: Caller) -> None:
    """Say who makes the call that this task answers. Only the guard does."""
    _CALLER.set(caller)


def current_caller() -> Caller:
    """Who makes the call; raises MissingToken where a call without a token is answered."""
    caller = _CALLER.get()
    if caller is None:
        raise MissingToken("this needs a token in the metadata `authorization`")
    return caller


def caller_or_none() -> Caller | None:
    """Who makes the call, for methods that answer strangers too."""
    return _CALLER.get()
