"""A ladder in simulated time: bots of known strength, paired by the server's matchmaking."""

import heapq
import itertools
import random
from collections import Counter, deque
from dataclasses import dataclass, field

from himeji_server.ladder.queue_pairing import (
    RECENT_GAMES,
    Candidate,
    Meetings,
    Policy,
    pair_key,
    pairings,
)
from himeji_server.ladder.rating import BETA, MEAN

TICK = 0.5
"""Simulated seconds between two rounds of pairing."""

FAST, SLOW = 2.0, 30.0
"""Seconds of a game of fast bots, and of a game with a slow one."""


@dataclass
class SimulatedBot:
    """A bot whose strength is known to the simulation alone."""

    name: str
    strength: float
    slow: bool
    since: float = 0.0
    free: int = 1
    games: int = 0
    seats: list[int] = field(default_factory=lambda: [0] * 4)
    recent: deque = field(default_factory=lambda: deque(maxlen=RECENT_GAMES))


class LadderSimulation:
    """One ladder. `play` yields each game as names and ranks, in the order in which they end."""

    def __init__(self, seed, *, seats, bots=24, spread=1.5, policy=None, slow_share=0.33):
        """`spread` is the deviation of true strength, in units of a single game's luck (BETA)."""
        self.chance = random.Random(f"field {seed}")
        self.seats = seats
        self.policy = policy or Policy()
        self.bots = {}
        for number in range(bots):
            strength = self.chance.gauss(MEAN, spread * BETA)
            slow = number < bots * slow_share
            self._add(f"o{number}/bot", strength, slow=slow)
        for number, strength in enumerate((-1.5, 0.0, 1.5)):
            self._add(f"house/{number}", MEAN + strength * spread * BETA, slow=False, free=8)
        self.met = Counter()
        self.now = 0.0

    def _add(self, name, strength, *, slow, free=1):
        self.bots[name] = SimulatedBot(name, strength, slow, free=free)

    @property
    def entrants(self):
        """The bots of the ladder that are not house bots."""
        return [each for each in self.bots.values() if not each.name.startswith("house/")]

    def play(self, ratings):
        """Yield games for ever; `ratings` returns a bot's Rating as the matchmaker sees it."""
        running, numbers = [], itertools.count()
        while True:
            while running and running[0][0] <= self.now:
                _, _, players = heapq.heappop(running)
                yield players, self._ranks(players)
                self._end(players)
            candidates = self._candidates(ratings)
            for players in pairings(candidates, self.seats, self._meetings(), self.policy):
                self._begin(players)
                slow = any(self.bots[name].slow for name in players)
                length = self.chance.uniform(0.5, 1.5) * (SLOW if slow else FAST)
                heapq.heappush(running, (self.now + length, next(numbers), players))
            self.now += TICK

    def _candidates(self, ratings):
        return [
            Candidate(
                bot=bot.name,
                rating=ratings(bot.name),
                games=bot.games,
                waited=self.now - bot.since,
                free=bot.free,
                seats=tuple(bot.seats),
                seed=f"{bot.name} {bot.games} {bot.since}",
            )
            for bot in self.bots.values()
            if bot.free
        ]

    def _meetings(self):
        recent = {bot.name: tuple(bot.recent) for bot in self.bots.values()}
        return Meetings(self.met, recent, len(self.bots))

    def _begin(self, players):
        for seat, name in enumerate(players):
            bot = self.bots[name]
            bot.free -= 1
            bot.since = self.now
            bot.seats[seat] += 1
        for one, other in itertools.combinations(players, 2):
            self.met[pair_key(one, other)] += 1

    def _ranks(self, players):
        form = [self.bots[name].strength + self.chance.gauss(0, BETA) for name in players]
        return [1 + sum(other > own for other in form) for own in form]

    def _end(self, players):
        for name in players:
            bot = self.bots[name]
            bot.free += 1
            bot.games += 1
            bot.since = self.now
            bot.recent.append([other for other in players if other != name])
