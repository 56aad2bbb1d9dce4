"""Sends the messages: calls in parallel, and Play streams that carry many messages each."""

import asyncio
import contextlib
import itertools
import random

import grpc
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from himeji.v1.play_service_pb2 import ClientMessage, PlayRequest, PlayResponse
from himeji_server.rpc.rpc_handlers import methods

from tests.programs.wire_fuzz.messages import MessageMaker

AT_ONCE = 48
STREAM_SECONDS = 0.3
"""How long a stream of the arena is read before it is cut."""

CALL_SECONDS = 60.0
PER_STREAM = 150
PER_BATCH = 10
FATAL_SHARE = 0.02
"""Batches that end most streams: nonsense, or a second Hello."""

ENDS_TOKEN = ("/RevokeToken", "/RotateToken")
PLAY = "/himeji.v1.PlayService/Play"


def all_methods():
    """Every method of the arena with its path: the contract's, health and reflection."""
    found = dict(methods())
    for file in (health_pb2.DESCRIPTOR, reflection_pb2.DESCRIPTOR):
        for service in file.services_by_name.values():
            found |= {f"/{service.full_name}/{each.name}": each for each in service.methods}
    return found


class Sender:
    """Sends to one arena, by the chance of one seed."""

    def __init__(self, arena, population, verdict, seed):
        self._population, self._verdict = population, verdict
        self._random = random.Random(seed)
        self._maker = MessageMaker(self._random, population.known)
        self._methods = all_methods()
        self._players = itertools.cycle(population.players)
        self._channel = grpc.aio.insecure_channel(arena.address)

    async def send(self, count):
        """Send so many messages, a third of them on Play streams."""
        streams = max(1, count // 3 // PER_STREAM)
        unary = count - streams * PER_STREAM
        paths = [path for path in self._methods if path != PLAY]
        work = [paths[number % len(paths)] for number in range(unary)] + [PLAY] * streams
        self._random.shuffle(work)
        remaining = iter(work)

        async def worker():
            for path in remaining:
                await (self._play() if path == PLAY else self._call(path))

        await asyncio.gather(*(worker() for _ in range(AT_ONCE)))

    async def close(self):
        await self._channel.close()

    def _metadata(self, path):
        ends_token = path.endswith(ENDS_TOKEN)
        tokens = self._population.disposable_tokens if ends_token else self._population.tokens
        token = self._random.choice(tokens)
        return (("authorization", f"Bearer {token}"),) if token else ()

    async def _call(self, path):
        method, metadata = self._methods[path], self._metadata(path)
        raw = self._maker.bytes_of(method.input_type)
        try:
            if method.client_streaming:
                call = self._channel.stream_stream(path)(metadata=metadata, timeout=CALL_SECONDS)
                with contextlib.suppress(asyncio.InvalidStateError):
                    await call.write(raw)
                    await call.done_writing()
                await _drain(call)
            elif method.server_streaming:
                call = self._channel.unary_stream(path)(
                    raw, metadata=metadata, timeout=CALL_SECONDS
                )
                await _drain(call)
            else:
                await self._channel.unary_unary(path)(raw, metadata=metadata, timeout=CALL_SECONDS)
        except grpc.aio.AioRpcError as error:
            self._verdict.failed(path, error)
        else:
            self._verdict.answered(path)

    async def _play(self):
        """A stream with a good Hello, in half of the cases, and mutated messages after it."""
        call = self._channel.stream_stream(PLAY, response_deserializer=PlayResponse.FromString)(
            metadata=self._metadata(PLAY), timeout=CALL_SECONDS
        )
        reading = asyncio.create_task(self._read(call))
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            await call.write(self._hello())
            for _ in range(PER_STREAM // PER_BATCH):
                await call.write(self._batch())
            await call.done_writing()
        self._verdict.sent += PER_STREAM
        await reading

    def _hello(self):
        hello = ClientMessage()
        if self._random.random() < 0.8:
            hello.hello.protocol_version = 1
            hello.hello.bot = next(self._players)
        else:
            hello.hello.CopyFrom(self._maker.message(hello.hello.DESCRIPTOR))
        return PlayRequest(messages=[hello]).SerializeToString()

    def _batch(self):
        if self._random.random() < FATAL_SHARE:
            return self._maker.bytes_of(PlayRequest.DESCRIPTOR)
        messages = [self._maker.message(ClientMessage.DESCRIPTOR) for _ in range(PER_BATCH)]
        for message in messages:
            message.ClearField("hello")  # a second one ends the stream
        return PlayRequest(messages=messages).SerializePartialToString()

    async def _read(self, call):
        try:
            async for response in call:
                for message in response.messages:
                    self._verdict.message(PLAY, message)
        except grpc.aio.AioRpcError as error:
            self._verdict.failed(PLAY, error)


async def _drain(call):
    """Read a stream for a moment; one that goes on is cut."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(STREAM_SECONDS):
            while await call.read() is not grpc.aio.EOF:
                pass
            return
    call.cancel()
