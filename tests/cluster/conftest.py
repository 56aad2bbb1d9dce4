"""Starts clusters, and arenas on them."""

import contextlib

import pytest

from loadtest.arena import temporary_arena
from tests.cluster.nodes import Cluster


@pytest.fixture
def start_cluster():
    with contextlib.ExitStack() as stack:

        def start(**sizes):
            return stack.enter_context(contextlib.closing(Cluster(**sizes)))

        yield start


@pytest.fixture
def start_arena(tmp_path):
    with contextlib.ExitStack() as stack:

        def start(url, *options):
            log = tmp_path / f"arena-{len(list(tmp_path.iterdir()))}.log"
            return stack.enter_context(temporary_arena(log, "--redis", url, *options))

        yield start
