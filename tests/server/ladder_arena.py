"""An arena with several owners, for tests of the ladder over real sockets."""

from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from himeji.v1 import (
    account_service_pb2 as accounts,
    admin_service_pb2 as admin,
    admin_service_pb2_grpc,
    ladder_service_pb2 as ladders,
    ladder_service_pb2_grpc,
    play_service_pb2 as play,
)
from himeji_server.launch import serve
from himeji_server.settings import Settings

from tests.server.arena_client import PATIENCE, ArenaClient, Bot, Stream, wait_for_no_streams


class OwnerClient(ArenaClient):
    """A client with the token of an owner."""

    def __init__(self, address, secret, owner):
        super().__init__(address, secret)
        self.owner = owner
        self.opened = []
        self.ladders = ladder_service_pb2_grpc.LadderServiceStub(self.channel)
        self.administration = admin_service_pb2_grpc.AdminServiceStub(self.channel)

    async def ladder(self, method, **fields):
        """Call a method of LadderService."""
        request = getattr(ladders, f"{method}Request")(**fields)
        return await getattr(self.ladders, method)(
            request, metadata=self.metadata, timeout=PATIENCE
        )

    async def administer(self, method, **fields):
        """Call a method of AdminService."""
        request = getattr(admin, f"{method}Request")(**fields)
        return await getattr(self.administration, method)(
            request, metadata=self.metadata, timeout=PATIENCE
        )

    async def stream(self, name="bot", **more):
        stream = Stream(self, f"{self.owner}/{name}", **more)
        stream.welcome = await stream.open()
        self.opened.append(stream)
        return stream


class LadderArena:
    """Arenas on one Redis, with owners and their clients."""

    def __init__(self, stack, redis_url, folder, **settings):
        self._stack = stack
        self._folder = Path(folder)
        self._settings = {"redis": redis_url, **settings}
        self.addresses = []
        self._secrets = {}
        self._clients = []

    async def open(self):
        admin = self._folder / "admin"
        settings = Settings(port=0, data=self._folder, admin_token_file=admin, **self._settings)
        opened = await self._stack.enter_async_context(serve.open_arena(settings))
        self.addresses.append(f"127.0.0.1:{opened.port}")
        return self

    async def _client(self, owner, arena):
        secret = self._secrets[owner]
        client = OwnerClient(self.addresses[arena], secret, owner)
        self._clients.append(client)
        return client

    async def close_clients(self):
        """Close all streams: an arena must not stop before they have ended."""
        for client in self._clients:
            for stream in client.opened:
                await stream.cut()
            await client.channel.close()
        await wait_for_no_streams(self._settings["redis"])

    async def admin(self, arena=0):
        self._secrets["admin"] = (self._folder / "admin").read_text().strip()
        return await self._client("admin", arena)

    async def owner(self, owner, *bots, arena=0):
        """A client of an owner, who is created with these bots if missing."""
        if owner not in self._secrets:
            secret = (self._folder / "admin").read_text().strip()
            admin = OwnerClient(self.addresses[0], secret, "admin")
            request = accounts.CreateOwnerRequest(owner=owner)
            made = await admin.accounts.CreateOwner(
                request, metadata=admin.metadata, timeout=PATIENCE
            )
            await admin.channel.close()
            self._secrets[owner] = made.secret
            client = await self._client(owner, arena)
            for bot in bots or ("bot",):
                request = accounts.CreateBotRequest(bot=f"{owner}/{bot}")
                await client.accounts.CreateBot(request, metadata=client.metadata)
            return client
        return await self._client(owner, arena)


@asynccontextmanager
async def ladder_arena(redis_url, folder, **settings):
    async with AsyncExitStack() as stack:
        opened = await LadderArena(stack, redis_url, folder, **settings).open()
        yield opened
        await opened.close_clients()


class LadderBot(Bot):
    """A bot that accepts its seatings and plays until so many games are over."""

    async def take(self, message):
        if message.WhichOneof("body") == "seated" and message.seated.HasField("ready_deadline"):
            self.seated(message.seated.game)
            ready = play.Ready(game_id=message.seated.game.game_id, entropy=b"luck")
            await self.stream.send("ready", ready=ready)
        else:
            await super().take(message)


async def enter(stream, ladder="base-2p", **more):
    await stream.send("enter", enter=play.Enter(ladder=ladder, **more))
    return await stream.answer("enter")
