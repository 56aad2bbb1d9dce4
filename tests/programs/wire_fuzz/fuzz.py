"""One run of the fuzzer: messages in parts, memory between them, the log at the end."""

import re
from typing import NamedTuple

from tests.programs.wire_fuzz.answers import Verdict
from tests.programs.wire_fuzz.arena import populate, running_arena
from tests.programs.wire_fuzz.sender import Sender

FAULT = re.compile(r'"level": "(error|critical)"|Traceback')
MOST_GROWTH = 0.25
"""Of the server's memory, between the second quarter of the messages and the last."""

MOST_REDIS_BYTES = 1_000
"""Of Redis's memory for each message: what a message may leave behind at most, on average."""


class Report(NamedTuple):
    """What a run found."""

    verdict: Verdict
    memory: list


async def fuzz(count, seed, *options, say=lambda _line: None):
    """Send so many messages in four parts; the options are those of server.py."""
    verdict = Verdict()
    with running_arena(*options) as arena:
        population = populate(arena)
        sender = Sender(arena, population, verdict, seed)
        memory = [arena.memory()]
        for _ in range(4):
            await sender.send(count // 4)
            arena.check()
            memory.append(arena.memory())
            say(f"{verdict.sent} messages, {_megabytes(memory[-1])}, {dict(verdict.codes)}")
        await sender.close()
        _check_memory(verdict, memory)
        for line in arena.log.splitlines():
            if FAULT.search(line):
                verdict.find("log", line)
    return Report(verdict, memory)


def _check_memory(verdict, memory):
    settled, last = memory[2], memory[-1]
    if last.server > settled.server * (1 + MOST_GROWTH):
        verdict.find("memory", f"the server grew: {', '.join(map(_megabytes, memory))}")
    if last.redis - memory[0].redis > MOST_REDIS_BYTES * verdict.sent:
        verdict.find("memory", f"Redis grew: {', '.join(map(_megabytes, memory))}")


def _megabytes(memory):
    return f"server {memory.server >> 20} MB, Redis {memory.redis / (1 << 20):.1f} MB"
