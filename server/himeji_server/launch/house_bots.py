"""House bots: bots that the arena runs in child processes, which connect like any other bot.

A process gets its token in its environment, which only this user can read, and dies with the
arena. The server knows bots by name only: the command line `himeji` runs them.

Invariant: of several arenas on one store, at most one runs a given bot, because a bot has a single
stream. An arena runs a bot only while it holds the bot's lease.
"""

import asyncio
import contextlib
import importlib.metadata
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import structlog
from himeji.components import VARIABLE as COMPONENTS
from himeji.rules.errors import StoreUnavailable

from himeji_server import names
from himeji_server.accounts.accounts import Accounts
from himeji_server.launch import die_with_parent
from himeji_server.launch.supervisor import RestartPolicy, SupervisedProcess
from himeji_server.startup_errors import StartRefusedError
from himeji_server.store import StoreRefusedError
from himeji_server.store.leases import Leases, new_holder
from himeji_server.tasks import wait_for

STANDARD: Final = ("random", "greedy", "planner")
"""The house bots of an arena in development mode: enough opponents for a game of four."""

NONE: Final = "none"
ENTRY_POINTS: Final = "himeji.bots"
"""The group of entry points in which packages name their bots."""

GAMES_AT_ONCE: Final = 8
"""Ladder games that a house bot plays at the same time."""

LEASE_MS: Final = 5_000
"""How long other arenas wait before they take over a bot whose arena has died."""

TOKEN: Final = "HIMEJI_TOKEN"  # noqa: S105 - the name of a variable
RESTARTS: Final = RestartPolicy(longest_delay=30.0)
LEASE_POLL_SECONDS: Final = 1.0
"""Between two attempts to renew a lease, or to acquire one that another arena holds."""

_PASSED_ON: Final = frozenset({"HIMEJI_PURE", COMPONENTS})
_STOP_SECONDS: Final = 5.0
_RUNS_ELSEWHERE: Final = "another arena runs it"
_LONGEST_LINE: Final = 4096  # longer lines of a bot's output are split

_log = structlog.get_logger(__name__)


def parse_house_bots(text: str | None, *, dev: bool) -> tuple[str, ...]:
    """Read the setting, "a,b" or "none"; raises StartRefusedError for an unknown bot."""
    if text is None:
        return STANDARD if dev else ()
    if text == NONE:
        return ()
    found = tuple(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))
    known = {each.name for each in importlib.metadata.entry_points(group=ENTRY_POINTS)}
    for name in found:
        if name not in known:
            there = ", ".join(sorted(known)) or "none"
            raise StartRefusedError(f"there is no bot {name!r} for the house (there are: {there})")
    return found


class HouseBots:
    """The house bots of an arena."""

    def __init__(
        self,
        accounts: Accounts,
        leases: Leases,
        bots: Sequence[str],
        target: str,
        ladders: Sequence[str] = (),
    ) -> None:
        """`target` is the arena's own address; the bots enter the queues of the ladders."""
        self._bots = [HouseBot(bot, accounts, leases, target, ladders) for bot in bots]

    async def keep_running(self) -> None:
        """Start every bot, and restart it whenever it ends; returns once they were stopped."""
        try:
            async with asyncio.TaskGroup() as group:
                for bot in self._bots:
                    group.create_task(bot.keep_running())
        finally:
            await self.stop()

    async def stop(self) -> None:
        """End all bots: each finishes its decision, or is killed when that takes too long."""
        await asyncio.gather(*(bot.stop() for bot in self._bots))


class HouseBot(SupervisedProcess):
    """The process of one bot."""

    def __init__(
        self,
        bot: str,
        accounts: Accounts,
        leases: Leases,
        target: str,
        ladders: Sequence[str] = (),
    ) -> None:
        self._name = f"{names.HOUSE}/{bot}"
        super().__init__("house bot", RESTARTS, bot=self._name)
        self._bot = bot
        self._accounts = accounts
        self._leases = leases
        self._lease_holder = new_holder()
        self._target = target
        self._ladders = ladders
        # A thread of its own reads the bot's output, because it is blocked as long as the bot runs.
        self._thread = ThreadPoolExecutor(1, "house")
        self._process: subprocess.Popen[str] | None = None

    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    async def launch(self) -> None:
        """Acquire the bot's lease, however long that takes, and start the process."""
        try:
            await self._wait_for_lease()
            issued = await self._accounts.issue_house_token(self._bot, "a bot of the house")
        except (StoreUnavailable, StoreRefusedError) as error:
            raise StartRefusedError(str(error)) from error
        if not self._stopping.is_set():
            self._process = self._spawn(issued.secret)

    async def wait(self) -> str:
        """Wait until the bot ends, and end it if another arena has got its lease."""
        process = self._process
        if process is None:
            return "it was not started"
        loop = asyncio.get_running_loop()
        ended = loop.run_in_executor(self._thread, _log_output, self._name, process)
        while not (await asyncio.wait({ended}, timeout=LEASE_POLL_SECONDS))[0]:
            if not await self._still_holds_lease():
                process.terminate()
                await asyncio.to_thread(_wait_or_kill, process)
                return _RUNS_ELSEWHERE
        return f"it ended with code {ended.result()}"

    async def stop(self) -> None:
        self._stopping.set()
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(_wait_or_kill, self._process)
        self._thread.shutdown()
        await self._leases.release(self._name, self._lease_holder)

    async def _wait_for_lease(self) -> None:
        """Wait until no other arena runs the bot; logged once, because it is a normal state."""
        logged = False
        while not self._stopping.is_set() and not await self._acquire_lease():
            if not logged:
                _log.info("house bot waits", bot=self._name, why=_RUNS_ELSEWHERE)
            logged = True
            await wait_for(self._stopping, LEASE_POLL_SECONDS)

    async def _still_holds_lease(self) -> bool:
        try:
            return self._stopping.is_set() or await self._acquire_lease()
        except (StoreUnavailable, StoreRefusedError):
            return True  # no other arena can acquire it either

    async def _acquire_lease(self) -> bool:
        return await self._leases.acquire(self._name, self._lease_holder, LEASE_MS)

    def _spawn(self, token: str) -> subprocess.Popen[str]:
        # -P: modules in the current folder are not imported. -u: unbuffered, so that output is
        # logged at once and not lost when the bot is killed.
        program = [sys.executable, "-P", "-u", "-m", "himeji_sdk"]
        if self._ladders:
            program += ["ladder", "join", self._bot, "--at-once", str(GAMES_AT_ONCE)]
            program += [part for ladder in self._ladders for part in ("--ladder", ladder)]
        else:
            program += ["run", self._bot]
        program += ["--target", self._target, "--invited", "--resign-on-fault", "--quiet"]
        return subprocess.Popen(  # noqa: S603 - our own programs
            die_with_parent.command(program),
            env=_environment(os.environ.items()) | {TOKEN: token},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            # Ctrl-C in a terminal signals the whole process group; the arena stops its bots.
            start_new_session=True,
        )


def _environment(variables: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The environment without the settings of the arena, which are not meant for the bot."""
    return {
        name: value
        for name, value in variables
        if not name.startswith("HIMEJI_") or name in _PASSED_ON
    }


def _log_output(bot: str, process: subprocess.Popen[str]) -> int:
    """Log what a bot prints and return its exit code; blocks, so it runs in a thread."""
    if process.stdout is not None:
        with process.stdout as lines:
            while line := lines.readline(_LONGEST_LINE):
                _log.warning("house bot says", bot=bot, line=line.rstrip())
    code = process.wait()
    if process.stdin is not None:
        process.stdin.close()
    return code


def _wait_or_kill(process: subprocess.Popen[str]) -> None:
    """Wait until a process ends, or kill it; blocks, so it runs in a thread."""
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
