"""A battlefield with a Redis Cluster of three primaries and three replicas, and its blows."""

import asyncio
from pathlib import Path

from himeji_server.store import keys
from himeji_server.store.cluster import slot_of

from tests.cluster.nodes import Cluster, wait_until
from tests.programs.chaos.deployment import SOUND, Field
from tests.programs.chaos.scenario import BLOWS

HASTY = (str(Path(__file__).with_name("server_without_replica_wait.py")),)
"""A planted fault: an arena that does not wait until replicas have what it answers for."""

BYTES_LATE = 10_000
LOOKS = 100
SECONDS_BETWEEN_LOOKS = 0.05


class ClusterField(Field):
    """Arenas on a cluster."""

    def __init__(self, *, arenas=2, program=SOUND):
        super().__init__(arenas=arenas, program=program)
        self.cluster = None

    @property
    def redis_url(self):
        """Any node that is there shows the way to all others."""
        return next(node.url for node in self.cluster.nodes if not node.killed)

    async def start_redis(self):
        self.cluster = await asyncio.to_thread(Cluster, primaries=3, replicas=1)

    async def kill_redis(self):
        if self.cluster is not None:
            await asyncio.to_thread(self.cluster.close)


async def primary(arena_field):
    """A primary is killed; its replica takes over, and the killed one comes back as a replica."""
    lost, replica = _pair(arena_field.cluster)
    lost.kill()
    await asyncio.to_thread(_replaced, lost, replica)


async def primary_before_its_replica_knew(arena_field, arenas=()):
    """A primary is killed, arenas too, and its replica has not got the last that was written."""
    lost, replica = _pair(arena_field.cluster)
    replica.cut_off_from(lost)
    await _until_late(lost, replica)
    for arena in arenas:
        await arena.kill()
    lost.kill()
    replica.let_follow()
    await asyncio.to_thread(_replaced, lost, replica)
    await asyncio.gather(*(arena.start() for arena in arenas))


async def primary_and_all_who_knew(arena_field):
    """The same, and no arena is left that remembers what was written."""
    await primary_before_its_replica_knew(arena_field, arena_field.arenas)


async def every_slot(arena_field):
    """All slots that games are in move to another primary, one after the other."""
    cluster = arena_field.cluster
    for slot in sorted({slot_of(keys.timers(bucket)) for bucket in range(keys.BUCKETS)}):
        home = cluster.home_of(slot)
        await asyncio.to_thread(cluster.move_slot, slot, home, cluster.next_to(home))


def _pair(cluster):
    """A primary and its replica."""
    lost = cluster.primaries()[0]
    [replica] = cluster.replicas_of(lost)
    return lost, replica


def _replaced(lost, replica):
    """Wait until a replica does the work of a killed node, and let that one come back."""
    wait_until(replica.is_primary, "the replica has taken over")
    wait_until(replica.ok, "the cluster works again")
    lost.start()
    wait_until(lost.is_linked, "the node that was killed follows the one that took over")


async def _until_late(lost, replica):
    """Wait until much was written that the replica has not got, or nothing more is written."""
    for _ in range(LOOKS):
        if lost.offset() - replica.offset() > BYTES_LATE:
            return
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)


CLUSTER_BLOWS = BLOWS | {
    "primary": primary,
    "primary before its replica knew": primary_before_its_replica_knew,
    "primary and all who knew": primary_and_all_who_knew,
    "every slot": every_slot,
}
