"""A route of `/api` as the table of routes names it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

JSON = "application/json"


@dataclass(frozen=True)
class Route:
    """A path, what it gives, and how that is described."""

    path: str
    name: str
    summary: str
    answer: Callable[[Request], Awaitable[Response]]
    shape: type | None = None
    """The class of shapes.py that the JSON has, None for other media."""

    media: str = JSON
    parameters: Mapping[str, str] = field(default_factory=dict)
    """What may be asked, with an explanation each; those of the path too."""
