"""House bots: processes of the arena's own that dial in like any bot, kept running, never orphaned.

A process gets its token in its environment, which only this user can read, and is tied to the
arena by a tether. The server knows bots by their names alone: the command line `himeji` runs them.
Of several arenas on one store, one keeps a bot at a time, for it has a single stream.
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
from himeji_server.startup_errors import StartRefusedError
from himeji_server.store import StoreRefusedError
from himeji_server.store.leases import Leases, new_holder

STANDARD: Final = ("random", "greedy", "planner")
"""The house bots of an arena in development mode: enough for a newcomer's table of four."""

NONE: Final = "none"
BOTS: Final = "himeji.bots"
"""The group of entry points in which packages name their bots."""

GAMES_AT_ONCE: Final = 8
"""Games of a ladder that a house bot plays at the same time."""

LEASE_MS: Final = 5_000
"""How long other arenas wait for the keeper of a bot that does not come back."""

TOKEN: Final = "HIMEJI_TOKEN"  # noqa: S105 - the name of a variable
_KEPT: Final = frozenset({"HIMEJI_PURE", COMPONENTS})
_FIRST_WAIT: Final = 0.2
_LONGEST_WAIT: Final = 30.0
_STEADY_SECONDS: Final = 60.0  # who lived so long is started again without a long wait
_STOP_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 1.0  # between two looks at a lease, by who has it and by who waits for it
_KEPT_ELSEWHERE: Final = "another arena keeps it"
_LONGEST_LINE: Final = 4096  # of what a bot prints; more of it is the next line
_NO_FILE: Final = 2  # the tether keeps a file open for its program; standard error is open anyway

_log = structlog.get_logger(__name__)


def wanted(text: str | None, *, dev: bool) -> tuple[str, ...]:
    """The house bots that a setting names, "a,b" or "none"; raises StartRefusedError."""
    if text is None:
        return STANDARD if dev else ()
    if text == NONE:
        return ()
    found = tuple(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))
    known = {each.name for each in importlib.metadata.entry_points(group=BOTS)}
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
        """`target` is the arena's own address; on the ladders the bots wait for everybody."""
        self._accounts = accounts
        self._leases = leases
        self._name = new_holder()
        self._bots = bots
        self._target = target
        self._ladders = ladders
        # Of its own, because each bot occupies a thread as long as it lives.
        self._threads = ThreadPoolExecutor(max(1, len(bots)), "house")
        self._processes: dict[str, subprocess.Popen[str]] = {}
        self._stopped = False

    @property
    def pids(self) -> dict[str, int]:
        """The processes that were started last, by the name of their bot."""
        return {bot: process.pid for bot, process in self._processes.items()}

    async def keep_running(self) -> None:
        """Start every bot, and start it again whenever it dies; returns when it was stopped."""
        try:
            async with asyncio.TaskGroup() as group:
                for bot in self._bots:
                    group.create_task(self._keep(bot))
        finally:
            await self.stop()

    async def stop(self) -> None:
        """End all bots: each finishes its decision, or is killed when that takes too long."""
        self._stopped = True
        processes = list(self._processes.values())
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
        await asyncio.gather(*(asyncio.to_thread(_end, process) for process in processes))
        self._threads.shutdown()
        await asyncio.gather(*(self._leases.release(_full(bot), self._name) for bot in self._bots))

    async def _keep(self, bot: str) -> None:
        clock, wait = asyncio.get_running_loop().time, _FIRST_WAIT
        while True:
            began = clock()
            try:
                await self._until_ours(bot)
                why = await self._live(bot)
            except (StoreUnavailable, StoreRefusedError) as error:
                why = str(error)
            if self._stopped:
                return
            wait = _FIRST_WAIT if clock() - began > _STEADY_SECONDS else wait
            _log.error("house bot is not running", bot=_full(bot), why=why, wait_s=wait)
            await asyncio.sleep(wait)
            wait = min(wait * 2, _LONGEST_WAIT)

    async def _until_ours(self, bot: str) -> None:
        """Wait until no other arena keeps a bot; said once, for that is how it should be."""
        said = False
        while not self._stopped and not await self._take(bot):
            if not said:
                _log.info("house bot waits", bot=_full(bot), why=_KEPT_ELSEWHERE)
            said = True
            await asyncio.sleep(_LOOK_SECONDS)

    async def _live(self, bot: str) -> str:
        """One life of a bot; why it ended."""
        issued = await self._accounts.house_token(bot, "a bot of the house")
        if self._stopped:
            return "stopped"
        process = self._spawn(bot, issued.secret)
        self._processes[bot] = process
        listening = asyncio.get_running_loop().run_in_executor(self._threads, _listen, bot, process)
        while not (await asyncio.wait({listening}, timeout=_LOOK_SECONDS))[0]:
            if not await self._still_ours(bot):
                process.terminate()
                await asyncio.to_thread(_end, process)
                return _KEPT_ELSEWHERE
        return f"it ended with code {listening.result()}"

    async def _still_ours(self, bot: str) -> bool:
        try:
            return self._stopped or await self._take(bot)
        except (StoreUnavailable, StoreRefusedError):
            return True  # nobody else can take it either

    async def _take(self, bot: str) -> bool:
        return await self._leases.acquire(_full(bot), self._name, LEASE_MS)

    def _spawn(self, bot: str, token: str) -> subprocess.Popen[str]:
        launcher = [sys.executable, "-I", "-S", die_with_parent.__file__, die_with_parent.MECHANISM]
        launcher += [str(os.getpid()), str(_NO_FILE)]
        # -P: what lies in the arena's folder is not imported. -u: what a bot prints is logged at
        # once, and not lost when it is killed.
        program = [sys.executable, "-P", "-u", "-m", "himeji_sdk"]
        if self._ladders:
            program += ["ladder", "join", bot, "--at-once", str(GAMES_AT_ONCE)]
            program += [part for ladder in self._ladders for part in ("--ladder", ladder)]
        else:
            program += ["run", bot]
        program += ["--target", self._target, "--invited", "--resign-on-fault", "--quiet"]
        return subprocess.Popen(  # noqa: S603 - our own programs
            launcher + program,
            env=_environment(os.environ.items()) | {TOKEN: token},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            # Ctrl-C in a terminal reaches the whole group; the arena stops its bots by itself.
            start_new_session=True,
        )


def _full(bot: str) -> str:
    return f"{names.HOUSE}/{bot}"


def _environment(variables: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The environment without the settings of the arena, which are not the bot's."""
    return {
        name: value for name, value in variables if not name.startswith("HIMEJI_") or name in _KEPT
    }


def _listen(bot: str, process: subprocess.Popen[str]) -> int:
    """Pass on what a bot says, until it ends; in a thread of its own."""
    if process.stdout is not None:
        with process.stdout as lines:
            while line := lines.readline(_LONGEST_LINE):
                _log.warning("house bot says", bot=_full(bot), line=line.rstrip())
    code = process.wait()
    if process.stdin is not None:
        process.stdin.close()
    return code


def _end(process: subprocess.Popen[str]) -> None:
    """Wait for the end, and bring it about when it takes too long; in a thread of its own."""
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
