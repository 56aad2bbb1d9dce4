"""Bots that play on whatever happens: by streams and by calls, repeating what was not answered."""

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

from tests.server.arena_client import reason_of

# What a kill may cause; everything else that is refused is a surprise.
_PASSING = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.CANCELLED,
)
_AGAIN = ("UNAVAILABLE", "STORE_UNAVAILABLE", "DRAINING", "RATE_LIMITED")
_TOO_LATE = ("SEAT_LOST", "GAME_ENDED")  # a resignation of one's own was faster
CALL_SECONDS = 20.0


class Doors:
    """Channels to the arenas that are there now."""

    def __init__(self, field, seed):
        self._field = field
        self._random = random.Random(seed)
        self._channels = {}
        self.metadata = (("authorization", f"Bearer {field.secret}"),)

    async def channel(self):
        """A channel to any arena that is there."""
        while not (addresses := self._field.addresses()):  # noqa: ASYNC110 - no bell for it
            await asyncio.sleep(0.05)
        address = self._random.choice(addresses)
        if address not in self._channels:
            self._channels[address] = grpc.aio.insecure_channel(address, proxy_options(address))
        return self._channels[address]

    async def close(self):
        for channel in self._channels.values():
            await channel.close()


class Fighter:
    """A bot with its seats in any number of games."""

    def __init__(self, field, bot, ledger, seed):
        self.bot = bot
        self.doors = Doors(field, f"{bot} {seed}")
        self.ledger = ledger
        self.random = random.Random(f"{bot} {seed} too")
        self.games = {}  # game id: seat, while it is not over
        self.seats = {}  # the same for ever
        self.acknowledged = set()  # (game id, decision)
        self.plans = {}  # (game id, decision): what is answered, the same whenever it is asked
        self.events = defaultdict(int)  # game id: how many events are known
        self.giving_up = {}  # game id: after how many answers
        self.given_up = set()

    # --- calls ----------------------------------------------------------------------------------

    async def call(self, method, request, *, expected=lambda _reason: False):
        """Call a method until it is answered; None for an error that trying again will not mend."""
        while True:
            stub = game_service_pb2_grpc.GameServiceStub(await self.doors.channel())
            try:
                return await getattr(stub, method)(
                    request, metadata=self.doors.metadata, timeout=CALL_SECONDS
                )
            except grpc.RpcError as error:
                self.ledger.counts["calls repeated"] += 1
                if expected(reason_of(error)):
                    return None
                if error.code() not in _PASSING:
                    words = f"{method}: {error.code()} {error.details()}"
                    self.ledger.surprises.append((getattr(request, "game_id", ""), words))
                    return None
                await asyncio.sleep(self.random.uniform(0.02, 0.2))

    async def sit(self, game_id, seat):
        """Take a seat and remember it."""
        request = games.JoinGameRequest(
            request_id=f"{game_id} {seat}", game_id=game_id, seat=seat, bot=self.bot
        )
        joined = await self.call("JoinGame", request)
        if joined is None:
            return
        self.ledger.seats[game_id, joined.seat] = self.bot
        self.games[game_id] = self.seats[game_id] = seat

    async def submit(self, game_id, decision, plan):
        """Answer by a call; a receipt is a receipt, by whichever door."""
        request = games.SubmitActionsRequest(
            game_id=game_id, decision_id=decision, actions=plan, event_count=10**9
        )

        def expected(reason):
            known, given_up = self._knows(game_id, decision), game_id in self.given_up
            # After a resignation another seat of the same owner may be asked.
            return (
                reason in _TOO_LATE
                or (reason == "ALREADY_DECIDED" and known)
                or (reason == "STALE_DECISION" and given_up)
            )

        answer = await self.call("SubmitActions", request, expected=expected)
        if answer is None:
            self.plans.pop((game_id, decision), None)  # the same again would be refused again
        else:
            self.accept(answer.accepted)

    async def resign(self, game_id, seat):
        request = games.ResignRequest(game_id=game_id, seat=seat)
        if await self.call("Resign", request) is not None:
            self.ledger.resigned.add((game_id, seat))

    # --- what both doors share ------------------------------------------------------------------

    def accept(self, accepted):
        self.acknowledged.add((accepted.game_id, accepted.decision_id))
        self.ledger.accept(self.seats[accepted.game_id], accepted)

    def _knows(self, game_id, decision):
        """Whether an answer to the decision was acknowledged: another one must be refused."""
        return (game_id, decision) in self.acknowledged

    def plan(self, decision):
        """What is answered to a decision: the same whenever it is asked, until it is acknowledged.

        Whoever is asked again after that (by a message that is late, or by an arena that has
        forgotten) tries something else, which must not be played.
        """
        key = decision.game_id, decision.decision_id
        if key not in self.plans or key in self.acknowledged:
            plan = [self.random.choice(decision.legal_actions)]
            if self.random.random() < 0.2:
                plan.append(self.random.randrange(100))
            self.plans[key] = plan
            self.ledger.sent[key].add(tuple(plan))
        return self.plans[key]

    def end(self, over):
        self.ledger.overs[over.game_id].append(over.result)
        self.games.pop(over.game_id, None)

    async def _give_up_in_time(self, game_id):
        """Resign where this was decided before, once."""
        if game_id in self.giving_up:
            self.giving_up[game_id] -= 1
            if self.giving_up[game_id] < 0:
                del self.giving_up[game_id]
                self.given_up.add(game_id)
                await self.resign(game_id, self.games[game_id])


class Caller(Fighter):
    """Plays by calls alone."""

    async def fight(self):
        await asyncio.gather(*(self._play(game_id, seat) for game_id, seat in self.games.items()))

    async def _play(self, game_id, seat):
        while game_id in self.games:
            request = games.GetDecisionRequest(
                game_id=game_id, seat=seat, wait=Duration(seconds=5), event_count=10**9
            )
            found = await self.call("GetDecision", request)
            if found is None:
                del self.games[game_id]  # it is written down; the others shall go on
            elif found.HasField("game_over"):
                self.end(found.game_over)
            elif found.HasField("decision"):
                if self._knows(game_id, found.decision.decision_id):
                    self.ledger.surprises.append((game_id, "asked again what was acknowledged"))
                await self.ledger.in_step()
                await self._give_up_in_time(game_id)
                plan = self.plan(found.decision)
                await self.submit(game_id, found.decision.decision_id, plan)


class Streamer(Fighter):
    """Plays by one stream, opened again as often as it breaks."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._aside = set()

    async def fight(self):
        while self.games:
            with suppress(grpc.RpcError, asyncio.InvalidStateError):
                await self._stream()
            self.ledger.counts["streams"] += 1
            await asyncio.sleep(self.random.uniform(0.02, 0.2))
        await asyncio.gather(*self._aside)

    async def _stream(self):
        stub = play_service_pb2_grpc.PlayServiceStub(await self.doors.channel())
        call = stub.Play(metadata=self.doors.metadata)
        hello = play.Hello(client="chaos/1", protocol_version=1, bot=self.bot)
        for game_id in self.games:
            hello.resume.add(game_id=game_id, event_count=self.events[game_id])
        try:
            await call.write(play.PlayRequest(hello=hello))
            while self.games and (message := await call.read()) is not grpc.aio.EOF:
                await self._take(call, message)
        finally:
            call.cancel()

    async def _take(self, call, message):
        body = message.WhichOneof("body")
        if body == "decision":
            await self._decide(call, message.decision)
        elif body == "accepted":
            self.accept(message.accepted)
        elif body == "rejected":
            await self._refused(call, message.rejected)
        elif body == "game_over":
            self.end(message.game_over)

    async def _decide(self, call, decision):
        game_id = decision.game_id
        self.events[game_id] = decision.first_event + len(decision.events)
        if game_id not in self.games:
            return
        await self.ledger.in_step()
        await self._give_up_in_time(game_id)
        plan = self.plan(decision)
        number = decision.decision_id
        act = play.PlayRequest(act=play.Act(game_id=game_id, decision_id=number, actions=plan))
        await call.write(act)
        chance = self.random.random()
        if chance < 0.1:
            await call.write(act)  # twice by the same door
        elif chance < 0.3:  # and at once by another, perhaps to another arena
            task = asyncio.create_task(self.submit(game_id, number, plan))
            self._aside.add(task)
            task.add_done_callback(self._aside.discard)
        elif chance < 0.35:
            raise asyncio.InvalidStateError("a cable is pulled")

    async def _refused(self, call, rejected):
        name = ErrorReason.Name(rejected.reason).removeprefix("ERROR_REASON_")
        plan = self.plans.get((rejected.game_id, rejected.decision_id))
        if name in _AGAIN and plan is not None:
            await asyncio.sleep(self.random.uniform(0.02, 0.2))
            number = rejected.decision_id
            act = play.Act(game_id=rejected.game_id, decision_id=number, actions=plan)
            await call.write(play.PlayRequest(act=act))
        elif name == "ALREADY_DECIDED" and self._knows(rejected.game_id, rejected.decision_id):
            self.ledger.counts["other answers refused"] += 1
        elif name not in (*_AGAIN, *_TOO_LATE):
            words = f"{self.bot}: {name} {rejected.message}"
            self.ledger.surprises.append((rejected.game_id, words))
            self.plans.pop((rejected.game_id, rejected.decision_id), None)  # it would never end
            if name == "UNKNOWN_GAME":
                self.games.pop(rejected.game_id, None)
            raise asyncio.InvalidStateError("what is open is asked again on the next stream")
