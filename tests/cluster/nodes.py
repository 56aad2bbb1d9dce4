"""A Redis Cluster of processes on free ports, set up without redis-cli."""

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import redis
from himeji_server.launch.embedded_redis import find_binary
from redis.exceptions import RedisError

TIMEOUT = 120.0
"""Seconds for anything that should happen soon; generous, for slow machines."""

SLOTS = 16384
BUS_OFFSET = 10_000  # the port of a node's bus, above its own port


def wait_until(condition, what):
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, f"timed out: waited until {what}"
        time.sleep(0.1)


def free_port():
    """A free port whose bus port is free, too."""
    for _ in range(200):
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            if port + BUS_OFFSET > 65535:
                continue
            with contextlib.suppress(OSError):
                other.bind(("127.0.0.1", port + BUS_OFFSET))
                return port
    raise AssertionError("no port with a free bus port was found")


class Node:
    """A Redis process of the cluster."""

    def __init__(self, folder, settings=()):
        self._folder = Path(tempfile.mkdtemp(dir=folder))
        self._settings = settings
        self._process = None
        for _ in range(20):
            self.port = free_port()
            self.client = redis.Redis(port=self.port, decode_responses=True, socket_timeout=60)
            self.start()
            if not self.killed:
                break
            self.client.close()  # another process took one of the ports meanwhile
        self.id = self.client.execute_command("CLUSTER", "MYID")

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def start(self):
        command = [str(find_binary()), "--port", str(self.port), "--bind", "127.0.0.1"]
        command += ["--dir", str(self._folder), "--save", "", "--appendonly", "yes"]
        command += ["--appendfsync", "always", "--maxmemory-policy", "noeviction"]
        command += ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000", *self._settings]
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"LC_ALL": "C"}
        )
        wait_until(lambda: self.killed or self.answers(), f"the node on {self.port} answers")

    def answers(self):
        with contextlib.suppress(RedisError):
            return self.client.ping()
        return False

    def ok(self):
        """Whether it considers the whole cluster to work."""
        with contextlib.suppress(RedisError):
            return "cluster_state:ok" in self.raw("CLUSTER", "INFO")
        return False

    def raw(self, *command):
        """The reply of a command as text, not parsed."""
        with redis.Redis(port=self.port, socket_timeout=60) as client:
            client.set_response_callback(" ".join(command), lambda answer, **_: answer)
            return client.execute_command(*command).decode()

    def is_primary(self):
        with contextlib.suppress(RedisError):
            return self.client.info("replication")["role"] == "master"
        return False

    def offset(self):
        """Its replication offset in bytes."""
        facts = self.client.info("replication")
        return facts["master_repl_offset" if facts["role"] == "master" else "slave_repl_offset"]

    def slots(self):
        """The slots that it owns."""
        [row] = [
            line.split()
            for line in self.raw("CLUSTER", "NODES").splitlines()
            if self.id in line.split()[0]
        ]
        for each in row[8:]:
            first, _, last = each.partition("-")
            if first.isdecimal():  # the others are slots that migrate
                yield from range(int(first), int(last or first) + 1)

    def is_linked(self):
        """Whether it is a replica that is connected to its primary."""
        with contextlib.suppress(RedisError):
            return self.client.info("replication").get("master_link_status") == "up"
        return False

    def is_serving(self):
        return self.is_primary() or self.is_linked()

    def counts_replicas(self, number):
        """Whether it knows that many replicas of every slot."""
        rows = self.client.execute_command("CLUSTER", "SLOTS")
        return all(len(replicas) == number for _, _, _, *replicas in rows)

    def stop_replication(self, primary):
        """Receive nothing more from the primary, although both are up."""
        self.client.config_set("masterauth", "not-its-password")
        primary.client.execute_command("CLIENT", "KILL", "TYPE", "replica")

    def resume_replication(self):
        """Connect to the primary again, if it is up."""
        self.client.config_set("masterauth", "")

    def kill(self):
        self._process.kill()
        self._process.wait()

    def send_signal(self, number):
        self._process.send_signal(number)

    @property
    def killed(self):
        return self._process.poll() is not None


class Cluster:
    """Primaries with an equal share of the slots, and the same number of replicas for each."""

    def __init__(self, primaries=3, replicas=0, settings=()):
        self._folder = Path(tempfile.mkdtemp(prefix="hj-"))
        self._settings = settings
        self.nodes = []
        try:
            self._build(primaries, replicas)
        except BaseException:
            self.close()
            raise

    def _build(self, primaries, replicas):
        self.nodes += [
            Node(self._folder, self._settings) for _ in range(primaries * (1 + replicas))
        ]
        first, *others = self.nodes
        for number, node in enumerate(self.nodes[:primaries]):
            start, end = (SLOTS * each // primaries for each in (number, number + 1))
            node.client.execute_command("CLUSTER", "ADDSLOTSRANGE", start, end - 1)
        for node in others:
            first.client.execute_command("CLUSTER", "MEET", "127.0.0.1", node.port)
        wait_until(lambda: all(self._knows_all(node) for node in self.nodes), "all nodes have met")
        for number, node in enumerate(self.nodes[primaries:]):
            of = self.nodes[number % primaries].id
            node.client.execute_command("CLUSTER", "REPLICATE", of)
        self.wait_until_ok()
        for number in range(primaries, len(self.nodes)):
            node = self.nodes[number]
            wait_until(node.is_linked, "a replica is connected to its primary")
        wait_until(
            lambda: all(node.counts_replicas(replicas) for node in self.nodes),
            "every node knows the replicas",
        )

    def _knows_all(self, node):
        known = [line.split() for line in node.raw("CLUSTER", "NODES").splitlines()]
        linked = [row for row in known if "handshake" not in row[2]]
        return len(linked) == len(self.nodes)

    def wait_until_ok(self):
        alive = [node for node in self.nodes if not node.killed]
        wait_until(lambda: all(node.ok() for node in alive), "the cluster works")

    @property
    def url(self):
        return self.nodes[0].url

    def kill(self):
        """Kill every node."""
        for node in self.nodes:
            node.kill()

    def start(self):
        """Start the nodes that were killed, and wait until the cluster works."""
        started = [node for node in self.nodes if node.killed]
        for node in started:
            node.start()
        self.wait_until_ok()
        for node in started:
            wait_until(node.is_serving, "a node is a primary or replicates one")
        return self

    def send_signal(self, number):
        for node in self.nodes:
            node.send_signal(number)

    def is_alive(self):
        return not any(node.killed for node in self.nodes)

    def primaries(self):
        """The nodes that are up and own slots."""
        return [node for node in self.nodes if not node.killed and node.is_primary()]

    def primary_of(self, slot):
        """The primary that owns a slot."""
        return next(node for node in self.primaries() if slot in node.slots())

    def other_primary(self, node):
        primaries = self.primaries()
        return primaries[(primaries.index(node) + 1) % len(primaries)]

    def replicas_of(self, primary):
        """The replicas of a primary."""
        rows = [line.split() for line in primary.raw("CLUSTER", "NODES").splitlines()]
        ids = {row[0] for row in rows if row[3] == primary.id}
        return [node for node in self.nodes if node.id in ids]

    def empty(self):
        """Start killed nodes and delete all keys."""
        self.start()
        for node in self.primaries():
            node.client.flushall()

    def key_count(self, node):
        return node.client.dbsize()

    def move_slot(self, slot, source, target):
        """Move a slot with all its keys from one primary to another, as resharding does."""
        primaries = self.primaries()
        target.client.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
        source.client.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)
        raw = redis.Redis(port=source.port)
        while keys := raw.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 100):
            raw.execute_command(
                "MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "REPLACE", "KEYS", *keys
            )
        for node in [target, source, *(n for n in primaries if n not in (source, target))]:
            node.client.execute_command("CLUSTER", "SETSLOT", slot, "NODE", target.id)

    def close(self):
        for node in self.nodes:
            node.client.close()
            if not node.killed:
                node.kill()
        shutil.rmtree(self._folder)
