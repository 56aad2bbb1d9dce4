"""Real arenas for the SDK's tests: the one that many tests share, and fresh ones to be killed."""

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from himeji_sdk import Client

from tests.server.conftest import (
    Arena,
    _temporary_files_go_with_the_test,
    cluster,
    given_redis,
    is_alive,
    nodes,
    short_folder,
    start_arena,
    wait_until,
)

__all__ = [
    "_temporary_files_go_with_the_test",
    "cluster",
    "given_redis",
    "is_alive",
    "nodes",
    "short_folder",
    "start_arena",
    "wait_until",
]


class Endpoint(NamedTuple):
    """An arena as a client needs to know it."""

    target: str
    token: str
    token_file: Path

    def client(self) -> Client:
        return Client(self.target, self.token)


def endpoint_of(arena: Arena) -> Endpoint:
    file = Path(arena.facts["token"])
    return Endpoint(arena.address, file.read_text().strip(), file)


@pytest.fixture
def endpoint(shared_arena: Arena) -> Endpoint:
    return endpoint_of(shared_arena)


@pytest.fixture
def new_name() -> Callable[[], str]:
    """Names of bots that no other test has."""
    return lambda: f"local/t-{secrets.token_hex(6)}"


@pytest.fixture
def name(new_name: Callable[[], str]) -> str:
    return new_name()
