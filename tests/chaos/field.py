"""The field of a battle: one Redis and several arenas as processes, killed and started again."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import redis.asyncio
from himeji_server.launch.embedded_redis import find_binary
from redis.exceptions import ConnectionError as NoConnectionError, TimeoutError as NoAnswerError

PATIENCE = 120.0
"""Seconds after which a process that should be there is not; generous, for slow machines."""

DURABLE = ("--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction")
"""The settings of the arena's own Redis."""

FORGETFUL = ("--appendonly", "no")
"""A planted fault: what was acknowledged is nowhere but in memory."""

NOTHING_BESIDE = {"HIMEJI_HOUSE": "none", "HIMEJI_HTTP_PORT": "none"}
"""An arena without house bots and without a page, which take a while to start."""

SOUND = ("-c", "from himeji_sdk._cli import main; main()")
UNCHECKED = (str(Path(__file__).with_name("unchecked.py")),)
"""A planted fault: an arena whose commits do not look at the version."""


class Arena:
    """`himeji serve` on the field's Redis; after a kill it has another address."""

    def __init__(self, field, number):
        self.field = field
        self.number = number
        self.address = ""
        self.process = None
        self.log = field.folder / f"arena-{number}.log"

    async def start(self):
        command = [sys.executable, *self.field.program, "serve", "--port", "0"]
        command += ["--redis", self.field.redis_url, "--data", str(self.field.folder)]
        clean = {key: value for key, value in os.environ.items() if not key.startswith("HIMEJI_")}
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *command, stdout=subprocess.PIPE, stderr=log, env=clean | NOTHING_BESIDE
            )
        async with asyncio.timeout(PATIENCE):
            address = ""
            async for line in self.process.stdout:
                name, _, value = line.decode().strip().partition(" ")
                address = value.strip() if name == "address" else address
                if name == "stop":
                    self.address = address
                    return
        raise AssertionError(f"arena {self.number} did not open: {self.log.read_text()[-2000:]}")

    async def kill(self):
        self.address = ""
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    @property
    def died(self):
        """Whether it ended by itself."""
        return bool(self.address) and self.process.returncode is not None


class Field:
    """Everything that can be killed."""

    def __init__(self, *, arenas=2, redis_settings=DURABLE, program=SOUND):
        # The path of a socket must be short.
        self.folder = Path(tempfile.mkdtemp(prefix="hj-"))
        self.program = program
        self.arenas = [Arena(self, number) for number in range(arenas)]
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
        """Arenas that ended although nobody killed them, with the end of their logs."""
        return [
            f"arena {arena.number} ended by itself: {arena.log.read_text()[-1500:]}"
            for arena in self.arenas
            if arena.died
        ]

    def tracebacks(self):
        """The first traceback in the log of each arena, if it has one."""
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
        async with asyncio.timeout(PATIENCE):
            while not await self._answers():  # noqa: ASYNC110 - a process rings no bell
                await asyncio.sleep(0.05)

    async def kill_redis(self):
        if self._redis is not None and self._redis.returncode is None:
            self._redis.kill()
            await self._redis.wait()

    async def save(self):
        """Make Redis write what it has to its disk; what comes later it will have forgotten."""
        async with redis.asyncio.Redis.from_url(self.redis_url) as client:
            await client.save()

    async def _answers(self):
        async with redis.asyncio.Redis.from_url(self.redis_url) as client:
            with contextlib.suppress(NoConnectionError, NoAnswerError):
                return await client.ping()
        return False
