"""What the bots in other languages meet: a real arena, and a line to it that breaks."""

from collections.abc import Callable, Iterator

import pytest

from tests.languages.relay import Relay
from tests.sdk.conftest import (
    Endpoint,
    _temporary_files_go_with_the_test,
    endpoint,
    short_folder,
)

__all__ = ["_temporary_files_go_with_the_test", "endpoint", "short_folder"]


@pytest.fixture
def breaking_line(endpoint: Endpoint) -> Iterator[Callable[[int], Relay]]:
    """Makes lines to the arena that are cut once, after so many bytes from it."""
    relays: list[Relay] = []

    def line(cut_after: int) -> Relay:
        relays.append(Relay(endpoint.target, cut_after))
        return relays[-1]

    yield line
    for relay in relays:
        relay.close()
