"""The rating systems that are compared: the ladder's own, its variants, and two references."""

import math

import trueskill
from himeji_server.ladder.rating import BETA, MEAN, TAU, UNCERTAINTY, Rating, updated
from openskill.models import PlackettLuce


class Himeji:
    """The ladder's own rating code."""

    def __init__(self):
        self.ratings = {}

    def rating(self, name):
        return self.ratings.get(name, Rating())

    def rate(self, players, ranks):
        after = updated([self.rating(name) for name in players], ranks)
        self.ratings.update(zip(players, after, strict=True))


class Variant(Himeji):
    """The ladder's model with other parameters."""

    def __init__(self, *, gamma=None, tau=TAU):
        super().__init__()
        factor = {} if gamma is None else {"gamma": lambda *_, **__: gamma}
        self._model = PlackettLuce(mu=MEAN, sigma=UNCERTAINTY, beta=BETA, tau=tau, **factor)

    def rate(self, players, ranks):
        before = [self.rating(name) for name in players]
        teams = [[self._model.rating(mu=each.mean, sigma=each.uncertainty)] for each in before]
        after = self._model.rate(teams, ranks=[*map(float, ranks)])
        for name, (new,) in zip(players, after, strict=True):
            self.ratings[name] = Rating(new.mu, new.sigma)


class TrueSkill(Himeji):
    """TrueSkill, as the package of that name computes it."""

    def __init__(self):
        super().__init__()
        self._model = trueskill.TrueSkill(MEAN, UNCERTAINTY, BETA, TAU, draw_probability=0.0)

    def rate(self, players, ranks):
        before = [self.rating(name) for name in players]
        teams = [(self._model.create_rating(each.mean, each.uncertainty),) for each in before]
        after = self._model.rate(teams, ranks=ranks)
        for name, (new,) in zip(players, after, strict=True):
            self.ratings[name] = Rating(new.mu, new.sigma)


class Elo(Himeji):
    """Plain Elo with K = 32, every pair of players taken as a game of its own; no uncertainty."""

    K = 32.0
    SCALE = 400.0

    def rating(self, name):
        return self.ratings.get(name, Rating(1500.0, 0.0))

    def rate(self, players, ranks):
        before = [self.rating(name).mean for name in players]
        for own, name in enumerate(players):
            change = 0.0
            for other in range(len(players)):
                if other != own:
                    expected = 1 / (1 + 10 ** ((before[other] - before[own]) / self.SCALE))
                    won = 0.5 + math.copysign(0.5, ranks[other] - ranks[own])
                    change += (0.5 if ranks[other] == ranks[own] else won) - expected
            share = self.K / (len(players) - 1)
            self.ratings[name] = Rating(before[own] + share * change, 0.0)


SYSTEMS = {"Himeji": Himeji, "Elo": Elo, "TrueSkill": TrueSkill}
VARIANTS = {
    "gamma as in openskill": Variant,
    "gamma = 1, no tau": lambda: Variant(gamma=1.0, tau=1e-9),
    "gamma = 1, tau = mean/100": lambda: Variant(gamma=1.0, tau=MEAN / 100),
}
