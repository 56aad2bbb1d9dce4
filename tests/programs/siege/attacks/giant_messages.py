"""Messages as large as they may be, in every RPC of the contract, built from its descriptors."""

import asyncio
import itertools
import time
from collections.abc import Iterator
from typing import NamedTuple

import grpc
from google.protobuf.descriptor import FieldDescriptor
from grpc.aio import AioRpcError
from himeji_sdk.connection import credentials
from himeji_server.rpc import rpc_handlers

from tests.programs.siege.arena import hostile_bot
from tests.programs.siege.attacks.attack import (
    CALL_SECONDS,
    LONGEST,
    NO_PACING,
    UNLIMITED,
    Attack,
    limit_values,
)

SIZES = (60_000, 500_000)
"""Bytes: what most methods might take, and a quarter of a million entries."""

REFUSED = ("MESSAGE_TOO_LARGE", "LIMIT_EXCEEDED", "RATE_LIMITED", "FORBIDDEN")
MOST_LOOKED_AT = 0.1
"""The share of messages that may be answered otherwise: some methods check the caller first."""

DEEPEST = 3
"""How many messages deep a field is filled: the games that a Hello resumes are so deep."""

VARINT_TYPES = frozenset(
    {
        *(FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_UINT32),
        *(FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SINT64),
        *(FieldDescriptor.TYPE_BOOL, FieldDescriptor.TYPE_ENUM),
    }
)
TEXT_TYPES = frozenset({FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES})


class Giant(NamedTuple):
    """A field of a method's request that can be filled without end."""

    path: str
    streaming: bool
    fields: tuple[FieldDescriptor, ...]
    """The way from the request to the field."""

    def body(self, size, game):
        """The request with about so many bytes in the field."""
        filled = _filled(self.fields[-1], size)
        for field in reversed(self.fields[:-1]):
            filled = _delimited(field, _context(field.message_type, self.fields, game) + filled)
        return _context(self.fields[0].containing_type, self.fields, game) + filled


def giants() -> Iterator[Giant]:
    """Every field of every request that can be filled without end."""
    for name, service in rpc_handlers.services().items():
        for method in service.methods:
            for fields in _endless(method.input_type, ()):
                yield Giant(f"/{name}/{method.name}", method.client_streaming, fields)


def _endless(message, above) -> Iterator[tuple[FieldDescriptor, ...]]:
    for field in message.fields:
        way = (*above, field)
        if field.is_repeated or field.type in TEXT_TYPES:
            yield way
        if field.message_type is not None and len(way) < DEEPEST:
            yield from _endless(field.message_type, way)


def _context(message, filled, game) -> bytes:
    """Values for other fields of a message, so that the arena does not stop at a missing one."""
    known = {"ruleset": "base", "ladder": "base-2p", "bot": hostile_bot(), "game_id": game}
    parts = [
        _delimited(field, known[field.name].encode())
        for field in message.fields
        if field.name in known and field.type in TEXT_TYPES and not field.is_repeated
        if field not in filled
    ]
    return b"".join(parts)


def _filled(field, size) -> bytes:
    if not field.is_repeated:
        return _delimited(field, b"x" * size)
    if field.type in VARINT_TYPES:
        return _delimited(field, b"\x01" * size)  # packed: a value for each byte
    entry = _delimited(field, b"")  # an empty message or text, the cheapest one to send
    return entry * (size // len(entry))


def _delimited(field, content) -> bytes:
    return _varint(field.number << 3 | 2) + _varint(len(content)) + content


def _varint(number) -> bytes:
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes((*parts, number))


class GiantMessages(Attack):
    """Sends the largest messages to every RPC, several at once, with a token for playing."""

    name = "giant messages"
    control = limit_values(
        message_bytes=2 * max(SIZES),
        play_message_bytes=2 * max(SIZES),
        list_entries=UNLIMITED,
        batch_messages=UNLIMITED,
        resumed_games=UNLIMITED,
        actions=UNLIMITED,
        name_length=UNLIMITED,
        text_length=UNLIMITED,
        **NO_PACING,
    )
    symptom = "of them were looked at"
    AT_ONCE = 8

    def prepare(self, target):
        # Those with the most entries first, which cost an arena without limits the most.
        self._giants = sorted(giants(), key=lambda each: not each.fields[-1].is_repeated)

    async def run(self, target):
        began = time.monotonic()
        once = [(size, each) for size in reversed(SIZES) for each in self._giants]
        rounds = enumerate(itertools.cycle(once))
        async with self.channels(target, self.AT_ONCE) as channels:

            async def send(channel):
                for number, (size, giant) in rounds:
                    passed = time.monotonic() - began
                    if passed > target.seconds and number >= len(once):
                        return
                    if passed > LONGEST * target.seconds:
                        self.told["messages not sent in time"] += len(once) - number
                        return
                    await self._send(channel, giant, giant.body(size, target.game), target.token)

            await asyncio.gather(*(send(channel) for channel in channels))

    def harm(self, told):
        """A giant message must be refused for its size, or because its sender may not call that."""
        looked_at = sum(n for answer, n in told.items() if not answer.endswith(REFUSED))
        share = looked_at / max(1, sum(told.values()))
        return f"{share:.0%} of them were looked at" if share > MOST_LOOKED_AT else ""

    async def _send(self, channel, giant, body, token):
        if not giant.streaming:
            await self.call(channel, giant.path, body, token)
            return
        try:
            call = channel.stream_stream(giant.path)(
                metadata=credentials(token), timeout=CALL_SECONDS
            )
            await call.write(body)
            await call.done_writing()
            while await call.read() is not grpc.aio.EOF:
                pass
            self.told["OK"] += 1
        except AioRpcError as error:
            self.refused(error)
        except grpc.aio.UsageError:
            self.told["stream ended"] += 1


ATTACKS = (GiantMessages,)
