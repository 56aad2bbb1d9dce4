"""A Redis Cluster, arenas on it, and HAProxy with the shipped configuration before them."""

import contextlib
import csv
import io
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from loadtest.arena import STOP_TIMEOUT, clean_environment, free_port, stop_process
from tests.cluster.nodes import Cluster, wait_until

HAPROXY = Path(__file__).parents[3] / "deploy" / "haproxy"
PUBLISHED_PORT = "127.0.0.1:50051"
"""The balancer's address in the shipped configuration; arenas are found there by their names."""

CONTROL = "global\n  stats socket {} mode 600 level operator\n\n"
ARENAS = 3
_READ_BYTES = 1 << 16


class BalancedArena:
    """`himeji serve` with a fixed port, so that the balancer finds it after a restart."""

    def __init__(self, deployment, number):
        self.name = f"arena-{number + 1}"
        self.port = free_port()
        self.log = deployment.folder / f"{self.name}.log"
        self._command = [sys.executable, "-m", "himeji_sdk", "serve", "--port", str(self.port)]
        self._command += [
            "--redis",
            deployment.cluster.nodes[number % len(deployment.cluster.nodes)].url,
        ]
        self._command += [
            "--data",
            str(deployment.folder),
            "--http-port",
            "none",
            "--house",
            "none",
        ]
        self._command += ["--log-format", "json", "--bots-per-owner", "1000"]
        self._process = None

    def start(self):
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, env=clean_environment()
            )

    def stop(self):
        """Stop gracefully; the exit code must be 0."""
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(STOP_TIMEOUT)
        assert code == 0, f"{self.name} stopped with exit code {code}: {self.log_tail()}"

    def kill(self):
        self._process.kill()
        self._process.wait()

    def close(self):
        if self._process is not None:
            stop_process(self._process)

    def log_tail(self):
        return self.log.read_text()[-2000:]


class BalancedDeployment:
    """Cluster, arenas and balancer, for a `with` block."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="hj-"))
        self._stack = contextlib.ExitStack()
        self._stack.callback(shutil.rmtree, self.folder)

    def __enter__(self):
        with contextlib.ExitStack() as failing:
            failing.callback(self._stack.close)
            self.cluster = self._stack.enter_context(contextlib.closing(Cluster(primaries=3)))
            self.arenas = [BalancedArena(self, number) for number in range(ARENAS)]
            for arena in self.arenas:
                self._stack.callback(arena.close)
                arena.start()
            self._start_balancer()
            failing.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    @property
    def token(self):
        return (self.folder / "token").read_text().strip()

    def _start_balancer(self):
        self.target = f"127.0.0.1:{free_port()}"
        settings = self.folder / "balancer.cfg"
        settings.write_text(CONTROL.format(self.folder / "haproxy.sock") + self._configuration())
        command = ["haproxy", "-db", "-f", HAPROXY / "defaults.cfg", "-f", settings]
        with (self.folder / "haproxy.log").open("w") as log:
            balancer = subprocess.Popen(command, stdout=log, stderr=log)
        self._stack.callback(balancer.wait)
        self._stack.callback(balancer.terminate)
        wait_until((self.folder / "haproxy.sock").exists, "the balancer listens")
        self.wait_until_up(*self.arenas)

    def _configuration(self):
        """The shipped configuration with the ports of this deployment."""
        text = (HAPROXY / "balancer.cfg").read_text().replace(PUBLISHED_PORT, self.target)
        for arena in self.arenas:
            text, found = re.subn(rf"({arena.name} 127\.0\.0\.1):\d+", rf"\1:{arena.port}", text)
            assert found == 1, f"{arena.name} is not in the shipped configuration"
        return text

    def wait_until_up(self, *arenas):
        """Wait until the balancer considers the arenas healthy."""
        names = {each.name for each in arenas}
        wait_until(lambda: names <= self._healthy(), f"the balancer considers {names} healthy")

    def _healthy(self):
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(str(self.folder / "haproxy.sock"))
            control.sendall(b"show stat\n")
            text = b"".join(iter(lambda: control.recv(_READ_BYTES), b"")).decode()
        rows = csv.DictReader(io.StringIO(text.removeprefix("# ")))
        return {row["svname"] for row in rows if row["status"] == "UP"}
