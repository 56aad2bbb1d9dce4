"""What an attack is: who makes it, what it does, and which limit defends against it."""

import asyncio
import contextlib
import resource
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import grpc
from grpc.aio import AioRpcError
from himeji_sdk.connection import credentials

from loadtest.interceptors import reason_of
from tests.programs.siege.source_address import relayed

SOURCE = "127.0.0.2"
"""Where attacks come from; honest clients are at 127.0.0.1."""

CALL_SECONDS = 10.0
TRACES = "lines in the log"
UNLIMITED = 1_000_000_000
HOUR = 3_600.0
NO_PACING = {"processor_ms_per_second": UNLIMITED, "processor_ms_at_once": UNLIMITED}
NO_FAILURE_LIMIT = {"failures_per_second": UNLIMITED, "failures_at_once": UNLIMITED}
NO_CANCELLATION_LIMIT = {
    "cancellations_per_second": UNLIMITED,
    "cancellations_at_once": UNLIMITED,
}
"""For controls of attacks that meet several defences, one behind the other."""

LONGEST = 4
"""How many times its time an attack may take to do a certain number of things."""


def limit_values(**values):
    """Limits by their names, as a constant of a class."""
    return MappingProxyType(values)


@dataclass(frozen=True)
class Target:
    """The arena as the attacker knows it."""

    address: str
    page: str
    """Host and port of the page."""

    token: str
    game: str
    """A game that is played."""

    seconds: float
    """How long the attack lasts."""


class Attack:
    """One attack; an object is made in the harness, and another one in the attacking process."""

    name = ""
    control: Mapping[str, float] = MappingProxyType({})
    """The limits that defend against it, with values so high that they do not."""

    symptom = ""
    """Words of what goes wrong without these limits. A control has to show it: that everything is
    slow proves nothing, because the machine may be busy."""

    limits: Mapping[str, float] = MappingProxyType({})
    """Limits of the arena in both runs, so that a short attack uses up what a long one would."""

    open_registration = False
    hostile_bots = 1
    finished_games = 0
    rated_results = 0
    uses_admin_token = False
    """Whether it is no attack, but something that the arena's own operator does."""

    traces = ""
    """Words by which the lines that it leaves in the log are known; their number is in `told`."""

    log_is_bounded = False
    """Whether it tries to fill the log, which must then not grow much faster than before."""

    def __init__(self):
        self.told = Counter()
        """What the arena told the attacker, and how often."""

    def prepare(self, target):
        """Do what takes time before the attack begins."""

    async def run(self, target):
        """Attack until the time is over."""
        raise NotImplementedError

    def harm(self, told):
        """What the attack reached by itself, whatever the honest clients saw; empty: nothing."""
        return ""

    # --- what attacks share ---------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def channels(self, target, count=1):
        """Channels of gRPC from the hostile address, for a block."""
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_send_message_length", -1)]
        async with contextlib.AsyncExitStack() as stack:
            near = await stack.enter_async_context(relayed(target.address, SOURCE))
            opened = [grpc.aio.insecure_channel(near, options=options) for _ in range(count)]
            for channel in opened:
                stack.push_async_callback(channel.close)
            yield opened

    async def call(self, channel, path, body, token=""):
        """Make a unary call with raw bytes, and count the answer; as `ask`."""
        return await self.ask(channel.unary_unary(path), body, token)

    async def ask(self, method, body, token=""):
        """Call a method; its response, or None if it was refused, which is counted."""
        metadata = credentials(token) if token else ()
        try:
            response = await method(body, metadata=metadata, timeout=CALL_SECONDS)
        except AioRpcError as error:
            self.refused(error)
            return None
        self.told["OK"] += 1
        return response

    def refused(self, error):
        self.told[f"{error.code().name} {reason_of(error)}"] += 1

    async def repeat(self, target, at_once, action):
        """Do something again and again, `at_once` times in parallel, until the time is over.

        What is not answered by then is given up.
        """

        async def work():
            while True:
                await action()

        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(target.seconds):
                await asyncio.gather(*(work() for _ in range(at_once)))


def allow_open_files():
    """Raise the number of files that this process may open as far as the system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
