"""An arena with several owners, for tests of the ladder over real sockets."""

from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from himeji.v1 import (
    account_service_pb2 as accounts,
    ladder_service_pb2 as ladders,
    ladder_service_pb2_grpc,
    play_service_pb2 as play,
)
from himeji_server.launch import serve
from himeji_server.settings import Settings

from tests.server.arena_client import PATIENCE, Bot, Door, Stream, nobody_is_there


class Guest(Door):
    """An owner's way in."""

    def __init__(self, address, secret, owner):
        super().__init__(address, secret)
        self.owner = owner
        self.opened = []
        self.ladders = ladder_service_pb2_grpc.LadderServiceStub(self.channel)

    async def ladder(self, method, **fields):
        """Call a method of LadderService."""
        request = getattr(ladders, f"{method}Request")(**fields)
        return await getattr(self.ladders, method)(
            request, metadata=self.metadata, timeout=PATIENCE
        )

    async def stream(self, name="bot", **more):
        stream = Stream(self, f"{self.owner}/{name}", **more)
        stream.welcome = await stream.open()
        self.opened.append(stream)
        return stream


class Reception:
    """Arenas on one Redis, and whoever came to them."""

    def __init__(self, stack, redis_url, folder, **settings):
        self._stack = stack
        self._folder = Path(folder)
        self._settings = {"redis": redis_url, "registration": "open", **settings}
        self.addresses = []
        self._secrets = {}
        self._guests = []

    async def open(self):
        admin = self._folder / "admin"
        settings = Settings(port=0, data=self._folder, admin_token_file=admin, **self._settings)
        opened = await self._stack.enter_async_context(serve.open_arena(settings))
        self.addresses.append(f"127.0.0.1:{opened.port}")
        return self

    async def _door(self, owner, arena):
        secret = self._secrets[owner]
        guest = Guest(self.addresses[arena], secret, owner)
        self._guests.append(guest)
        return guest

    async def all_leave(self):
        """An arena that stops must have seen all its streams end."""
        for guest in self._guests:
            for stream in guest.opened:
                await stream.cut()
            await guest.channel.close()
        await nobody_is_there(self._settings["redis"])

    async def admin(self, arena=0):
        self._secrets["admin"] = (self._folder / "admin").read_text().strip()
        return await self._door("admin", arena)

    async def guest(self, owner, *bots, arena=0):
        """An owner with bots, who is made where missing."""
        if owner not in self._secrets:
            stranger = Guest(self.addresses[0], "", owner)
            request = accounts.CreateOwnerRequest(owner=owner)
            made = await stranger.accounts.CreateOwner(request, timeout=PATIENCE)
            await stranger.channel.close()
            self._secrets[owner] = made.secret
            guest = await self._door(owner, arena)
            for bot in bots or ("bot",):
                request = accounts.CreateBotRequest(bot=f"{owner}/{bot}")
                await guest.accounts.CreateBot(request, metadata=guest.metadata)
            return guest
        return await self._door(owner, arena)


@asynccontextmanager
async def reception(redis_url, folder, **settings):
    async with AsyncExitStack() as stack:
        opened = await Reception(stack, redis_url, folder, **settings).open()
        yield opened
        await opened.all_leave()


class Regular(Bot):
    """A bot that answers its seatings and plays on until so many games are over."""

    async def take(self, message):
        if message.WhichOneof("body") == "seated" and message.seated.HasField("ready_deadline"):
            self.seated(message.seated.game)
            ready = play.Ready(game_id=message.seated.game.game_id, entropy=b"luck")
            await self.stream.send("ready", ready=ready)
        else:
            await super().take(message)


async def enter(stream, ladder="base-2p", **more):
    await stream.send("enter", enter=play.Enter(ladder=ladder, **more))
    return (await stream.answer("enter")).notice
