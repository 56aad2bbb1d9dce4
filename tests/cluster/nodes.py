"""A Redis Cluster of one's own: nodes as processes on free ports, without any tool beside them."""

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import redis
from himeji_server.embedded import find_binary
from redis.exceptions import RedisError

PATIENCE = 120.0
"""Seconds after which something that should happen did not; generous, for slow machines."""

SLOTS = 16384
BUS = 10_000  # a node's bus listens this much above its port, so the port must leave room


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"in vain: waited until {what}"
        time.sleep(0.1)


def free_port():
    """A port below which, and above which by BUS, nobody listens."""
    for _ in range(200):
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            if port + BUS > 65535:
                continue
            with contextlib.suppress(OSError):
                other.bind(("127.0.0.1", port + BUS))
                return port
    raise AssertionError("there is no port with a free one above it")


class Node:
    """A server of the cluster."""

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
            self.client.close()  # somebody else took the port, or the one of its bus, meanwhile
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
        """Whether it says that the whole cluster works."""
        with contextlib.suppress(RedisError):
            return "cluster_state:ok" in self.raw("CLUSTER", "INFO")
        return False

    def raw(self, *command):
        """The text that it answers with, as it is."""
        with redis.Redis(port=self.port, socket_timeout=60) as client:
            client.set_response_callback(" ".join(command), lambda answer, **_: answer)
            return client.execute_command(*command).decode()

    def is_primary(self):
        with contextlib.suppress(RedisError):
            return self.client.info("replication")["role"] == "master"
        return False

    def kill(self):
        self._process.kill()
        self._process.wait()

    @property
    def killed(self):
        return self._process.poll() is not None


class Cluster:
    """Primaries with an equal share of the slots, and as many replicas of each."""

    def __init__(self, primaries=3, replicas=0):
        self._folder = Path(tempfile.mkdtemp(prefix="hj-"))
        self.nodes = []
        try:
            self._build(primaries, replicas)
        except BaseException:
            self.close()
            raise

    def _build(self, primaries, replicas):
        self.nodes += [Node(self._folder) for _ in range(primaries * (1 + replicas))]
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
            wait_until(
                lambda node=node: node.client.info("replication")["master_link_status"] == "up",
                "a replica follows its primary",
            )

    def _knows_all(self, node):
        known = [line.split() for line in node.raw("CLUSTER", "NODES").splitlines()]
        linked = [words for words in known if "handshake" not in words[2]]
        return len(linked) == len(self.nodes)

    def wait_until_ok(self):
        alive = [node for node in self.nodes if not node.killed]
        wait_until(lambda: all(node.ok() for node in alive), "the cluster works")

    @property
    def url(self):
        return self.nodes[0].url

    def keys_of(self, node):
        """How many keys a node has."""
        return node.client.dbsize()

    def move_slot(self, slot, source, target):
        """Move a slot with all its keys from one primary to another, as resharding does."""
        everybody = [node for node in self.nodes if not node.killed and node.is_primary()]
        target.client.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
        source.client.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)
        raw = redis.Redis(port=source.port)
        while keys := raw.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 100):
            raw.execute_command(
                "MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "REPLACE", "KEYS", *keys
            )
        for node in [target, source, *(n for n in everybody if n not in (source, target))]:
            node.client.execute_command("CLUSTER", "SETSLOT", slot, "NODE", target.id)

    def close(self):
        for node in self.nodes:
            node.client.close()
            if not node.killed:
                node.kill()
        shutil.rmtree(self._folder)
