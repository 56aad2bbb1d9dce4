"""A real arena for bots in other languages, and a connection to it that breaks."""

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
def breaking_connection(endpoint: Endpoint) -> Iterator[Callable[[int], Relay]]:
    """Makes relays to the arena that are cut once, after so many bytes from it."""
    relays: list[Relay] = []

    def start(cut_after: int) -> Relay:
        relays.append(Relay(endpoint.target, cut_after))
        return relays[-1]

    yield start
    for relay in relays:
        relay.close()
