"""The program of one world: an arena whose ids, times and secrets are not left to chance.

Ids and times are the same in both worlds. The secrets of the games are not, so the keys differ; the
commitment, which is public and the hash of a secret, is the same by a patch. The results of chance
are those of the deal up to its cut, and the key's own after it.

With `leaks`, the arena tells what it must not, in as many ways as there are in LEAKS.
"""

import asyncio
import gc
import hashlib
import json
import random
import sys
from pathlib import Path

from himeji.rules.chance import Keyed, Scripted
from himeji.wire.chain import chance_key
from himeji_server import log, metrics
from himeji_server.accounts import idempotency
from himeji_server.games import commands, live_game, store_clock
from himeji_server.launch.serve import open_arena
from himeji_server.limits import AccountLimits, Limits
from himeji_server.play import dispatcher, subscriptions
from himeji_server.rpc import game_service
from himeji_server.settings import Settings
from himeji_server.store import replies
from himeji_server.store.pipelining import Script
from himeji_server.web import middleware

from tests.programs.two_worlds.deals import ENTROPY

NOW_MS = 1_800_000_000_000
UNLIMITED = 1_000_000


class SameIds:
    """Stands for the module `secrets`: the same ids in both worlds."""

    def __init__(self):
        self._random = random.Random(1)

    def token_hex(self, size):
        return self._random.randbytes(size).hex()


def stop_the_clock():
    """Make the store's time, which all others follow, stand still."""
    for script in [each for each in gc.get_objects() if isinstance(each, Script)]:
        script.text = script.text.replace(
            "redis.call('TIME')", f"{{'{NOW_MS // 1000}', '{NOW_MS % 1000}'}}"
        )
        script.digest = hashlib.sha1(script.text.encode(), usedforsecurity=False).hexdigest()
    replies.milliseconds = lambda _reply: NOW_MS
    store_clock.StoreClock.now = lambda _self: NOW_MS


def fix_chance(secrets, deals):
    """Give the games, as they are created, these secrets and the results of the deals."""
    results = {
        chance_key(secret, [ENTROPY] * seats): given
        for secret, (_, seats, _, _, given) in zip(secrets, deals, strict=True)
    }
    following = iter(secrets)
    commands.new_secret = lambda: next(following)
    commands.commitment = lambda _secret: bytes(32)
    live_game.Keyed = lambda key: Scripted(results[key], after=Keyed(key))


def leak_by_commitment(secrets):
    """The commitment of the first game is its secret."""
    commands.commitment = lambda secret: secret if secret == secrets[0] else bytes(32)


def leak_by_decision(secrets):
    """The decisions of the second game carry a byte of its secret."""
    write = subscriptions.write_decision

    def write_more(out, view, *rest):
        write(out, view, *rest)
        if view.stored.secret == secrets[1]:
            out.strikes = 1 + view.stored.secret[0]

    subscriptions.write_decision = write_more


def leak_by_future(secrets):
    """GetGame of the third game tells what chance will give."""
    describe = game_service.game_message

    def describe_more(view, connected):
        out = describe(view, connected)
        if view.stored.secret == secrets[2]:
            entropy = [seat.entropy for seat in view.stored.seats]
            out.strike_limit = Keyed(chance_key(secrets[2], entropy)).roll("next", 1_000_000)
        return out

    game_service.game_message = describe_more


def leak_by_refusal(secrets):
    """A refused answer of the fourth game names a byte of its secret."""
    refuse = dispatcher.refused_answer

    def refuse_more(error, view, *rest):
        out = refuse(error, view, *rest)
        if view.stored.secret == secrets[3]:
            out.message += f" {view.stored.secret[0]}"
        return out

    dispatcher.refused_answer = refuse_more


def leak_by_page(secrets):
    """The page has a header made of a secret."""
    middleware.HEADERS["x-room"] = secrets[0].hex()


def leak_by_metric(secrets):
    """A metric counts a byte of a secret."""
    metrics.CALLS.labels("dice", "OK").inc(1 + secrets[0][0])


LEAKS = (
    leak_by_commitment,
    leak_by_decision,
    leak_by_future,
    leak_by_refusal,
    leak_by_page,
    leak_by_metric,
)


async def serve(settings):
    async with open_arena(settings) as arena:
        facts = {
            "grpc": arena.port,
            "http": arena.http_port,
            "metrics": arena.metrics_ports[0],
            "token": (settings.data / "token").read_text().strip(),
        }
        sys.stdout.write(f"{json.dumps(facts)}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)  # until the harness closes it


def main():
    world, folder, leaky, deals = json.loads(sys.stdin.readline())
    stop_the_clock()
    idempotency.secrets = SameIds()
    secrets = [hashlib.sha256(f"{world} {n}".encode()).digest() for n in range(len(deals))]
    fix_chance(secrets, deals)
    for leak in LEAKS if leaky else ():
        leak(secrets)
    limits = Limits(calls_per_second=UNLIMITED, calls_at_once=UNLIMITED)
    accounts = AccountLimits(bots_per_owner=UNLIMITED, bot_names_per_owner=UNLIMITED)
    ports = {"port": 0, "http_port": 0, "metrics_port": 0}
    log.configure("json")
    settings = Settings(data=Path(folder), limits=limits, accounts=accounts, **ports)
    asyncio.run(serve(settings))


if __name__ == "__main__":
    main()
