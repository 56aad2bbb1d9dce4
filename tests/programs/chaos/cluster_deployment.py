"""Arenas on a Redis Cluster of three primaries and three replicas, and its disruptions."""

import asyncio
from pathlib import Path

from himeji_server.store import keys
from himeji_server.store.cluster import slot_of

from loadtest.arena import POLL_SECONDS
from tests.cluster.nodes import Cluster, wait_until
from tests.programs.chaos.deployment import SERVER, Deployment
from tests.programs.chaos.scenario import DISRUPTIONS

SERVER_WITHOUT_REPLICA_WAIT = (str(Path(__file__).with_name("server_without_replica_wait.py")),)
"""A planted fault: an arena that acknowledges what no replica has received."""

LAG_BYTES = 10_000
MAX_LAG_POLLS = 100


class ClusterDeployment(Deployment):
    """Arenas on a cluster."""

    def __init__(self, *, arenas=2, program=SERVER):
        super().__init__(arenas=arenas, program=program)
        self.cluster = None

    @property
    def redis_url(self):
        """Any node that is up; arenas find the others through it."""
        return next(node.url for node in self.cluster.nodes if not node.killed)

    async def start_redis(self):
        self.cluster = await asyncio.to_thread(Cluster, primaries=3, replicas=1)

    async def kill_redis(self):
        if self.cluster is not None:
            await asyncio.to_thread(self.cluster.close)


async def _kill_primary(deployment):
    """Kill a primary; its replica takes over, and the killed node returns as a replica."""
    killed, replica = _primary_with_replica(deployment.cluster)
    killed.kill()
    await asyncio.to_thread(_wait_for_failover, killed, replica)


async def _kill_primary_with_lagging_replica(deployment, arenas=()):
    """Kill a primary whose replica has not received the last writes, and arenas with it."""
    killed, replica = _primary_with_replica(deployment.cluster)
    replica.stop_replication(killed)
    await _wait_for_lag(killed, replica)
    for arena in arenas:
        await arena.kill()
    killed.kill()
    replica.resume_replication()
    await asyncio.to_thread(_wait_for_failover, killed, replica)
    await asyncio.gather(*(arena.start() for arena in arenas))


async def _kill_primary_with_lagging_replica_and_arenas(deployment):
    """The same, and every arena that could remember the last writes."""
    await _kill_primary_with_lagging_replica(deployment, deployment.arenas)


async def _move_every_slot(deployment):
    """Move all slots that games are in to another primary, one after the other."""
    cluster = deployment.cluster
    for slot in sorted({slot_of(keys.timers(bucket)) for bucket in range(keys.BUCKETS)}):
        source = cluster.primary_of(slot)
        await asyncio.to_thread(cluster.move_slot, slot, source, cluster.other_primary(source))


def _primary_with_replica(cluster):
    primary = cluster.primaries()[0]
    [replica] = cluster.replicas_of(primary)
    return primary, replica


def _wait_for_failover(killed, replica):
    """Wait until the replica has taken over, then start the killed node again."""
    wait_until(replica.is_primary, "the replica has taken over")
    wait_until(replica.ok, "the cluster works again")
    killed.start()
    wait_until(killed.is_linked, "the killed node replicates the new primary")


async def _wait_for_lag(primary, replica):
    """Wait until the replica lags by LAG_BYTES, or for some seconds if nothing more is written."""
    for _ in range(MAX_LAG_POLLS):
        if primary.offset() - replica.offset() > LAG_BYTES:
            return
        await asyncio.sleep(POLL_SECONDS)


CLUSTER_DISRUPTIONS = DISRUPTIONS | {
    "primary": _kill_primary,
    "primary with lagging replica": _kill_primary_with_lagging_replica,
    "primary with lagging replica, and arenas": _kill_primary_with_lagging_replica_and_arenas,
    "every slot": _move_every_slot,
}
