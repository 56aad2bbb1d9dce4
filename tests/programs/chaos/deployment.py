"""One Redis and several arenas as processes that can be killed and started again."""

import asyncio
import contextlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import redis.asyncio
from himeji_server.launch.embedded_redis import find_binary
from redis.exceptions import ConnectionError as NoConnectionError, TimeoutError as NoAnswerError

from loadtest.arena import POLL_SECONDS, clean_environment
from tests.cluster.nodes import TIMEOUT

DURABLE = ("--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction")
"""The settings of the arena's own Redis."""

NOT_DURABLE = ("--appendonly", "no")
"""A planted fault: what is acknowledged exists in memory only."""

SETTINGS = {"HIMEJI_HOUSE": "none", "HIMEJI_HTTP_PORT": "none"}
"""Without house bots and web page an arena starts faster."""

SERVER = ("-c", "from himeji_sdk._cli import main; main()")
SERVER_WITHOUT_VERSION_CHECK = (str(Path(__file__).with_name("server_without_version_check.py")),)
"""A planted fault: an arena whose commits do not compare the version."""


class ArenaProcess:
    """`himeji serve` on the deployment's Redis; it gets a new address at every start."""

    def __init__(self, deployment, number):
        self.deployment = deployment
        self.number = number
        self.address = ""
        self.process = None
        self.log = deployment.folder / f"arena-{number}.log"

    async def start(self):
        command = [sys.executable, *self.deployment.program, "serve", "--port", "0"]
        command += ["--redis", self.deployment.redis_url, "--data", str(self.deployment.folder)]
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *command, stdout=subprocess.PIPE, stderr=log, env=clean_environment() | SETTINGS
            )
        async with asyncio.timeout(TIMEOUT):
            address = ""
            async for line in self.process.stdout:
                name, _, value = line.decode().strip().partition(" ")
                address = value.strip() if name == "address" else address
                if name == "stop":
                    self.address = address
                    return
        raise AssertionError(f"arena {self.number} did not start: {self.log.read_text()[-2000:]}")

    async def kill(self):
        self.address = ""
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    @property
    def died(self):
        """Whether it ended although nobody killed it."""
        return bool(self.address) and self.process.returncode is not None


class Deployment:
    """Redis and arenas, for an `async with` block."""

    def __init__(self, *, arenas=2, redis_settings=DURABLE, program=SERVER):
        # The path of a socket must be short.
        self.folder = Path(tempfile.mkdtemp(prefix="hj-"))
        self.program = program
        self.arenas = [ArenaProcess(self, number) for number in range(arenas)]
        self._settings = redis_settings
        self._redis = None

    async def __aenter__(self):
        try:
            await self.start_redis()
            for arena in self.arenas:  # one after the other: the first makes the token
                await arena.start()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_):
        for arena in self.arenas:
            await arena.kill()
        await self.kill_redis()
        shutil.rmtree(self.folder)

    @property
    def redis_url(self):
        return f"unix://{self.folder / 'r.sock'}"

    @property
    def secret(self):
        return (self.folder / "token").read_text().strip()

    def addresses(self):
        """The arenas that can be called now."""
        return [arena.address for arena in self.arenas if arena.address]

    def dead(self):
        """A sentence for each arena that ended although nobody killed it."""
        return [
            f"arena {arena.number} ended by itself: {arena.log.read_text()[-1500:]}"
            for arena in self.arenas
            if arena.died
        ]

    def tracebacks(self):
        """The first traceback in the log of each arena, if there is one."""
        found = []
        for arena in self.arenas:
            _, mark, rest = arena.log.read_text().partition("Traceback")
            if mark:
                found.append(f"arena {arena.number} logged a traceback: {rest[:3000]}")
        return found

    async def start_redis(self):
        command = [str(find_binary()), "--port", "0", "--unixsocket", str(self.folder / "r.sock")]
        command += ["--dir", str(self.folder), "--save", "", *self._settings]
        self._redis = await asyncio.create_subprocess_exec(
            *command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        async with asyncio.timeout(TIMEOUT):
            while not await self._redis_answers():  # noqa: ASYNC110 - nothing notifies of it
                await asyncio.sleep(POLL_SECONDS)

    async def kill_redis(self):
        if self._redis is not None and self._redis.returncode is None:
            self._redis.kill()
            await self._redis.wait()

    async def save_redis(self):
        """Make Redis write a snapshot; one that is not durable forgets what comes later."""
        async with redis.asyncio.Redis.from_url(self.redis_url) as client:
            await client.save()

    async def _redis_answers(self):
        async with redis.asyncio.Redis.from_url(self.redis_url) as client:
            with contextlib.suppress(NoConnectionError, NoAnswerError):
                return await client.ping()
        return False
