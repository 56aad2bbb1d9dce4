"""The caller of the call that is being handled, and the address it came from.

The interceptor sets the caller before a handler runs, in the task in which the handler runs, so
that `current_caller()` works in unary and streaming handlers and in the tasks that they start.
"""

from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from himeji.rules.errors import Forbidden, MissingToken
from himeji.v1.account_service_pb2 import SCOPE_ADMIN, Scope

from himeji_server import addresses
from himeji_server.names import ADMINISTRATOR, BotName


@dataclass(frozen=True)
class Caller:
    """An owner with the rights of the token that the call was made with."""

    owner: str
    token_id: str
    scopes: frozenset[int]
    bot: str = ""
    """The bot that the token is bound to, as "owner/name". Empty: all bots of the owner."""

    digest: str = field(default="", repr=False, compare=False)
    """The digest of the secret that was sent: after a rotation, a token has two for a while."""

    @property
    def is_administrator(self) -> bool:
        """Whether the token has SCOPE_ADMIN: no quota and no rate limits it."""
        return SCOPE_ADMIN in self.scopes

    @property
    def limit_key(self) -> str:
        """What limits per owner count; the key of administrators is not limited."""
        return ADMINISTRATOR if self.is_administrator else self.owner

    def has_scope(self, *scopes: int) -> bool:
        """Whether the token has one of these scopes."""
        return not self.scopes.isdisjoint(scopes)

    def require_scope(self, *scopes: int) -> None:
        """Raise Forbidden unless the token has one of these scopes."""
        if not self.has_scope(*scopes):
            raise missing_scope(scopes)

    def may_act_for(self, bot: BotName) -> bool:
        """Whether the bot is the caller's and the token is not bound to another one."""
        return bot.owner == self.owner and self.bot in ("", str(bot))

    def require_bot(self, bot: BotName) -> None:
        """Raise Forbidden unless the caller may act for the bot."""
        if bot.owner != self.owner:
            raise Forbidden(f"{bot} is a bot of another owner")
        if not self.may_act_for(bot):
            raise Forbidden(f"the token is bound to {self.bot}")


def missing_scope(scopes: Iterable[int]) -> Forbidden:
    """The error that names the missing scope; of several, any one would do."""
    names = [scope_name(each) for each in scopes]
    return Forbidden(
        f"the token is not good for this: it would need the scope {' or '.join(names)}",
        {"scope": names[0]},
    )


def scope_name(scope: int) -> str:
    """The name of a scope in error messages."""
    return Scope.Name(scope).removeprefix("SCOPE_")  # type: ignore[arg-type]


_CALLER: Final[ContextVar[Caller | None]] = ContextVar("caller", default=None)
_ADDRESS: Final[ContextVar[str]] = ContextVar("address", default=addresses.UNKNOWN)


def set_address(address: str) -> None:
    """Set the address from which the call of this task came.

    Only the interceptor and the page's middleware do.
    """
    _ADDRESS.set(address)


def current_address() -> str:
    """The address from which the call came, as addresses.py writes it."""
    return _ADDRESS.get()


def set_caller(caller: Caller) -> None:
    """Set the caller of the call that this task handles; only the interceptor's authoriser does."""
    _CALLER.set(caller)


def current_caller() -> Caller:
    """The caller; raises MissingToken if the call came without a token."""
    caller = _CALLER.get()
    if caller is None:
        raise MissingToken("this needs a token in the metadata `authorization`")
    return caller


def caller_or_none() -> Caller | None:
    """The caller, or None: for methods that can be called without a token."""
    return _CALLER.get()
