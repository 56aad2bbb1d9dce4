"""One attack on one arena: what the honest clients saw before and meanwhile, and the verdict.

The baseline is measured while another process burns a processor at the attacker's own priority, so
that what is compared is the arena, and not how busy the machine is.
"""

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
import time
from collections import Counter

from himeji_server.launch import die_with_parent

from loadtest.arena import clean_environment
from tests.programs.siege import arena, records, stored_games
from tests.programs.siege.attacker import LEAST_PRIORITY
from tests.programs.siege.attacks.attack import TRACES, Target
from tests.programs.siege.honest_clients import DEADLINE
from tests.programs.siege.measurements import SAMPLE_SECONDS, Bounds, Memory, Outcome, Phase

STEADY = (records.DECISION, records.PAGE, records.CONNECT, "GetGame", "SubmitActions", "WhoAmI")
"""The honest calls that are made all the time: after an attack, each must be answered again."""

BURNER = f"import os; os.nice({LEAST_PRIORITY})\nwhile True: pass"
SETTLE_SECONDS = 0.5
"""After an attack, before memory counts as that of afterwards."""

ATTACK_GRACE = 60.0
"""How much longer than planned an attack may take before its process is ended."""


class Scenario:
    """An attack on an arena with these limits."""

    def __init__(self, attack, limits, *, seconds, baseline_seconds):
        self._attack, self._limits = attack, {**attack.limits, **limits}
        self._seconds, self._baseline_seconds = seconds, baseline_seconds

    def run(self, *, times):
        """Attack so many times, one after the other; the outcome.

        If the last of several took more memory, there is one more attack: how much of a flood comes
        before it is stopped is chance, but what is never freed adds up every time.
        """
        with contextlib.ExitStack() as stack:
            # Started first, so that they are loaded by the time the arena is open.
            honest = stack.enter_context(python_process("-m", f"{__package__}.honest_clients"))
            attackers = [
                stack.enter_context(python_process("-m", f"{__package__}.attacker"))
                for _ in range(times + 1 if times > 1 else 1)
            ]
            folder = stack.enter_context(arena.temporary_folder())
            besieged = stack.enter_context(self._arena(folder))
            # Killed before the arena ends, so that they do not complain about that.
            stack.callback(honest.kill)
            self._fill(besieged)
            calls = folder / "calls"
            introduce(honest, self._honest_facts(besieged, calls))
            for attacker in attackers:
                introduce(attacker, self._hostile_facts(besieged))
            memory = stack.enter_context(Memory(besieged.arena.pid))
            return self._measure(besieged, calls, memory, honest, attackers, times=times)

    def _arena(self, folder):
        registration, bots = self._attack.open_registration, self._attack.hostile_bots
        return arena.running(
            folder, self._limits, open_registration=registration, hostile_bots=bots
        )

    def _measure(self, besieged, calls, memory, honest, attackers, *, times):
        with python_process("-c", BURNER):
            before = self._phase(besieged, memory, lambda: time.sleep(self._baseline_seconds))
        idle, phases, unanswered = memory.now, [], []
        for attacker in attackers:
            if len(phases) >= times and not Bounds().has_grown([each.peak for each in phases]):
                break
            phases.append(self._phase(besieged, memory, lambda each=attacker: self._let(each)))
            unanswered += self._wait_for_answers(honest, calls, phases[-1].ended)
            time.sleep(SETTLE_SECONDS)
        besieged.arena.check()
        if self._attack.traces:
            phases[0].told[TRACES] = besieged.log_lines(self._attack.traces)
        found = records.read(calls)
        return Outcome(
            idle=idle,
            after=memory.now,
            before=before,
            attacks=phases,
            calls_before=records.Window.of(found, before.started, before.ended),
            calls_meanwhile=records.Window.of(found, phases[0].started, phases[times - 1].ended),
            calls_since=records.Window.of(found, phases[0].started, time.monotonic()),
            unanswered=unanswered,
            harm=self._attack.harm(phases[0].told),
            log_is_bounded=self._attack.log_is_bounded,
        )

    def _fill(self, besieged):
        redis, attack = besieged.arena.redis, self._attack
        if attack.finished_games:
            asyncio.run(stored_games.add_finished_games(redis, attack.finished_games))
        if attack.rated_results:
            asyncio.run(stored_games.add_rated_results(redis, attack.rated_results))

    def _honest_facts(self, besieged, calls):
        return {
            "target": besieged.arena.target,
            "page": besieged.arena.page,
            "token": besieged.honest_token,
            "records": str(calls),
        }

    def _hostile_facts(self, besieged):
        admin = self._attack.uses_admin_token
        target = Target(
            address=besieged.arena.target,
            page=besieged.arena.page.removeprefix("http://"),
            token=besieged.admin_token if admin else besieged.hostile_token,
            game=besieged.game,
            seconds=self._seconds,
        )
        return {"attack": self._attack.name, **vars(target)}

    def _phase(self, besieged, memory, action):
        """Measure an action; what it returns is what the attacker was told."""
        memory.take_peak()
        log, started = besieged.log_bytes(), time.monotonic()
        told = action()
        ended = time.monotonic()
        grown = besieged.log_bytes() - log
        return Phase(started, ended, memory.take_peak(), grown, told or Counter())

    def _let(self, attacker):
        """Let a process attack; what the arena told it, by how often."""
        timer = threading.Timer(self._seconds + ATTACK_GRACE, attacker.kill)
        timer.start()
        try:
            write_line(attacker, "attack")
            line = attacker.stdout.readline()
        finally:
            timer.cancel()
        return Counter(json.loads(line)) if line else Counter({"the attack did not end": 1})

    def _wait_for_answers(self, honest, calls, ended):
        """Wait until each kind of call was answered after a moment; those that were not."""
        until = time.monotonic() + 2 * DEADLINE
        expected = STEADY
        if self._attack.open_registration:
            write_line(honest, "register")
            expected = (*STEADY, records.REGISTER)
        while True:
            later = {each.kind for each in records.read(calls) if each.started >= ended}
            missing = [kind for kind in expected if kind not in later]
            if not missing or time.monotonic() > until:
                return missing
            time.sleep(SAMPLE_SECONDS)


@contextlib.contextmanager
def python_process(*arguments):
    """Run Python with pipes to talk to it, for a `with` block; it dies with this process."""
    process = subprocess.Popen(
        die_with_parent.command([sys.executable, *arguments]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=clean_environment() | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def introduce(process, facts):
    """Tell a process what it has to know, and wait until it is ready."""
    write_line(process, json.dumps(facts))
    if not process.stdout.readline():
        raise RuntimeError(f"{process.args[-1]} did not start")


def write_line(process, text):
    process.stdin.write(f"{text}\n")
    process.stdin.flush()
