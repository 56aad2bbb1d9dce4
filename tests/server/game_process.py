"""Hosts that share one Redis as processes do, each with its own connection, and their games."""

from collections import Counter

from himeji.rules.stand_in import stand_in
from himeji.v1.game_pb2 import SeatPlan
from himeji_server.games.commands import GameCommands, NewGame
from himeji_server.games.live_games import LiveGames
from himeji_server.games.notifications import Notifications
from himeji_server.games.timers import Timers
from himeji_server.store.game_records import PLAYING, SeatRequest
from himeji_server.store.game_store import GameStore
from himeji_server.store.presence import Presence

CLOCK = (600_000, 1_000)
BOTS = ("ada/a", "bob/b", "eve/c", "dan/d")


class GameProcess:
    """A host with a connection of its own, as a process has."""

    def __init__(self, store):
        self.store = store
        self.games = GameStore(store)
        self.presence = Presence(store)
        self.rung = Counter()
        self.live_games = LiveGames(self.games, self.presence, self._ring)
        self.notifications = Notifications(self.games, self.presence)
        self.notifications.live_games = self.live_games
        self.commands = GameCommands(self.live_games)
        self.timers = Timers(self.live_games)

    def _ring(self, table):
        self.rung[table.game_id] += 1
        self.notifications.ring(table)


def wished(seats=2, clock=CLOCK, strikes=3):
    return NewGame("base", {}, (SeatPlan(),) * seats, clock, strikes)


def sitter(seat, request_id=""):
    return SeatRequest(BOTS[seat], 1, b"", request_id)


async def begun(process, seats=2, **wish):
    """A game that has begun."""
    game_id = (await process.commands.create(wished(seats, **wish))).game_id
    for seat in range(seats):
        table, _ = await process.commands.join(game_id, range(seats), sitter(seat))
    assert table.stored.state == PLAYING
    return game_id


async def act(process, game_id, choose, **more):
    """Answer the open decision with what `choose` makes of the game; the receipt."""
    table = await process.live_games.game(game_id)
    stored = table.stored
    actions = choose(table.engine)
    bot = stored.seats[stored.seat].bot
    return await process.commands.act(game_id, bot, stored.decision, actions, **more)


def lowest(play):
    return [stand_in(play)]


async def raw(process, *command):
    return await process.store.call(*command)
