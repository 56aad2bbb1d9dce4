"""The program of one worker; its parent (worker_pool.py) starts and ends it."""

import asyncio
import os
import sys

import structlog
from himeji.components import use_environment
from himeji.rules.errors import StoreUnavailable

from himeji_server import log, metrics
from himeji_server.accounts.accounts import Accounts
from himeji_server.launch.runtime import run_until_signalled
from himeji_server.launch.server_process import serving
from himeji_server.launch.worker_pool import READY, VARIABLE, from_json
from himeji_server.settings import Settings
from himeji_server.startup_errors import StartRefusedError
from himeji_server.store import Store, StoreRefusedError

_log = structlog.get_logger(__name__)


def main() -> int:
    """Answer calls until the parent sends SIGTERM; returns the exit code."""
    number, settings = from_json(os.environ.pop(VARIABLE))
    log.configure(settings.log_format)
    structlog.contextvars.bind_contextvars(process=number)
    use_environment()
    try:
        run_until_signalled(lambda: _serve(settings))
    except (StartRefusedError, StoreRefusedError, StoreUnavailable) as error:
        _log.error("server process cannot start", why=str(error))
        return 1
    return 0


async def _serve(settings: Settings) -> None:
    if settings.redis is None:
        raise StartRefusedError("a server process of several needs a Redis")
    store = await Store.connect(settings.redis)
    try:
        accounts = Accounts(store, settings.accounts, dev=settings.dev)
        with metrics.served(settings.metrics_port):
            async with serving(settings, store, accounts):
                sys.stdout.write(f"{READY}\n")
                sys.stdout.flush()
                await asyncio.Event().wait()
    finally:
        await store.close()


if __name__ == "__main__":
    sys.exit(main())
