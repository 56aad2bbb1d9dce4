"""Processes without a server that share one Redis, each with its own connection."""

from collections import Counter

from himeji.rules.game import stand_in
from himeji.v1.game_pb2 import SeatPlan
from himeji.wire.clock import CASUAL
from himeji_server.games.commands import GameCommands, NewGame
from himeji_server.games.commits import Commits
from himeji_server.games.live_games import LiveGames
from himeji_server.games.notifications import Notifications
from himeji_server.games.submission import Submissions
from himeji_server.games.subscribers import Subscribers
from himeji_server.games.timers import Timers
from himeji_server.store.game_commit import CommitWriter
from himeji_server.store.game_records import PLAYING, SeatRequest
from himeji_server.store.game_store import GameStore
from himeji_server.store.presence import Presence
from himeji_server.store.quotas import QuotaStore

BOTS = ("ada/a", "bob/b", "eve/c", "dan/d")


class CountingSubscribers(Subscribers):
    """Counts the changes that come to be published, whether anybody is subscribed or not."""

    def __init__(self):
        super().__init__()
        self.counts = Counter()
        self._last = {}

    def publish(self, view):
        self.counts[view.game_id] += self._last.get(view.game_id) != view.fingerprint()
        self._last[view.game_id] = view.fingerprint()
        super().publish(view)


class GameProcess:
    """What a process has for its games, with a connection of its own."""

    def __init__(self, store, clock=None):
        self.store = store
        self.games = GameStore(store)
        self.presence = Presence(store)
        self.writer = CommitWriter(store, self.games.process)
        self.subscribers = CountingSubscribers()
        self.live_games = LiveGames(
            self.games, self.presence, QuotaStore(store), self.subscribers, clock
        )
        self.notifications = Notifications(self.live_games, self.presence)
        self.commits = Commits(self.live_games, self.writer, self.presence)
        self.commands = GameCommands(self.commits)
        self.submissions = Submissions(self.commits)
        self.timers = Timers(self.commits)

    async def answer(self, game_id, bot, decision, actions):
        """Answer a decision; the receipt."""
        _, receipt = await self.submissions.submit_and_wait(game_id, bot, decision, actions)
        return receipt


def new_game(seats=2, clock=CASUAL, strikes=3):
    return NewGame("base", {}, (SeatPlan(),) * seats, clock, strikes)


def seat_request(seat, request_id=""):
    return SeatRequest(BOTS[seat], 1, b"", request_id)


async def begun(process, seats=2, **wish):
    """A game that has begun."""
    game_id = (await process.commands.create(new_game(seats, **wish))).game_id
    for seat in range(seats):
        view, _ = await process.commands.join(game_id, range(seats), seat_request(seat))
    assert view.stored.state == PLAYING
    return game_id


async def act(process, game_id, choose):
    """Answer the open decision with what `choose` makes of the game; the receipt."""
    view = await process.live_games.view(game_id)
    stored = view.stored
    bot = stored.seats[stored.seat].bot
    return await process.answer(game_id, bot, stored.decision, choose(view.copy()))


def lowest(engine):
    return [stand_in(engine)]


async def raw(process, *command):
    return await process.store.call(*command)
