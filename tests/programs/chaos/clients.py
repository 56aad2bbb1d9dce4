"""Bots that play on through every disruption, by streams or by unary calls, and retry."""

import asyncio
import random
from collections import defaultdict
from contextlib import suppress

import grpc
from google.protobuf.duration_pb2 import Duration
from himeji.v1 import (
    game_service_pb2 as games,
    game_service_pb2_grpc,
    play_service_pb2 as play,
    play_service_pb2_grpc,
)
from himeji.v1.errors_pb2 import ErrorReason
from himeji_sdk.connection import proxy_options

from loadtest.arena import POLL_SECONDS
from tests.server.arena_client import reason_of

# What a kill may cause; every other error is unexpected.
_RETRYABLE_CODES = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.CANCELLED,
)
_RETRYABLE_REASONS = ("UNAVAILABLE", "STORE_UNAVAILABLE", "DRAINING", "RATE_LIMITED")
_TOO_LATE = ("SEAT_LOST", "GAME_ENDED")  # the client's own resignation was faster
CALL_SECONDS = 20.0


class Channels:
    """Channels to the arenas of a deployment."""

    def __init__(self, deployment, seed):
        self._deployment = deployment
        self._random = random.Random(seed)
        self._channels = {}
        self.metadata = (("authorization", f"Bearer {deployment.secret}"),)

    async def choose(self):
        """A channel to a random arena; waits until one is up."""
        while not (addresses := self._deployment.addresses()):  # noqa: ASYNC110 - nothing notifies
            await asyncio.sleep(POLL_SECONDS)
        address = self._random.choice(addresses)
        if address not in self._channels:
            self._channels[address] = grpc.aio.insecure_channel(address, proxy_options(address))
        return self._channels[address]

    async def close(self):
        for channel in self._channels.values():
            await channel.close()


class ChaosClient:
    """A bot with seats in any number of games."""

    def __init__(self, deployment, bot, history, seed):
        self.bot = bot
        self.channels = Channels(deployment, f"{bot} {seed}")
        self.history = history
        self.random = random.Random(f"{bot} {seed} too")
        self.games = {}  # game id: seat, while the game is not over
        self.seats = {}  # game id: seat, also afterwards
        self.acknowledged = set()  # (game id, decision)
        self.chosen = {}  # (game id, decision): actions, the same at every retry
        self.events = defaultdict(int)  # game id: how many events are known
        self.resign_after = {}  # game id: after how many answers
        self.resigned = set()

    # --- calls ----------------------------------------------------------------------------------

    async def call(self, method, request, *, expected=lambda _reason: False):
        """Call a method until it is answered; None after an error that a retry does not help."""
        while True:
            stub = game_service_pb2_grpc.GameServiceStub(await self.channels.choose())
            try:
                return await getattr(stub, method)(
                    request, metadata=self.channels.metadata, timeout=CALL_SECONDS
                )
            except grpc.RpcError as error:
                self.history.counts["calls repeated"] += 1
                if expected(reason_of(error)):
                    return None
                if error.code() not in _RETRYABLE_CODES:
                    text = f"{method}: {error.code()} {error.details()}"
                    self.history.unexpected.append((getattr(request, "game_id", ""), text))
                    return None
                await self._pause()

    async def join(self, game_id, seat):
        request = games.JoinGameRequest(
            request_id=f"{game_id} {seat}", game_id=game_id, seat=seat, bot=self.bot
        )
        joined = await self.call("JoinGame", request)
        if joined is None:
            return
        self.history.seats[game_id, joined.seat] = self.bot
        self.games[game_id] = self.seats[game_id] = seat

    async def submit(self, game_id, decision, actions):
        """Answer by a unary call; its receipt counts like that of a stream."""
        request = games.SubmitActionsRequest(game_id=game_id, decision_id=decision, actions=actions)

        def expected(reason):
            known, resigned = self._is_acknowledged(game_id, decision), game_id in self.resigned
            # After a resignation another seat of the same owner may have the decision.
            return (
                reason in _TOO_LATE
                or (reason == "ALREADY_DECIDED" and known)
                or (reason == "STALE_DECISION" and resigned)
            )

        response = await self.call("SubmitActions", request, expected=expected)
        if response is None:
            self.chosen.pop((game_id, decision), None)  # the same actions would be refused again
        else:
            self.accept(response.accepted)

    async def resign(self, game_id, seat):
        request = games.ResignRequest(game_id=game_id, seat=seat)
        if await self.call("Resign", request) is not None:
            self.history.resigned.add((game_id, seat))

    async def _pause(self):
        await asyncio.sleep(self.random.uniform(0.02, 0.2))

    # --- what streams and unary calls share -----------------------------------------------------

    def accept(self, accepted):
        self.acknowledged.add((accepted.game_id, accepted.decision_id))
        self.history.add_accepted(self.seats[accepted.game_id], accepted)

    def _is_acknowledged(self, game_id, decision):
        """Whether an answer to the decision was acknowledged: any other must be refused."""
        return (game_id, decision) in self.acknowledged

    def choose(self, decision):
        """The actions for a decision: the same at every retry until they are acknowledged.

        If the decision comes again after that, by a late message or from an arena that has lost
        the answer, other actions are sent, which must not be played.
        """
        key = decision.game_id, decision.decision_id
        if key not in self.chosen or key in self.acknowledged:
            actions = [self.random.choice(decision.legal_actions)]
            if self.random.random() < 0.2:
                actions.append(self.random.randrange(100))
            self.chosen[key] = actions
            self.history.sent[key].add(tuple(actions))
        return self.chosen[key]

    def end(self, over):
        self.history.results[over.game_id].append(over.result)
        self.games.pop(over.game_id, None)

    async def _resign_if_due(self, game_id):
        if game_id in self.resign_after:
            self.resign_after[game_id] -= 1
            if self.resign_after[game_id] < 0:
                del self.resign_after[game_id]
                self.resigned.add(game_id)
                await self.resign(game_id, self.games[game_id])


class UnaryClient(ChaosClient):
    """Plays by unary calls alone."""

    async def play(self):
        await asyncio.gather(
            *(self._play_game(game_id, seat) for game_id, seat in self.games.items())
        )

    async def _play_game(self, game_id, seat):
        while game_id in self.games:
            request = games.GetDecisionRequest(game_id=game_id, seat=seat, wait=Duration(seconds=5))
            found = await self.call("GetDecision", request)
            if found is None:
                del self.games[game_id]  # the error is recorded; the other games go on
            elif found.HasField("game_over"):
                self.end(found.game_over)
            elif found.HasField("decision"):
                decision = found.decision
                if self._is_acknowledged(game_id, decision.decision_id):
                    self.history.unexpected.append((game_id, "an answered decision came again"))
                await self.history.wait_for_disruption()
                await self._resign_if_due(game_id)
                await self.submit(game_id, decision.decision_id, self.choose(decision))


class StreamClient(ChaosClient):
    """Plays by one stream, opened again whenever it breaks."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._submitting = set()

    async def play(self):
        while self.games:
            with suppress(grpc.RpcError, asyncio.InvalidStateError):
                await self._read_stream()
            self.history.counts["streams"] += 1
            await self._pause()
        await asyncio.gather(*self._submitting)

    async def _read_stream(self):
        stub = play_service_pb2_grpc.PlayServiceStub(await self.channels.choose())
        call = stub.Play(metadata=self.channels.metadata)
        hello = play.Hello(client="chaos/1", protocol_version=1, bot=self.bot)
        for game_id in self.games:
            hello.resume.add(game_id=game_id, event_count=self.events[game_id])
        try:
            await call.write(request_of(hello=hello))
            while self.games and (batch := await call.read()) is not grpc.aio.EOF:
                for message in batch.messages:
                    await self._handle(call, message)
        finally:
            call.cancel()

    async def _handle(self, call, message):
        body = message.WhichOneof("body")
        if body == "decision":
            await self._answer(call, message.decision)
        elif body == "accepted":
            self.accept(message.accepted)
        elif body == "rejected":
            await self._on_rejected(call, message.rejected)
        elif body == "game_over":
            self.end(message.game_over)

    async def _answer(self, call, decision):
        game_id = decision.game_id
        self.events[game_id] = decision.first_event + len(decision.events)
        if game_id not in self.games:
            return
        await self.history.wait_for_disruption()
        await self._resign_if_due(game_id)
        actions = self.choose(decision)
        number = decision.decision_id
        act = request_of(act=play.Act(game_id=game_id, decision_id=number, actions=actions))
        await call.write(act)
        chance = self.random.random()
        if chance < 0.1:
            await call.write(act)  # a duplicate on the same stream
        elif chance < 0.3:  # a duplicate by a unary call, perhaps to another arena
            task = asyncio.create_task(self.submit(game_id, number, actions))
            self._submitting.add(task)
            task.add_done_callback(self._submitting.discard)
        elif chance < 0.35:
            raise asyncio.InvalidStateError("the client drops its connection")

    async def _on_rejected(self, call, rejected):
        name = ErrorReason.Name(rejected.reason).removeprefix("ERROR_REASON_")
        key = rejected.game_id, rejected.decision_id
        actions = self.chosen.get(key)
        if name in _RETRYABLE_REASONS and actions is not None:
            await self._pause()
            game_id, number = key
            act = play.Act(game_id=game_id, decision_id=number, actions=actions)
            await call.write(request_of(act=act))
        elif name == "ALREADY_DECIDED" and self._is_acknowledged(*key):
            self.history.counts["other answers refused"] += 1
        elif name not in (*_RETRYABLE_REASONS, *_TOO_LATE):
            text = f"{self.bot}: {name} {rejected.message}"
            self.history.unexpected.append((rejected.game_id, text))
            self.chosen.pop(key, None)  # the same actions would be refused for ever
            if name == "UNKNOWN_GAME":
                self.games.pop(rejected.game_id, None)
            raise asyncio.InvalidStateError("the next stream brings the open decisions again")


def request_of(**body):
    """One message of the client, in a batch of its own."""
    return play.PlayRequest(messages=[play.ClientMessage(**body)])
