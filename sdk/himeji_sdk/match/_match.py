"""Matches: their groups of games, the deal of each, and how a group is played and scored."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from himeji import rules
from himeji.rules.errors import InvalidRequest

from himeji_sdk._bot_fault import BotFault
from himeji_sdk._bot_loader import find_bot, load_bot
from himeji_sdk._local_play import play


@dataclass(frozen=True)
class Fault:
    """A bot's mistake that ended a game."""

    seat: int
    sentence: str
    report: str
    """Everything about it: the bot's traceback, what was asked, what was legal, a drawing."""

    position: str
    """The position as JSON, for `himeji.rules.from_json`; empty outside of a decision."""


@dataclass(frozen=True)
class GameResult:
    """How one game ended."""

    lineup: tuple[int, ...]
    """Which bot of the match sat in each seat."""

    scores: tuple[int, ...] = ()
    """Points per seat (and those of a rival, last); empty after a fault."""

    ranks: tuple[int, ...] = ()
    fault: Fault | None = None

    def beats(self, seat: int, other: int) -> float:
        """1 if a seat (or rival) came before the other, 0 if after it, 0.5 if neither."""
        if self.fault is not None:
            return 0.5 + 0.5 * ((other == self.fault.seat) - (seat == self.fault.seat))
        return 0.5 + 0.5 * _sign(self.ranks[other] - self.ranks[seat])

    @property
    def margin(self) -> float:
        """Alone at the table: the points, less those of the rival."""
        if self.fault is not None:
            return float("-inf")
        return float(self.scores[0] - sum(self.scores[1:]))


@dataclass(frozen=True)
class Group:
    """One deal, played once from every seat."""

    number: int
    seed: int
    games: tuple[GameResult, ...]


@dataclass(frozen=True)
class Match:
    """Bots that meet over the same deals. With more seats than bots the last bot takes the rest.

    At a table of one seat every bot plays the deal alone, and who does better is ahead.
    """

    bots: tuple[str, ...]
    """Their names, as `himeji bots` lists them, or their files."""

    ruleset: str = "base"
    seats: int = 2
    options: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0

    def check(self) -> None:
        """Raises InvalidRequest (or another refusal) if this cannot be played."""
        known = rules.ruleset(self.ruleset)
        known.check_seats(self.seats)
        known.check_options(self.options)
        if len(self.bots) > self.seats > 1:
            raise InvalidRequest(f"{len(self.bots)} bots do not fit on {self.seats} seats")
        if len(self.bots) == 1 and not (self.seats == 1 and known.has_rival):
            raise InvalidRequest("a match needs two bots at least, or a rival")
        for bot in self.bots:
            load_bot(bot)

    @property
    def lineups(self) -> list[tuple[int, ...]]:
        """The games of a group: which bot sits in each seat."""
        if self.seats == 1:
            return [(bot,) for bot in range(len(self.bots))]
        first = [min(seat, len(self.bots) - 1) for seat in range(self.seats)]
        return [tuple(first[-shift:] + first[:-shift]) for shift in range(self.seats)]

    def deal(self, number: int) -> int:
        """The seed of a group, which all its games share."""
        return _derived_seed(f"{self.seed}/{number}")

    def bot_seed(self, number: int, game: int, seat: int) -> int:
        """A seed of its own for every bot in every game, for bots that take one."""
        return _derived_seed(f"{self.seed}/{number}/{game}/{seat}")

    def group_scores(self, group: Group) -> list[float]:
        """Each bot's score in a group: the share of its opponents that it came before."""
        return [self._group_score(group, bot) for bot in range(len(self.bots))]

    def _group_score(self, group: Group, bot: int) -> float:
        duels = list(self._duels(group, bot))
        return sum(duels) / len(duels)

    def _duels(self, group: Group, bot: int) -> Iterator[float]:
        """How the bot did against each opponent: 1, 0.5 or 0."""
        for game in group.games:
            seats = [seat for seat, who in enumerate(game.lineup) if who == bot]
            others = [seat for seat, who in enumerate(game.lineup) if who != bot]
            if self.seats == 1:
                others = [1] if len(self.bots) == 1 else []
            for seat in seats:
                yield from (game.beats(seat, other) for other in others)
        if self.seats == 1:
            own = group.games[bot].margin
            for other, game in enumerate(group.games):
                if other != bot:
                    yield 0.5 + 0.5 * _sign(own - game.margin if own != game.margin else 0.0)


class MatchRunner:
    """Plays the groups of a match in this process; its bots are loaded once."""

    def __init__(self, match: Match) -> None:
        self._match = match
        self._bots = [find_bot(text) for text in match.bots]

    def play(self, number: int) -> Group:
        """Play the group of that number: its deal, once from every seat.

        A bot's mistake is a `Fault` of its game and raises nothing.
        """
        lineups = enumerate(self._match.lineups)
        games = tuple(self._game(number, game, lineup) for game, lineup in lineups)
        return Group(number, self._match.deal(number), games)

    def _game(self, number: int, game: int, lineup: tuple[int, ...]) -> GameResult:
        match = self._match
        bots = [
            self._bots[who].bot(seed=match.bot_seed(number, game, seat))
            for seat, who in enumerate(lineup)
        ]
        try:
            played = play(
                bots, ruleset=match.ruleset, seed=match.deal(number), options=match.options
            )
        except BotFault as fault:
            mistake = Fault(fault.seat, fault.sentence, str(fault), fault.position)
            return GameResult(lineup, fault=mistake)
        return GameResult(lineup, tuple(played.scores), tuple(played.ranking))


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _derived_seed(text: str) -> int:
    digest = hashlib.sha256(f"himeji/match/{text}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
