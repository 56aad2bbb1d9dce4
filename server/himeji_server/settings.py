"""The settings of an arena, and their defaults."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from himeji_server.limits import AccountLimits, Limits

HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 50051
DEFAULT_HTTP_PORT: Final = 8051
USUAL_HTTP_PORT: Final = -1
"""Serve the web page on its default port, or on a free one if that is in use."""

DEFAULT_DATA: Final = ".himeji"

MOST_PROCESSES: Final = 64

DRAIN_SECONDS: Final = 1.0
"""How long calls may take to end when the arena stops."""

OPEN_REGISTRATION: Final = "open"
CLOSED_REGISTRATION: Final = "closed"
"""Who may create owners: everybody, or administrators alone."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One arena's settings, as the command line or the environment gave them."""

    port: int = DEFAULT_PORT
    data: Path = Path(DEFAULT_DATA)
    redis: str | None = None
    ranked: bool = False
    accept_data_loss: bool = False
    """Start in ranked mode although acknowledged writes are missing from the embedded Redis."""

    dev: bool = True
    log_format: str = "console"
    registration: str = CLOSED_REGISTRATION
    admin_token_file: Path | None = None
    house: tuple[str, ...] = ()
    """House bots, which the arena runs in processes of their own."""

    ladders: Path | None = None
    """A file with ladders in addition to, or in place of, the standard ones."""

    accounts: AccountLimits = field(default_factory=AccountLimits)
    limits: Limits = field(default_factory=Limits)
    metrics_port: int | None = None
    """None: serve no metrics."""

    processes: int = 1
    http_port: int | None = None
    """The port of the web page; None: serve no page."""

    @property
    def mode(self) -> str:
        """The mode in the announcement and on the web page."""
        return "ranked" if self.ranked else "development" if self.dev else "plain"
