"""`himeji serve` whose recomputations stop the event loop until they are done.

For the control of `make long-season`: without processes of their own, voids and recomputations keep
everybody waiting.
"""

import asyncio
import threading
from contextlib import aclosing

from himeji_sdk._cli import main
from himeji_server.ladder import assembly
from himeji_server.ladder.recomputation_jobs import run_job
from himeji_server.store import Store


async def run_in_event_loop(url, job):
    """Do a job while nobody else is answered."""
    steps = []

    async def collect():
        store = await Store.connect(url)
        async with aclosing(run_job(store, job)) as done:
            steps.extend([step async for step in done])
        await store.close()

    thread = threading.Thread(target=lambda: asyncio.run(collect()))
    thread.start()
    thread.join()
    for step in steps:
        yield step


if __name__ == "__main__":
    assembly.run_in_worker = run_in_event_loop
    main(prog_name="himeji")
